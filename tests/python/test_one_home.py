"""Each cost has one home: a file that works one out again fails here, until it is gone or has a reason.

Homes: the time of a kernel and the memory of a run, kernel.toml; copies and messages, the models in Python,
whose tables exported systems carry to the programs; collectives, their programs of moves, which are replayed.
"""

import re

import pytest
from conftest import REPOSITORY

MODELS = "python/fabricmark/models"
LIMIT = "a limit, which no loop of a kernel can pass"
STALL = "cycles that the halos cost, of the modelled time"
EXACT = "host code whose ranks have less than the one that has most; the plan checks the length"
# Of each cost: where a second home would be, what gives it away, and the files that may have this, with why.
RULES = {
    "time of a kernel, in a model": (
        MODELS,
        r"\[\"clock\"\]|get\(\"clock\"\)",
        {
            "random_access": LIMIT,
            "stream": LIMIT,
            "hpl": LIMIT,
            "_network.py": "words that a link takes of a kernel",
            "device.py": "a step of an application over several boards: eq. 5.2 and 5.3",
            "_stencil.py": LIMIT,
            "_cascade.py": "steps of cells that stream through a ring of boards: eq. 3.8",
        },
    ),
    "time of a kernel, in a program": (
        "src/benchmarks src/apps src/microbench",
        r"(kernel|clock)_hz",
        {
            "dataflow_factorization.hpp": "what the formulas say, in cycles of the emulated kernels",
            "channels_execution.cpp": "a block, by its kernel's formula and by the link, in cycles",
            "host_device.cpp": "the clock of the emulated kernels",
            "stalls.cpp": STALL,
            "stalls.hpp": STALL,
        },
    ),
    "memory of a run, in a model": (MODELS, r"\.memory_bytes\b|footprint", {}),
    "memory of a run, in a program": (
        "src/benchmarks src/apps",
        r"\.(device_bytes|largest_buffer_bytes) =",
        {"host_transfer.cpp": "the buffers of a list of cases, which no formula has"},
    ),
    "length of a buffer": (
        "src/benchmarks src/apps",
        r"context\.buffer\(",
        {
            "transposition.cpp": EXACT,
            "external_channels_execution.cpp": EXACT,
            "host_execution.cpp": EXACT,
            "execution.cpp": "as long as the plan says, which it passes",
            "halo.cpp": "borders of a part, which only the mesh knows",
            "halo_messages.cpp": "messages of a part, which its kind of neighbours says",
            "halo_puts.cpp": "a word of each of these messages, for kernels that wait for each other",
        },
    ),
    "time of a collective, in an algorithm": (
        "src/collectives/operations",
        r"\bseconds\b|_per_second",
        {},
    ),
    "algorithm of a collective, in a model": (
        "python/fabricmark",
        r"recursive_doubling|dissemination|bruck|two_phase|binomial",
        {
            "_point_to_point.py": "one message between two ranks, which this algorithm alone does not cut",
            "closed_form.py": "what shared cables are compared with: test_simulate.py has the moves",
            "open_mpi.py": "which of the suite's algorithms plays what Open MPI takes: names, and no time",
        },
    ),
    "kind of a transport, asked by a benchmark": (  # its table of host code has a row for each
        "src/benchmarks src/apps",
        r"is_between_memories|\.between\b",
        {},
    ),
    "time of a copy, in a program": ("src", r"\b(host\.)?page(_latency)?\b.*latency|programmed", {}),
}
SOURCES = {".py", ".cpp", ".hpp"}


def files_with(folders: str, pattern: str) -> dict[str, list[str]]:
    """Names of files, of a package its folder's, and their lines that match; comments do not count."""
    found: dict[str, list[str]] = {}
    for folder in folders.split():
        for path in (REPOSITORY / folder).rglob("*"):
            if path.suffix in SOURCES:
                lines = [line for line in path.read_text().splitlines() if re.search(pattern, code(line))]
                name = path.parent.name if path.name == "__init__.py" else path.name
                found |= {name: found.get(name, []) + lines} if lines else {}
    return found


def code(line: str) -> str:
    return re.sub(r"^\s*(//|#|\*).*|\s//.*", "", line)


@pytest.mark.parametrize("rule", RULES)
def test_nobody_works_a_cost_out_again(rule):
    folders, pattern, allowed = RULES[rule]
    found = files_with(folders, pattern)
    assert found.keys() == allowed.keys(), found


def test_a_second_home_is_seen():
    assert re.search(RULES["time of a kernel, in a model"][1], code('    rate = board["clock"] / 2.5'))
    assert re.search(RULES["length of a buffer"][1], code("  a_(context.buffer(size * sizeof(T))) {"))
    assert not re.search(RULES["length of a buffer"][1], code("  // context.buffer(bytes, place)"))


def test_one_header_has_openblas():
    """It looks whether OpenBLAS knows the CPU, in each program that has a source with it."""
    sources = [path for folder in ("src", "bench") for path in (REPOSITORY / folder).rglob("*.?pp")]
    found = [path.name for path in sources if "<cblas.h>" in path.read_text()]
    assert found == ["blas_core.hpp"]
