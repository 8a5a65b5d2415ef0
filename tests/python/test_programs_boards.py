"""Benchmarks on emulated boards, over every transport between kernels: two valid and two faulty runs of each.

What runs stands in the table of board_runs.py. That each transport carries what kernels send, and makes every
fault, one suite asks of all of them (tests/unit/kernel_links_test.cpp).
"""

import re
from collections import Counter
from functools import cache

import declared
import pytest
from board_runs import ROWS, cases, cases_among_processes, cases_of_values, kind_of
from boards import ENGINES, FAULTS, ISSUERS, LOST, MODES, TRANSPORTS, Systems, failed_verdicts
from simulated_runs import exported, program, samples
from stream_program import KERNELS, devices, mpirun, on_a_device, one_error, only_error
from thinned import only

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
CASES = list(cases())
OF_VALUES = ("element", "scale", "zeros", "stale")  # kinds of faults, beside those of messages


def each(found):
    return [pytest.param(one, id=str(one), marks=() if one.is_quick else FULL) for one in found]


SWITCHED = """
name = "switched"
summary = "boards on switches"
[[devices]]
board = "520n"
per_node = { value = 2, source = "of this test" }
most = { value = 64, source = "of this test" }
[devices.networks]
channels = "ethernet_40g_leaf_spine"
"""


class Programs:
    """How to start the benchmarks, and what their results have to be."""

    def __init__(self, factory):
        self.factory = factory
        folder = factory.mktemp("boards")
        self.systems = Systems(folder)
        file = folder / "switched.toml"
        file.write_text(SWITCHED)
        self.switched = exported(folder, file)
        self.of = cache(lambda name: self.start_of(name, folder))
        self.reference = cache(self.reference_of)

    def start_of(self, name, folder):
        made = program(folder, name)
        if ROWS[name].needs_cpu and devices(made)[0]["class"] != "cpu":
            pytest.skip("for CPUs only")
        made.environment["FABRICMARK_SEED"] = "1"  # runs to compare compute the same steps again
        return made

    def reference_of(self, name, data_type):
        """The digest of a result that no transport of kernels had a part in."""
        row = ROWS[name]
        made = on_a_device(self.factory, name) if row.reference_needs_device else self.of(name)
        alone = row.reference.split() or self.systems.words(TRANSPORTS[0])
        return made.valid(*row.words.split(), *alone, *data_type).digest

    def words(self, case):
        row = ROWS[case.benchmark]
        return (*row.words.split(), *self.systems.words(case.transport), *case.words.split())


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return Programs(tmp_path_factory)


def data_type_of(words):
    """The option with its value, if the words have it."""
    at = words.index("--data-type") if "--data-type" in words else len(words)
    return words[at : at + 2]


def without_ranks(words):
    """Of threads and of processes: how many they are, and the other words."""
    at = words.index("--ranks")
    return words[at + 1], (*words[:at], *words[at + 2 :])


@pytest.mark.parametrize("case", each(one for one in CASES if not one.fault))
def test_results_are_right_and_the_same_over_every_transport(programs, case):
    row, started, words = ROWS[case.benchmark], programs.of(case.benchmark), programs.words(case)
    done = started.valid(*words)
    row.check_valid(done)
    if row.has_digest:
        assert done.digest == programs.reference(case.benchmark, data_type_of(words))
    if case.processes:
        ranks, others = without_ranks(words)
        processes = started.valid(*others, launcher=mpirun(ranks))
        row.check_valid(processes)
        assert not row.has_digest or processes.digest == done.digest
        assert samples(processes.document) == samples(done.document) and samples(done.document)


@pytest.mark.parametrize("case", each(one for one in CASES if one.fault))
def test_a_fault_of_a_message_is_found(programs, case):
    done = programs.of(case.benchmark).run(*programs.words(case), "--inject-fault", case.fault)
    ROWS[case.benchmark].check_found(done, kind_of(case.fault))


@pytest.mark.parametrize("case", each(cases_among_processes()))
def test_a_fault_among_processes_is_found(programs, case):
    ranks, words = without_ranks(programs.words(case))
    started = programs.of(case.benchmark)
    done = started.run(*words, "--inject-fault", case.fault, launcher=mpirun(ranks))
    assert done.code == 1, (done.output, done.errors)
    if kind_of(case.fault) in LOST:
        assert re.search("deadlock|in vain| came for ", one_error(done, codes=(1,)))
        assert done.document is None
    else:
        assert failed_verdicts(done)


@pytest.mark.parametrize("case", each(cases_of_values()))
def test_a_fault_of_values_is_found(programs, case):
    done = programs.of(case.benchmark).run(*programs.words(case), "--inject-fault", case.fault)
    ROWS[case.benchmark].check_found(done, kind_of(case.fault))


FLOW = ("--flow", "credit-link:8,40,8,16")  # so small that the credits are used up
OVER_THE_LINK = "channels"


