"""What to know of many results before anything else: whether they are right, how near each benchmark came to
its limit on each device, and what is most worth looking at.

Data alone: the terminal (answer_view.py) and the page (answer_page.py) show the same.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricmark import models
from fabricmark.base.errors import check_known
from fabricmark.base.terminal import counted, number, percent
from fabricmark.report import families, headlines, model_errors, next_steps, run_tables
from fabricmark.report.chosen import DEFAULT_ORDER
from fabricmark.report.groups import Group, Metric
from fabricmark.report.headlines import Headline
from fabricmark.report.next_steps import Words
from fabricmark.results import Result, disturbances
from fabricmark.results.disturbances import Disturbance
from fabricmark.results.failures import Failure
from fabricmark.results.judgement import INVALID

MOST_WORRIES = 3
FAR_FROM_LIMIT = 0.5  # a smaller share of the limit is worth a look
HOST = "none"  # platform of runs without a device
MOST_NAMED = 3  # benchmarks whose models are off
NOISY = 0.25  # so is a median that is further from the best than this
FEWEST_SAMPLES = 3  # that a median says anything of
KERNELS = "FPGA design / optimized kernel, the one to compare with a library"
INCOMPLETE, NOT_CHECKED = "incomplete", "not checked"


@dataclass(frozen=True)
class Counts:
    """Results by what became of them. `failed`: ended without a whole result, or the file cannot be read;
    `skipped`: nothing was checked. `seconds`: of all runs, as far as the files say."""

    valid: int
    invalid: int
    failed: int
    skipped: int
    seconds: float

    @property
    def total(self) -> int:
        return self.valid + self.invalid + self.failed + self.skipped

    @property
    def has_passed(self) -> bool:
        """Whether nothing is wrong and something was checked."""
        return not self.invalid and not self.failed and self.valid > 0

    def closing(self) -> str:
        """`38 valid, 1 invalid, 0 failed, 2 skipped in 312.4 s`, as test runners end."""
        counts = f"{self.valid} valid, {self.invalid} invalid, {self.failed} failed, {self.skipped} skipped"
        return f"{counts} in {self.seconds:.1f} s"

    def verdict(self) -> str:
        """The answer in one sentence."""
        total = "the result" if self.total == 1 else f"all {self.total} results"
        if self.has_passed and not self.skipped:
            return f"PASSED: {total} {'is' if self.total == 1 else 'are'} valid"
        if self.has_passed:
            return f"PASSED: nothing is wrong, but {self.skipped} of {self.total} results were not checked"
        wrong = [f"{self.invalid} INVALID"] * bool(self.invalid) + [f"{self.failed} failed"] * bool(
            self.failed
        )
        if wrong:
            return f"FAILED: {' and '.join(wrong)} of {counted(self.total, 'result')}"
        return "NOT CHECKED: no result was compared with what is right"


@dataclass(frozen=True)
class Share:
    """A benchmark on a device: its headline metric as a share of the limit.

    `unlimited`, `unmodelled`: why there is no limit and no error of the model; empty where there is one.
    `is_off`: whether the model is further off than it should be.
    """

    headline: Headline
    unlimited: str
    unmodelled: str
    is_off: bool

    @property
    def metric(self) -> Metric:
        return self.headline.metric

    @property
    def share(self) -> float | None:
        """Best / limit."""
        return self.metric.row.efficiency

    @property
    def spread(self) -> float | None:
        return spread(self.metric)

    @property
    def value(self) -> str:
        """`12.3 GB/s`"""
        return f"{number(self.metric.row.best)} {self.metric.row.unit}"

    @property
    def error(self) -> str:
        """`+3 %`, or why there is none."""
        return percent(self.metric.row.error, signed=True) if not self.unmodelled else self.unmodelled

    @property
    def verdict(self) -> str:
        """Never `valid` alone where the model is far off or something disturbed the run."""
        said = f"{self.headline.verdict}, model off" if self.is_off else self.headline.verdict
        return disturbances.beside(said, self.headline.group.runs)

    @property
    def is_doubtful(self) -> bool:
        """Whether the values are right, but no green shall hide what is beside them."""
        return self.is_off or self.disturbance is not None

    @property
    def disturbance(self) -> Disturbance | None:
        """The largest of its runs."""
        every = [one for run in self.headline.group.runs for one in run.disturbances]
        return max(every, key=lambda one: one.share, default=None)


@dataclass(frozen=True)
class Worry:
    """What is worth looking at. `kind`: of KINDS; `severity`: doublings that it is off by, or how bad a
    verdict is; `words`: of the command to try next, after `fabricmark`."""

    kind: str
    benchmark: str
    about: str
    what: str
    words: Words
    severity: float

    @property
    def sentence(self) -> str:
        """`stream, 2 ranks: 31 % of the limit`"""
        return f"{self.about}: {self.what}"


WRONG, UNKNOWN, LIMIT, MODEL, NOISE = KINDS = (
    "wrong", "unknown", "far from the limit", "far from the model", "noisy"
)  # fmt: skip
SEVERITIES = {INVALID: 3.0, INCOMPLETE: 2.0, NOT_CHECKED: 1.0}


@dataclass(frozen=True)
class Answer:
    """`shares`: in the order that was asked for. `worries`: those most worth looking at, of `found`.

    `off`: what each benchmark's model is off by at most, where that is too much, at `off_rows` of the rows
    that have a model.
    """

    counts: Counts
    shares: Sequence[Share]
    worries: Sequence[Worry]
    found: int
    off: Mapping[str, float]
    off_rows: int
    modelled: int

    @cached_property
    def devices(self) -> list[str]:
        """Those with an OpenCL platform, before hosts, whose memory messages go between."""
        every = {share.headline.device: share.headline.group.runs[0].device for share in self.shares}
        return [name for name, device in every.items() if device["platform"] != HOST] or list(every)

    @cached_property
    def drawn(self) -> list[Share]:
        """Those with a limit or a model, for bars."""
        return [share for share in self.shares if not (share.unlimited and share.unmodelled)]

    @cached_property
    def others(self) -> list[Share]:
        """Those with neither, for sentences."""
        return [share for share in self.shares if share.unlimited and share.unmodelled]

    @cached_property
    def numbers(self) -> dict[str, str]:
        """{device: its number} of the bars, where they are of several devices."""
        devices = list(dict.fromkeys(share.headline.device for share in self.drawn))
        return {name: str(place) for place, name in enumerate(devices, 1)} if len(devices) > 1 else {}

    @cached_property
    def kernels(self) -> str:
        """Both kernels of each benchmark that was run with both, and which of them has its like in libraries:
        `gemm 72 / 201 GFLOP/s`; empty where there is none."""
        by_unit: dict[tuple[str, str], list[str]] = {}
        for share in self.shares:
            if share.headline.by_kernel is not None and share.metric.row.kind == "measured":
                base, fast = (_short(metric.row.best) for metric in share.headline.by_kernel)
                place = f" on {share.headline.device}" if len(self.devices) > 1 else ""
                named = f"{share.headline.benchmark} {base} / {fast}"
                by_unit.setdefault((share.metric.row.unit, place), []).append(named)
        told = [f"{', '.join(named)} {unit}{place}" for (unit, place), named in by_unit.items()]
        return f"{KERNELS}: {'; '.join(told)}" if told else ""

    @property
    def models(self) -> str:
        """At how many rows the models are too far off, and which are; empty where nothing is modelled."""
        if not self.modelled:
            return ""
        rows = counted(self.modelled, "row")
        if not self.off_rows:
            return f"far from the model: none of {rows}"
        named = [f"{name} {percent(error, signed=True)}" for name, error in self.off.items()]
        left = len(named) - MOST_NAMED
        more = f" and {left} more" if left > 0 else ""
        return f"far from the model: {self.off_rows} of {rows}, at most {', '.join(named[:MOST_NAMED])}{more}"


def _short(value: float) -> str:
    """To three digits: `201`."""
    return number(float(f"{value:.3g}"))


def spread(metric: Metric) -> float | None:
    """What best and median differ by, as a share of the smaller one; None of few repetitions."""
    entry = metric.of_runs[0]
    if metric.row.kind != "measured" or not entry.per_rank or len(entry.per_rank[0]) < FEWEST_SAMPLES:
        return None
    best, median = entry.best, entry.median
    if min(best, median) <= 0:
        return None
    return max(best, median) / min(best, median) - 1


def unlimited(group: Group, metric: Metric) -> str:
    """Why a metric has no limit; empty where it has one."""
    row = metric.row
    if row.efficiency is not None:
        return ""
    if row.kind != "measured":
        return f"{row.kind} time"
    if models.find(group.benchmark) is None:
        return "no model"
    if group.known is None:
        return "device not measured"
    return "none for this metric"


def unmodelled(group: Group, metric: Metric) -> str:
    """Why a metric has no error of the model; empty where it has one."""
    if metric.row.error is not None:
        return ""
    return metric.row.kind if metric.row.kind != "measured" else "no model"


def is_off(metric: Metric) -> bool:
    """Whether the model is off by more than its error bar, or without one by more than a model may be."""
    row = metric.row
    if row.error is None or row.is_held:
        return False
    return abs(row.error) > model_errors.allowed(model_errors.own_spread(metric.of_runs))


def doublings(factor: float) -> float:
    """How far a factor is from 1, in powers of two."""
    return abs(math.log2(factor)) if factor > 0 else math.inf


def counts(groups: Sequence[Group], lost: int) -> Counts:
    """Of all runs; `lost`: those that left nothing, and files that cannot be read."""
    runs = [run for group in groups for run in group.runs]
    found = Counter(run.verdict() for run in runs)
    seconds = sum(run.document["run"].get("duration_seconds") or 0.0 for run in runs)
    failed = found[INCOMPLETE] + lost
    return Counts(found["valid"], found[INVALID], failed, found[NOT_CHECKED], seconds)


def make(
    groups: Sequence[Group], failures: Sequence[Failure], unreadable: int, order: str = DEFAULT_ORDER
) -> Answer:
    """The answer of all groups and of runs that left nothing; `unreadable`: files that could not be read.

    `order`: a key of ORDERS.
    """
    devices = Counter(benchmark for benchmark, *_ in {_place(group) for group in groups})
    shares = [_share(entry) for entry in headlines.make(groups)]
    found = [_of_failure(failure) for failure in failures]
    found += [worry for group in groups for worry in _of_group(group, devices[group.benchmark])]
    found += [worry for share in shares for worry in _of_share(share, devices[share.headline.benchmark])]
    found = list(dict.fromkeys(found))  # several groups of a device without limits say the same
    valid = [group for group in groups if group.verdict() == "valid"]
    errors = [
        (group.benchmark, metric.row.error, is_off(metric))
        for group in valid
        for metric, _ in group.condensed
        if metric.row.error is not None
    ]
    off = sorted(((name, error) for name, error, is_too_far in errors if is_too_far), key=_by_error)
    worst: dict[str, float] = {}
    for name, error in off:
        worst.setdefault(name, error)
    lost = unreadable + len(failures)
    return Answer(
        counts(groups, lost),
        ordered(shares, order),
        worst_of(found),
        len(found),
        worst,
        len(off),
        len(errors),
    )


def _place(group: Group) -> tuple[str, str, str]:
    """A benchmark on a device."""
    device = group.runs[0].device
    return group.benchmark, device["name"], device["platform"]


def _by_error(found: tuple[str, float]) -> float:
    return -doublings(1 + found[1])


def worst_of(found: Sequence[Worry]) -> list[Worry]:
    """At most MOST_WORRIES: wrong results before all; then of another benchmark before the same again, of
    another kind before the same again, and the most severe."""
    ranked = sorted(found, key=lambda worry: -worry.severity)
    chosen = [worry for worry in ranked if worry.kind == WRONG][:MOST_WORRIES]
    left = [worry for worry in ranked if worry.kind != WRONG]
    while left and len(chosen) < MOST_WORRIES:
        kinds = Counter(worry.kind for worry in chosen)
        names = {worry.benchmark for worry in chosen}
        order = [(one.benchmark in names, kinds[one.kind], -one.severity) for one in left]
        chosen.append(left.pop(order.index(min(order))))
    return chosen


def _share(entry: Headline) -> Share:
    group, metric = entry.group, entry.metric
    return Share(entry, unlimited(group, metric), unmodelled(group, metric), is_off(metric))


def _about(group: Group, devices: int) -> str:
    """`hpl, 2 ranks`"""
    device = f" on {group.runs[0].device['name']}" if devices > 1 else ""
    return f"{group.benchmark}, {headlines.told(group)}{device}"


def _of_group(group: Group, devices: int) -> list[Worry]:
    """A wrong verdict; of a valid group where its models are furthest off, and whether it has no limits."""
    run = next((run for run in group.runs if run.verdict() != "valid"), None)
    if run is not None:
        return [_of_verdict(group, run, devices)]
    off = [metric for metric, _ in group.condensed if is_off(metric)]
    worst = max(off, key=lambda metric: doublings(1 + (metric.row.error or 0.0)), default=None)
    found = [_far_from_model(group, worst, devices)] if worst is not None else []
    return [*found, *_without_limits(group)]


def _of_failure(failure: Failure) -> Worry:
    what = f"failed with exit code {failure.exit_code}, {failure.cause}"
    return Worry(WRONG, failure.benchmark, failure.about, what, tuple(failure.words), SEVERITIES[INCOMPLETE])


def _of_verdict(group: Group, run: Result, devices: int) -> Worry:
    verdict = run.verdict()
    failures = [line.plain for line in run_tables.failures(run)]
    why = {INCOMPLETE: "the run did not end", NOT_CHECKED: "nothing was compared with what is right"}
    said = why.get(verdict) or (failures or [f"exit code {run.document['run']['exit_code']}"])[0]
    words = next_steps.checked(run, devices) if verdict == NOT_CHECKED else next_steps.again(run, devices)
    return Worry(
        WRONG, group.benchmark, _about(group, devices), f"{verdict}, {said}", words, SEVERITIES[verdict]
    )


def _without_limits(group: Group) -> list[Worry]:
    """A device of this host of which no limits are known, by which nothing says how good its results are."""
    run = group.runs[0]
    is_of_limits = run.device["class"] in ("cpu", "gpu") and not run.device["emulated"]
    is_modelled = models.find(group.benchmark) is not None
    if group.known is not None or not is_of_limits or not is_modelled or not next_steps.is_here(run):
        return []
    return [Worry(UNKNOWN, "", run.device["name"], "its limits were not measured", ("systems", "new"), 1.0)]


def _far_from_model(group: Group, metric: Metric, devices: int) -> Worry:
    row, run = metric.row, group.runs[0]
    is_measured_here = next_steps.is_here(run) and run.device["class"] in ("cpu", "gpu")
    words = ("systems", "new", "--again") if is_measured_here else next_steps.table_of(run)
    measured = f"{_named(metric)}{number(row.best)} {row.unit}"
    what = f"{measured}, model {percent(row.error, signed=True)}"
    return Worry(
        MODEL, group.benchmark, _about(group, devices), what, words, doublings(1 + (row.error or 0.0))
    )


def _of_share(share: Share, devices: int) -> list[Worry]:
    """A headline metric that is far from its limit, or whose repetitions differ; none of a wrong result."""
    group = share.headline.group
    if share.headline.verdict != "valid":
        return []
    found = []
    if share.share is not None and not FAR_FROM_LIMIT <= share.share <= run_tables.CREDIBLE_EFFICIENCY:
        why, words = _of_limit(share, devices)
        what = f"{percent(share.share)} of the limit{f' ({why})' if why else ''}"
        found.append(
            Worry(LIMIT, group.benchmark, _about(group, devices), what, words, doublings(share.share))
        )
    noisy = _of_noise(share, devices)
    return [*found, noisy] if noisy is not None else found


def _of_noise(share: Share, devices: int) -> Worry | None:
    """Repetitions that differ, and what disturbed them, with what to do about it."""
    group, disturbance = share.headline.group, share.disturbance
    apart = share.spread if share.spread is not None and share.spread > NOISY else 0.0
    if not apart and disturbance is None:
        return None
    parts = [f"noisy: best and median are {percent(apart)} apart"] * bool(apart)
    parts += [disturbance.sentence] if disturbance is not None else []
    run = group.runs[0]
    words = next_steps.more_repetitions(run, devices) if apart else next_steps.again(run, devices)
    severity = doublings(1 + apart + (disturbance.share if disturbance is not None else 0.0))
    return Worry(NOISE, group.benchmark, _about(group, devices), "; ".join(parts), words, severity)


def _of_limit(share: Share, devices: int) -> tuple[str, Words]:
    """(why, command) of a metric far below its limit, or above."""
    run = share.headline.group.runs[0]
    if (share.share or 0.0) > 1:
        words = ("calibrate", "--again") if next_steps.is_here(run) else next_steps.table_of(run)
        return "which was measured too low", words
    why, words = next_steps.faster(run, devices)
    is_explained = share.metric.row.modelled is not None and not share.is_off
    return why or (f"the model says why: {share.metric.row.bottleneck}" if is_explained else ""), words


def _named(metric: Metric) -> str:
    return f"{families.metric_text(metric.measurement.name, metric.measurement.axes)} "


def _importance(share: Share) -> tuple:
    """Wrong ones first, then those furthest from their limit, then those without one."""
    verdict = share.headline.verdict
    rank = next((place for place, name in enumerate(SEVERITIES) if verdict.startswith(name)), len(SEVERITIES))
    return rank, share.share is None, share.share or 0.0, share.headline.benchmark


def _largest(value: float | None) -> tuple:
    return value is None, -(value or 0.0)


# What `report --sort` may name.
ORDERS: dict[str, Callable[[Share], tuple]] = {
    DEFAULT_ORDER: _importance,
    "name": lambda share: (share.headline.benchmark, share.headline.device),
    "share": lambda share: _largest(share.share),
    "error": lambda share: _largest(
        abs(share.metric.row.error) if share.metric.row.error is not None else None
    ),
    "spread": lambda share: _largest(share.spread),
}


def groups_in_order(groups: Sequence[Group], order: str) -> list[Group]:
    """Groups as their shares would stand. Raises FabricmarkError (2) for an unknown order."""
    check_known(order, ORDERS, f"there is no order {order!r}")
    key = {
        id(group): ORDERS[order](_share(Headline.of_group(group, metric)))
        for group in groups
        for metric in headlines.metrics_of(group)[:1]
    }
    return sorted(groups, key=lambda group: key[id(group)])


def ordered(shares: Sequence[Share], order: str) -> list[Share]:
    """Raises FabricmarkError (2) for an unknown order."""
    check_known(order, ORDERS, f"there is no order {order!r}")
    return sorted(shares, key=ORDERS[order])
