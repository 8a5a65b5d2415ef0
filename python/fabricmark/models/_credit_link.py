"""Rate, latency and depth of buffers of a credit link, from its parameters (Mondigo 2020, chapter 2).

A packet is a header flit and D data flits. A sender may send as many data flits as the receive buffer of the
other end has places; credits come back in headers. What the receiver sees in cycle t + L + 1 is what the
sender decided in cycle t. The profile "published" has the equations as they are printed; the other one has
what the cycle model of src/network/credit_link does, whose tests hold both to the same reference points.
"""

import math
from dataclasses import dataclass

PUBLISHED = "published"
RX_WRITE_FORWARD = 4  # cycles; eq. 2.2
LOOP_CYCLES = 5  # of a credit, beside both latencies and the packet: five registers on its path
FIRST_CYCLES = 3  # of a first word, beside a packet and the latency
SINGLE_CYCLES = 4  # of a packet that did not have to fill
LEAST_PAYLOAD = 46  # bytes of an Ethernet frame
BOUND_CYCLES = 16  # of progress, beside what it waits for


def efficiency(packet, overhead):
    """Share of the cycles that full packets carry data in (eq. 2.3); flits, numbers or arrays of NumPy."""
    return packet / (packet + overhead)


def depth_needed(way, interval):
    """Of a receive buffer, which more than this is enough for [flits] (eq. 2.4). `way`: D_link [cycles], from
    user to user (eq. 2.2); `interval`: D_CU [flits].
    """
    return 2 * way + interval


@dataclass(frozen=True)
class CreditLink:
    """`latency`: L [cycles]; `packet`: D [flits]; `receive_depth`: R [flits]; `credit_interval`: D_CU, flits
    that are read between two returns of credits; `timeout`: cycles after which an open packet is closed;
    `keep_alive`: cycles without a header after which one is sent, 0 for never; `overhead`: k, cycles of a
    packet beside its data; `width`: of a flit [bytes]; `clock` [Hz]; `loss`: share of frames.
    """

    latency: int
    packet: int
    receive_depth: int
    credit_interval: int
    timeout: int
    keep_alive: int
    overhead: int
    width: int
    clock: float
    loss: float = 0.0
    profile: str = "fitted"

    @property
    def is_published(self) -> bool:
        return self.profile == PUBLISHED

    @property
    def efficiency(self) -> float:
        """Share of the cycles that full packets carry data in (eq. 2.3)."""
        return efficiency(self.packet, self.overhead)

    @property
    def credit_loop(self) -> int:
        """From a packet's leaving until its credits allow another one [cycles]."""
        return 2 * self.latency + self.packet + LOOP_CYCLES

    def update_cycles(self, every: int = 1) -> float:
        """Between two returns of credits to a sender at full speed, where the user reads a flit in one of
        `every` cycles (Figs. 2.2 and 2.3). As printed a header takes no cycle.
        """
        sent = 1.0 if self.is_published else 1 / self.efficiency
        return self.credit_interval * max(sent, every)

    @property
    def least_depth(self) -> int:
        """Of a receive buffer, below which both ends can wait for each other [flits]."""
        return self.packet + self.credit_interval - 1

    @property
    def depth_for_full_rate(self) -> int:
        """Of a receive buffer [flits]; as printed more than twice eq. 2.2 and a credit interval (eq. 2.4)."""
        if self.is_published:
            return depth_needed(self.first_word, self.credit_interval)
        return self.packet * math.ceil(self.credit_loop / (self.packet + self.overhead))

    @property
    def share(self) -> float:
        """Of the peak, for a long stream that is read as it comes, without lost frames."""
        packets = self.receive_depth // self.packet
        return min(self.efficiency, packets * self.packet / self.credit_loop)

    @property
    def peak(self) -> float:
        """A flit in each cycle [B/s] (eq. 2.1)."""
        return self.width * self.clock

    @property
    def rate(self) -> float:
        """Of a long stream [B/s]; what is lost is not sent again."""
        return self.peak * self.share * (1 - self.loss)

    @property
    def first_word(self) -> int:
        """Until a stream at full speed arrives [cycles]: its packet is stored whole (eq. 2.2)."""
        more = RX_WRITE_FORWARD if self.is_published else FIRST_CYCLES
        return self.packet + self.latency + more

    @property
    def single_word(self) -> int:
        """Until a word without others behind it and without the end of a frame arrives [cycles]."""
        return self.timeout + self.latency + SINGLE_CYCLES

    @property
    def recovery(self) -> int | None:
        """Within how many cycles words arrive again where all in flight was lost; None: never, as a sender
        without credit is silent.
        """
        if not self.keep_alive:
            return None
        return self.keep_alive + 2 * self.latency + 2 * self.packet + BOUND_CYCLES

    @property
    def frame(self) -> int:
        """Payload of a frame that carries a full packet [bytes] (eq. 4.1)."""
        return (self.packet + 1) * self.width

    def seconds(self, size: float) -> float:
        """Until the last byte of a message has arrived [s] (Fig. 2.9)."""
        packets = math.ceil(size / (self.packet * self.width))
        sending = packets * self.packet / self.share
        return (self.first_word + sending) / self.clock


