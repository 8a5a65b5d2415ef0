"""An Ethernet port against models of MACs, frames and streams that others wrote (cocotbext-eth, scapy)."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.eth import EthMac, EthMacFrame
from scapy.layers.l2 import Ether

WIDTH = int(os.environ["FABRICMARK_WIDTH"])
ADDRESS, PEER = "02:00:00:00:00:01", "02:00:00:00:00:02"
TYPE = 0x88B5


def number(address: str) -> int:
    return int(address.replace(":", ""), 16)


def packet(draw: random.Random, length: int) -> list[int]:
    """A header flit of so many data flits, and these."""
    flits = [draw.getrandbits(WIDTH) for _ in range(length + 1)]
    flits[0] = flits[0] & ~(0xFFFF << 48) | length << 48
    return flits


def payload(flits: list[int]) -> bytes:
    return b"".join(flit.to_bytes(WIDTH // 8, "little") for flit in flits)


class Port:
    """The port, a MAC and the streams of the end of a link."""

    def __init__(self, dut) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, 6400, "ps").start())
        # A flit is one lane: there is no tkeep.
        source, sink = (AxiStreamBus.from_prefix(dut, prefix) for prefix in ("s_axis", "m_axis"))
        self.source = AxiStreamSource(source, dut.clk, dut.rst, byte_lanes=1)
        self.sink = AxiStreamSink(sink, dut.clk, dut.rst, byte_lanes=1)
        self.mac = EthMac(
            tx_clk=dut.clk, tx_rst=dut.rst, tx_bus=AxiStreamBus.from_prefix(dut, "tx_axis"),
            rx_clk=dut.clk, rx_rst=dut.rst, rx_bus=AxiStreamBus.from_prefix(dut, "rx_axis"),
            ifg=12, speed=36e9 * WIDTH / 256,  # less than the clock could, so that it stalls
        )  # fmt: skip

    async def start(self) -> None:
        dut = self.dut
        dut.address.value, dut.peers.value, dut.ethertype.value = number(ADDRESS), number(PEER), TYPE
        dut.link_up.value = 1
        dut.rst.value = 1
        await ClockCycles(dut.clk, 4)
        dut.rst.value = 0
        await RisingEdge(dut.clk)


@cocotb.test()
async def sends(dut) -> None:
    """Frames that the MAC has taken are what scapy makes of the packets."""
    port, draw = Port(dut), random.Random(1)
    await port.start()
    packets = [packet(draw, draw.choice((0, 0, 1, 2, 3, 8))) for _ in range(40)]
    for flits in packets:
        await port.source.send(AxiStreamFrame(flits, tuser=[1] + [0] * (len(flits) - 1)))
    for flits in packets:
        frame = await with_timeout(port.mac.tx.recv(), 20, "us")
        want = bytes(Ether(dst=PEER, src=ADDRESS, type=TYPE) / payload(flits))
        # This model of a MAC has no FCS of its own.
        assert bytes(frame) == want.ljust(60, b"\0")
    assert dut.sent_frames.value == len(packets)


@cocotb.test()
async def receives(dut) -> None:
    """What scapy makes comes out as flits, and frames of others do not."""
    port, draw = Port(dut), random.Random(2)
    await port.start()
    due, others = [], 0
    for _ in range(60):
        flits = packet(draw, draw.choice((0, 0, 1, 2, 3, 8)))
        is_ours = draw.random() < 0.8
        others += not is_ours
        frame = bytes(Ether(dst=ADDRESS, src=PEER, type=TYPE if is_ours else 0x0800) / payload(flits))
        await port.mac.rx.send(EthMacFrame(frame.ljust(60, b"\0")))
        due += [flits] if is_ours else []
    for flits in due:
        frame = await with_timeout(port.sink.recv(compact=False), 20, "us")
        assert list(frame.tdata) == flits
        assert list(frame.tuser) == [1] + [0] * (len(flits) - 1)
    await ClockCycles(dut.clk, 40)
    assert port.sink.empty()
    assert dut.frames.value == len(due) and dut.dropped_frames.value == others and dut.bad_frames.value == 0


@cocotb.test()
async def marks(dut) -> None:
    """A frame that is cut, or too long, has its last flit marked."""
    port, draw = Port(dut), random.Random(3)
    await port.start()
    for is_cut in (True, False):
        flits = packet(draw, 4)
        frame = bytes(Ether(dst=ADDRESS, src=PEER, type=TYPE) / payload(flits))
        await port.mac.rx.send(EthMacFrame(frame[: -WIDTH // 8] if is_cut else frame + bytes(5)))
        got = await with_timeout(port.sink.recv(compact=False), 20, "us")
        assert list(got.tuser)[-1] == 2 and not any(user & 2 for user in list(got.tuser)[:-1])
        assert len(got.tdata) == (len(flits) - 1 if is_cut else len(flits))
    await ClockCycles(dut.clk, 4)
    assert dut.bad_frames.value == 2
