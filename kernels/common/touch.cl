// Reads and writes nothing, but a runtime has to believe that it has changed the memory: some skip copies of
// memory that no kernel has had (Contini, Abduljabbar, Subramoni and Panda, "OMB-FPGA: A Microbenchmark Suite
// for FPGA-aware MPIs using OpenCL and SYCL", 2024, section 3.1.2). For an FPGA it is built once for each
// kind of memory that it is to reach: docs/microbench.md.
__kernel void touch(__global unsigned char* bytes) {}