@dataclass(frozen=True)
class FramedLink:
    """A credit link whose packets are frames of a switched network, on which a board has one port: frames of
    data to the next board and those that bring credits to the board before take turns on its cable.

    `overhead`: of a frame, beside its flits [bytes]; `line`: of the cable [B/s].
    """

    link: CreditLink
    overhead: float
    line: float

    def frame_seconds(self, flits: float) -> float:
        """On the cable, of a packet with so many data flits and its header."""
        payload = max((flits + 1) * self.link.width, LEAST_PAYLOAD)
        return (payload + self.overhead) / self.line

    @property
    def rate(self) -> float:
        """Of a long stream [B/s]: that of the link, or what the cable takes."""
        packet = self.link.packet
        credits = packet / self.link.credit_interval * self.frame_seconds(0)
        on_cable = packet * self.link.width / (self.frame_seconds(packet) + credits)
        return min(self.link.peak * self.link.efficiency, on_cable)

    def first_seconds(self, arriving: float) -> float:
        """Until the first flit of a stream of `arriving` [B/s] has come, beside the network's latency [s].

        Its packet is stored whole, leaves flit by flit, and comes out when all of its frame is there.
        """
        link = self.link
        gathered = link.packet * link.width / min(arriving, self.rate)
        return gathered + (FIRST_CYCLES + link.packet + 1) / link.clock + self.frame_seconds(link.packet)

    def last_seconds(self, flits: float, taken: float) -> float:
        """From the last flit of a stream of so many until it was taken, beside the network's latency [s].

        A packet that it does not fill is closed by the timeout; `taken` [B/s] is how fast flits are taken.
        """
        link, rest = self.link, flits % self.link.packet
        if rest == 0:
            return 0.0  # as the first one or faster
        closed = (link.timeout + SINGLE_CYCLES + rest + 1) / link.clock
        return closed + self.frame_seconds(rest) + rest * link.width / min(taken, link.peak)


def ring_seconds(
    size: float, rate: float, hop: float, boards: int, spine: float | None = None, ports: int = 0
) -> float:
    """Once around a ring [s]: the latencies of all hops, and the bytes once (Mondigo 2020, section 4.3.3).

    `hop`: from board to board [s], over a cable or one switch (eqs. 4.2 to 4.6). `spine`: over two leaves and
    a spine, where more boards than the `ports` of a switch fill leaves of half as many.
    """
    leaves = math.ceil(boards / (ports // 2)) if spine is not None and boards > ports else 0
    return (boards - leaves) * hop + leaves * (spine or 0) + size / rate
