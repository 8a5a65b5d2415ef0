"""What a base kernel would become on an FPGA, estimated from its source before any synthesis."""
