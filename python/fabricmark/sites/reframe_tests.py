"""`fabricmark reframe`: a file of ReFrame tests that run again what results were made by.

A test runs the program of a result with its options, is sane where `fabricmark report` finds the result
valid, and has each measured metric as a performance variable. References are values of a baseline or of the
results themselves; how far a value may be off is the loss that `fabricmark check` finds on these nodes, or
the tolerance.
"""

import pprint
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricmark import __version__
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.results import Result
from fabricmark.sites.check import Row
from fabricmark.sites.nights import series_of

CODE = '''\
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn

CASES = {cases}


@rfm.simple_test
class fabricmark_test(rfm.RunOnlyRegressionTest):
    """A program of Fabricmark with the options of an earlier run."""

    case = parameter(sorted(CASES))
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    keep_files = ["result.json"]

    @run_after("init")
    def set_case(self):
        case = CASES[self.case]
        self.descr = case["what"]
        self.tags = set(case["tags"])
        self.executable = case["program"]
        self.executable_opts = [*case["options"], "--json", "result.json"]
        self.num_tasks = case["tasks"]
        self.postrun_cmds = ["fabricmark report result.json; echo fabricmark: exit code $?"]
        self.reference = {{"*": {{name: tuple(one["reference"]) for name, one in case["metrics"].items()}}}}

    @sanity_function
    def is_valid(self):
        return sn.assert_found(r"^fabricmark: exit code 0$", self.stdout)

    @run_before("performance")
    def set_metrics(self):
        self.perf_variables = {{
            name: sn.make_performance_function(self.value(one["name"], one["axes"]), one["reference"][3])
            for name, one in CASES[self.case]["metrics"].items()
        }}

    @deferrable
    def value(self, name, axes):
        with open(os.path.join(self.stagedir, "result.json"), encoding="utf-8") as file:
            every = json.load(file)["measurements"]
        return next(one["median"] for one in every if one["name"] == name and one["axes"] == axes)
'''


@dataclass(frozen=True)
class Reference:
    """What a metric is usually, in its unit, and the share that it may lose."""

    value: float
    may_lose: float


def text(loaded: Sequence[Result], rows: Mapping[str, Sequence[Row]], tolerance: float) -> str:
    """The file. `rows`: of a check of these results, by metric; none: they are their own references.

    Raises FabricmarkError (2) where no result says how it was made.
    """
    cases: dict[str, dict] = {}
    known: dict[tuple, str] = {}
    for result in loaded:
        if result.writer or result.verdict() != "valid":
            continue
        key = (result.benchmark, *options(result), result.ranks)
        if key not in known:
            known[key] = f"{result.benchmark}_{sum(one[0] == result.benchmark for one in known) + 1}"
            cases[known[key]] = _case(result, rows, tolerance)
    if not cases:
        raise FabricmarkError("no result is a valid run of a program of the suite", "name valid result files")
    heading = f'"""ReFrame tests, written by `fabricmark reframe` {__version__}."""\n\n'
    return heading + CODE.format(cases=pprint.pformat(cases, width=110, sort_dicts=False))


def options(result: Result) -> list[str]:
    """Of the command line, without the file that the result went to."""
    words = [str(word) for word in result.document["run"]["command"][1:]]
    kept = []
    while words:
        word = words.pop(0)
        if word == "--json":
            del words[:1]
        elif not word.startswith("--json="):
            kept.append(word)
    return kept


def _case(result: Result, rows: Mapping[str, Sequence[Row]], tolerance: float) -> dict:
    ranks = result.document["environment"]["ranks"]
    metrics = {}
    entries = [entry for entry in result.measurements if entry.kind == "measured" and entry.median > 0]
    for entry, (series, value) in zip(entries, series_of(result), strict=True):
        usual = reference(rows.get(series.metric, ()), value, tolerance)
        low, high = (-usual.may_lose, None) if entry.better == "higher" else (None, _longer(usual.may_lose))
        metrics[variable(entry.label)] = {
            "name": entry.name,
            "axes": dict(entry.axes),
            "reference": [usual.value, low, high, entry.unit],
        }
    return {
        "what": printable(f"{result.benchmark}, {ranks['count']} ranks, {result.document['run']['variant']}"),
        "tags": ["fabricmark", result.benchmark],
        "program": result.document["run"]["program"],
        "options": options(result),
        "tasks": ranks["count"] if ranks["kind"] == "mpi" else 1,
        "metrics": metrics,
    }


def reference(rows: Sequence[Row], value: float, tolerance: float) -> Reference:
    """The median over the nodes; where a check knows which loss is found, of the noisiest node."""
    known = [row for row in rows if row.reference is not None]
    if not known:
        return Reference(value, tolerance)
    usual = statistics.median(row.reference for row in known if row.reference is not None)
    found = [row.found for row in known if row.found is not None]
    return Reference(usual, min(max([tolerance, *found]), 0.99))


def _longer(loss: float) -> float:
    """How much longer a time is when so much of the speed has gone."""
    return loss / (1 - loss)


def variable(label: str) -> str:
    """A name of letters, digits and underscores."""
    return re.sub(r"\W+", "_", label, flags=re.ASCII).strip("_")
