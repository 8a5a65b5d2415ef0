"""Collective operations: the algorithms of the programs, replayed by `fabricmark-describe`.

The replayer is src/collectives/replay/replay.hpp (LogGOPSim: Hoefler, Schneider and Lumsdaine 2010); no form
of an algorithm stands here. What moves take over a transport: `_collective_costs`.
"""

from collections.abc import Mapping, Sequence

from fabricmark.base import kernels
from fabricmark.models._collective_costs import Costs

OPERATIONS = (
    "broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all",
    "barrier",
)  # fmt: skip


def algorithms(operation: str) -> list[str]:
    """The names of all that there are. Raises FabricmarkError (3: nothing is built)."""
    (found,) = kernels.ask([{"collective": operation}])
    return found["algorithms"]


def request(operation: str, costs: Costs, ranks: int, moved: int, **more: object) -> dict:
    """The request for what a call of so many bytes of a rank takes: see `answers`. `more`: as
    `fabricmark-describe` has it."""
    return {"collective": operation, "ranks": ranks, "bytes": moved, "network": costs.network, **more}


def answers(requests: Sequence[Mapping]) -> list[Mapping]:
    """Of each request: `algorithms`, by name the `seconds` of a call beside its start until its last rank
    ends, `mean_seconds` of all ranks, and the receive `buffers` that a rank has to have; the one `chosen`;
    `shape` in words; `bus_bytes`, whose quotient by the time can be compared with the rate of one link
    (nccl-tests, doc/PERFORMANCE.md), `link_bytes_per_second`, which is not there where curves stand for it.

    Raises FabricmarkError: 2 where no algorithm does it, 3 where nothing is built.
    """
    return kernels.ask(requests)
