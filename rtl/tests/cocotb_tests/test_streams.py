"""Streams through the FIFO between two clocks and the conversion of widths (cocotbext-axi)."""

import itertools
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

LONGEST = int(os.environ.get("FABRICMARK_LONGEST", "300"))


def pauses(seed: int) -> itertools.chain:
    draw = random.Random(seed)
    return itertools.cycle([draw.random() < 0.4 for _ in range(997)])


@cocotb.test()
async def passes(dut) -> None:
    """Frames of any number of bytes come out as they went in."""
    draw = random.Random(4)
    if hasattr(dut, "s_clk"):
        clocks = dut.s_clk, dut.m_clk
        cocotb.start_soon(Clock(dut.s_clk, 5000, "ps").start())
        cocotb.start_soon(Clock(dut.m_clk, 7300, "ps").start())
    else:
        clocks = dut.clk, dut.clk
        cocotb.start_soon(Clock(dut.clk, 5000, "ps").start())
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), clocks[0], dut.rst)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), clocks[1], dut.rst)
    source.set_pause_generator(pauses(5))
    sink.set_pause_generator(pauses(6))
    dut.rst.value = 1
    await ClockCycles(clocks[1], 4)
    dut.rst.value = 0
    await ClockCycles(clocks[0], 4)
    frames = [draw.randbytes(draw.randint(1, LONGEST)) for _ in range(60)]
    for frame in frames:
        await source.send(AxiStreamFrame(frame))
    for frame in frames:
        assert bytes((await with_timeout(sink.recv(), 100, "us")).tdata) == frame
