"""How the micro-benchmarks of OMB are started in tests."""

import pytest
from stream_program import PROGRAM, Stream

PAIRS = ("latency", "bw", "bibw", "mbw_mr", "multi_lat")
COLLECTIVES = ("allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce", "reduce_scatter",
               "scatter")  # fmt: skip
WITH_COUNTS = ("allgatherv", "alltoallv", "gatherv", "scatterv")
OVERLAPPING = tuple(f"i{name}" for name in COLLECTIVES)
ALL = (*PAIRS, *COLLECTIVES, *WITH_COUNTS, *OVERLAPPING)
BARRIERS = ("barrier", "ibarrier")
OF_TWO = ("latency", "bw", "bibw")  # messages of ranks 0 and 1 alone
IN_SHORT_SET = ("allreduce", "alltoall", "barrier", "bibw", "bw", "latency")
SHORT = ("-m", "4:64", "-i", 2, "-x", 1, "-W", 4)
LIBRARIES = PROGRAM.parents[1] / "tests" / "unit"


def of_ranks(ranks):
    """The programs that take so many."""
    return [name for name in ALL if ranks == 2 or name not in OF_TWO]


class Programs:
    """All of them, in one folder for their files."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def __getitem__(self, name):
        path = PROGRAM.with_name(f"fm_{name}")
        if not path.exists():
            pytest.skip(f"fm_{name} is not built")
        return self.known.setdefault(name, Stream(self.folder, path))


def rows(text):
    """The numbers of the rows of a text, as OMB's readers take them: lines that are no comments."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [[float(word) if word[0].isdigit() else word for word in line] for line in lines]


def metrics(done, name):
    return {
        one["axes"].get("message_bytes", 0): one
        for one in done.document["measurements"]
        if one["name"] == name and "statistic" not in one["axes"]
    }
