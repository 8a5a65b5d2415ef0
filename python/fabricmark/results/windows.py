"""When ranks worked beside each other, as the programs count it (`src/runtime/windows.hpp`)."""

from collections.abc import Sequence

PerRank = Sequence[Sequence[float]]  # [rank][repetition], in seconds


def spans(per_rank: PerRank, starts: PerRank | None = None) -> list[float]:
    """Time of each repetition [s]: from the first rank's start to the last one's end.

    Without starts, as in modelled times and old files, that of the slowest rank.
    """
    if starts is None:
        return [max(taken) for taken in zip(*per_rank, strict=True)]
    ends = [
        [start + taken for start, taken in zip(*of_rank, strict=True)]
        for of_rank in zip(starts, per_rank, strict=True)
    ]
    return [max(of_ranks) for of_ranks in zip(*ends, strict=True)]


def fault_of_starts(starts: PerRank | None, per_rank: PerRank, kind: str) -> str | None:
    """What is wrong with a metric's starts, in words; None where nothing is."""
    if starts is None:
        return None
    if kind == "modelled":
        return "modelled times have no starts: each rank counts them from zero"
    if [len(rank) for rank in starts] != [len(rank) for rank in per_rank]:
        return "starts of other ranks or repetitions than the samples"
    if any(min(of_ranks) != 0 for of_ranks in zip(*starts, strict=True)):
        return "starts that do not count from the first rank's"
    return None