@pytest.mark.parametrize("benchmark", ROWS)
def test_a_credit_link_between_boards_gives_the_same_results(programs, benchmark):
    row, started = ROWS[benchmark], programs.of(benchmark)
    words = programs.words(
        next(one for one in CASES if (one.benchmark, one.transport) == (benchmark, OVER_THE_LINK))
    )
    done = started.valid(*words, *FLOW)
    row.check_valid(done)
    if row.has_digest:
        assert done.digest == programs.reference(benchmark, data_type_of(words))
    if benchmark != "shallow_water":  # whose halos are hidden behind its elements
        plain = started.valid(*words)
        assert samples(done.document) != samples(plain.document), "its headers take time"


@pytest.mark.parametrize("benchmark", only(ROWS, "b_eff", "hpl", "lbm"))
def test_frames_over_switches_give_the_same_results(programs, benchmark):
    """Streams cross a network of packets as a credit link, by default."""
    row, started = ROWS[benchmark], programs.of(benchmark)
    ranks = ("--ranks", "4")
    words = (*row.words.split(), *programs.systems.words(OVER_THE_LINK, programs.switched), *ranks)
    done = started.valid(*words)
    row.check_valid(done)
    if row.has_digest:
        assert done.digest == programs.reference(benchmark, ())
    if benchmark == "b_eff":
        processes = started.valid(*without_ranks(words)[1], launcher=mpirun("4"))
        assert samples(processes.document) == samples(done.document)
        line = only_error(started.run(*words, "--flow", "credit-link:64,512,32"), codes=(2,))
        assert "a packet of 64 data flits takes 2080 B, and a frame 1056 B" in line
        assert "use --flow credit-link" in only_error(started.run(*words, "--flow", "none:4"), codes=(2,))


@pytest.mark.parametrize("kind", ["flipped", "lost"])
@pytest.mark.parametrize("benchmark", ROWS)
def test_a_fault_is_found_over_a_credit_link(programs, benchmark, kind):
    row = ROWS[benchmark]
    fault = next(one for one in row.faults if kind_of(one) == kind)
    words = (*row.words.split(), *programs.systems.words(OVER_THE_LINK), *row.faulty_streams[0].split())
    row.check_found(programs.of(benchmark).run(*words, *FLOW, "--inject-fault", fault), kind)


# The table ------------------------------------------------------------------------------------------------


def test_each_benchmark_of_boards_has_a_row():
    on_boards = set()
    for file in KERNELS.glob("*/kernel.toml"):
        variants = declared.kernel_toml(file)["variants"].values()
        if any(one.get("style") == "dataflow" or "over_fabric" in one for one in variants):
            on_boards.add(file.parent.name)
    assert set(ROWS) == on_boards


def test_each_benchmark_plants_every_fault_and_so_does_each_transport():
    planted = {(one.benchmark, one.transport, kind_of(one.fault)) for one in CASES if one.fault}
    for benchmark in ROWS:
        assert {kind for name, _, kind in planted if name == benchmark} == set(FAULTS), benchmark
    for transport in TRANSPORTS:
        assert {kind for _, name, kind in planted if name == transport} == set(FAULTS), transport


def test_each_transport_has_two_valid_and_two_faulty_runs_also_one_that_is_added():
    for of_streams, of_engines in ((), ()), (("new",), ()), ((), ("new",)):
        all_of, engines = (*TRANSPORTS, *of_streams, *of_engines), (*ENGINES, *of_engines)
        counted, quick = Counter(), Counter()
        for one in cases(all_of, engines):
            counted[one.benchmark, one.transport, bool(one.fault)] += 1
            quick[one.benchmark, one.transport, bool(one.fault)] += one.is_quick
        wanted = {
            (name, way, is_faulty): 2 if row.engines or not is_faulty else len(row.faults)
            for name, row in ROWS.items()
            for way in all_of
            for is_faulty in (False, True)
            if row.engines or way not in engines
        }
        assert counted == wanted
        assert quick == dict.fromkeys(wanted, 1)


def test_runs_have_every_issuer_and_mode_and_every_row_is_used():
    for name, row in ROWS.items():
        for runs in ([one.words for one in row.engines], row.faulty_engines):
            words = " ".join(runs).split()
            for option, values in (("--issuer", ISSUERS), ("--mode", row.modes)) if runs else ():
                given = {words[at + 1] for at, word in enumerate(words) if word == option}
                assert given == set(values) or (given == set() and values == MODES[:1]), (name, option)
        own = [one for one in CASES if one.benchmark == name]
        assert {one.words for one in (*row.streams, *row.engines)} == {x.words for x in own if not x.fault}
        assert {*row.faulty_streams, *row.faulty_engines} == {x.words for x in own if x.fault}
        assert set(row.faults) == {x.fault for x in own if x.fault}
        assert any(x.processes and x.is_quick for x in own), name


def test_the_programs_know_no_other_faults(programs):
    """Each kind that they name is one of messages, of values, or of a rank that fails."""
    b_eff = programs.of("b_eff")
    line = only_error(b_eff.run("--inject-fault", "none"), codes=(2,))
    known = set(re.findall(r"\w+", re.search("with the kind (.*), or KIND:STEP@RANK", line)[1])) - {"or"}
    assert known == {*FAULTS, *OF_VALUES}
