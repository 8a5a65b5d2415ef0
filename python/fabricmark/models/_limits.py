"""The most that a machine's memory, caches, links and arithmetic do: what no efficiency may exceed.

Measured as such by fm_calibrate, each the best of all passes ever made on a machine (calibration.py keeps the
maxima). A limit depends on where the data fits: the rate of a working set is measured for each size from what
the innermost caches hold to what only the memory does, with the mix of reads and writes of what is limited.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

COPY = "copy"  # one stream read, one written
TRIAD = "triad"  # two streams read, one written

Points = Sequence[tuple[float, float]]  # (working set [bytes], rate), ascending


def at(points: Points, working_set: float) -> float | None:
    """The best rate of a working set of this size: of all measured ones from the next smaller size on.

    What a small set reaches no large one has to; what a large one reached the small one can, too. None
    without points.
    """
    if not points:
        return None
    start = max([size for size, _ in points if size <= working_set], default=points[0][0])
    return max(rate for size, rate in points if size >= start)


@dataclass(frozen=True)
class Limits:
    """Of one device and its host. Rates of memory in bytes read plus bytes written a second, all cores.

    `memory`, `host_memory`: points by mix. `to_device`, `from_device`: bytes a second over the link, from
    memory that the device reaches itself. `flops`: by type. `updates`: (table [bytes], updates a second).
    `passes`, `created`: how many measurements these are the best of, and when the last was.
    """

    memory: Mapping[str, Points] = field(default_factory=dict)
    host_memory: Mapping[str, Points] = field(default_factory=dict)
    to_device: float | None = None
    from_device: float | None = None
    flops: Mapping[str, float] = field(default_factory=dict)
    updates: Points = ()
    passes: int = 0
    created: str = ""

    def moving(self, mix: str, working_set: float) -> float | None:
        """Bytes a second, read and written, of the device's memory or cache that holds the working set."""
        return at(self.memory.get(mix, ()), working_set)

    def host_copy(self, copied_bytes: float) -> float | None:
        """Bytes copied a second in one host, each read and written: the array and its copy are the set."""
        found = at(self.host_memory.get(COPY, ()), 2 * copied_bytes)
        return None if found is None else found / 2

    def link(self, direction: str) -> float | None:
        """Bytes a second from the host to the device ("to_device"), back ("from_device") or both at once."""
        if direction == "both":
            ways = (self.to_device, self.from_device)
            return None if None in ways else sum(ways)
        return self.to_device if direction == "to_device" else self.from_device
