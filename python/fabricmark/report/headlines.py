"""One line for each benchmark and device: what the report says before anything else."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from fabricmark import models
from fabricmark.base import kernels
from fabricmark.base.grouping import grouped
from fabricmark.report import run_tables
from fabricmark.report.groups import Group, Metric, field_text, worst_verdict

# Parameters by which two runs are of one problem, beside the work that is counted.
PROBLEM = ("size", "log_size", "batch", "data_type")


@dataclass(frozen=True)
class Headline:
    """The headline metric of a benchmark on a device: that of the best of its groups of runs.

    `verdict`: the worst of all these groups. `group`: the best one, of `groups`. `by_kernel`: the metric of
    the suite's design for FPGAs and of its optimized kernel, where both ran the same problem on the same
    ranks and are valid.
    """

    benchmark: str
    device: str
    kind: str
    group: Group
    groups: int
    metric: Metric
    verdict: str
    by_kernel: tuple[Metric, Metric] | None = None

    @staticmethod
    def of_group(group: Group, metric: Metric) -> "Headline":
        """Of one group of runs alone."""
        device = group.runs[0].device["name"]
        return Headline(group.benchmark, device, metric.row.kind, group, 1, metric, group.verdict())


def metrics_of(group: Group) -> list[Metric]:
    """A group's headline metric, one of each kind of time."""
    kinds = grouped((metric.row.kind, metric) for metric, _ in group.condensed)
    return [_metric_of(group, found) for found in kinds.values()]


def _metric_of(group: Group, found: Sequence[Metric]) -> Metric:
    """The best point of the headline metric among metrics of one kind; without it the first rate."""
    traits = models.traits(group.benchmark)
    chosen = [metric for metric in found if traits.is_headline(metric.measurement)]
    chosen = chosen or [metric for metric in found if metric.measurement.better == "higher"][:1] or found[:1]
    return best(chosen)


def best(metrics: Sequence[Metric]) -> Metric:
    """The largest rate or the shortest time."""
    sign = 1 if metrics[0].measurement.better == "higher" else -1
    return max(metrics, key=lambda metric: sign * metric.row.best)


def make(groups: Sequence[Group]) -> list[Headline]:
    """Headlines in the order of the groups; a valid group stands for its device before one that is not."""
    by_device: dict[tuple, list[tuple[Group, Metric]]] = {}
    for group in groups:
        device = group.runs[0].device
        for metric in metrics_of(group):
            key = (group.benchmark, device["name"], device["platform"], group.fields["host"], metric.row.kind)
            by_device.setdefault(key, []).append((group, metric))
    made = []
    for (benchmark, device, _, _, kind), found in by_device.items():
        candidates = [entry for entry in found if entry[0].verdict() == "valid"] or found
        chosen = best([metric for _, metric in candidates])
        group = next(group for group, metric in candidates if metric is chosen)
        verdicts = Counter(run.verdict() for other, _ in found for run in other.runs)
        worst = worst_verdict(verdicts)
        made.append(Headline(benchmark, device, kind, group, len(found), chosen, worst, _by_kernel(found)))
    return made


def _by_kernel(found: Sequence[tuple[Group, Metric]]) -> tuple[Metric, Metric] | None:
    """One metric of one problem with each kind of kernel, of the pair whose optimized kernel is best.

    None where no problem was run with both, or kernels have no part in it.
    """
    if models.traits(found[0][0].benchmark).is_host_code:
        return None
    valid = [(group, metric) for group, metric in found if group.verdict() == "valid"]
    designs, optimized = (
        grouped((_problem(*entry), entry[1]) for entry in valid if _is_of(entry[0], kernel))
        for kernel in (kernels.FPGA_DESIGN, kernels.OPTIMIZED)
    )
    pairs = [(best(designs[key]), best(own)) for key, own in optimized.items() if key in designs]
    chosen = best([fast for _, fast in pairs]) if pairs else None
    return next((pair for pair in pairs if pair[1] is chosen), None)


def _problem(group: Group, metric: Metric) -> tuple[Hashable, ...]:
    """What two kernels must have in common to be compared: ranks and how they are started, sizes and types
    of the data, and what is counted. Their other parameters are each kernel's own."""
    entry, parameters = metric.measurement, group.runs[0].document["parameters"]
    ranks = (group.fields["ranks"], group.fields["launch"])
    sizes = tuple(parameters.get(key) for key in PROBLEM)
    return *ranks, *sizes, entry.name, tuple(entry.axes.items()), entry.unit, entry.work_amount


def _is_of(group: Group, kernel: str) -> bool:
    """Whether a group's runs are of a kernel of the suite of this kind."""
    return all(
        run.document["run"][key] == wanted
        for run in group.runs
        for key, wanted in (("class", "base"), ("variant", kernel))
    )


def run_text(entry: Headline) -> str:
    """`2 ranks (best of 3)`: what beside the device tells the run from others."""
    return told(entry.group) + (f" (best of {entry.groups})" if entry.groups > 1 else "")


def told(group: Group) -> str:
    """`2 ranks`: what beside the device tells a group from others."""
    known = [field_text(*item) for item in group.coordinates.items() if item[0] != "device"]
    return ", ".join(known or [field_text("kernel", group.fields["kernel"])])


def reason(entry: Headline) -> str | None:
    """Why a headline is better than its limit; None where it is not."""
    above = run_tables.reason_above(entry.group.known, [entry.metric.row])
    return None if above is None else f"{entry.benchmark}, {above}"
