"""Fabricmark: measures, models and predicts FPGA systems and the accelerators beside them."""

__version__ = "0.1.0"
