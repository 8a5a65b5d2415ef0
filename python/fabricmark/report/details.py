"""Each group of runs in full: checks, all metrics, parameters, environment."""

from collections.abc import Iterable, Sequence

from fabricmark.report import tables
from fabricmark.report.groups import Group
from fabricmark.report.svg import text

MOST_DETAILED = 16  # groups of a benchmark
MOST_ROWS_OF_METRICS = 1500  # of all groups of a benchmark together


def listed(values: Iterable[object], *, most: int = 6) -> str:
    """Each value once, in a line."""
    unique = list(dict.fromkeys(str(value) for value in values))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return "; ".join(unique[:most]) + more


def of_groups(groups: Sequence[Group]) -> str:
    """One folded part a group, those with a wrong result first."""
    ordered = sorted(groups, key=lambda group: group.verdict() == "valid")
    shown: list[str] = []
    budget = MOST_ROWS_OF_METRICS
    for group in ordered[:MOST_DETAILED]:
        budget -= len(group.metrics)
        shown.append(of_group(group, budget >= 0))
    if len(groups) > MOST_DETAILED:
        words = f"{len(groups) - MOST_DETAILED} further groups are in the result files only."
        shown.append(f'<p class="left">{words}</p>')
    if not shown:
        return ""
    return f"<details><summary><h3>Runs in detail</h3></summary>{''.join(shown)}</details>"


def of_group(group: Group, with_metrics: bool) -> str:
    """All of one group."""
    run = group.runs[0].document
    environment = run["environment"]
    facts = [*environment["host"].items(), *environment["device"].items(), *environment["toolchain"].items()]
    ranks = environment["ranks"]
    count = "unknown" if ranks["count"] is None else ranks["count"]
    facts += [("ranks", f"{count} ({ranks['kind']})"), ("MPI library", ranks["mpi_library"])]
    facts += [("repetitions", run["repetitions"]["count"]), ("warm-up", run["repetitions"]["warmup"])]
    facts += [
        ("command", " ".join(run["run"]["command"])),
        ("files", listed(r.path.name for r in group.runs)),
    ]
    parts = [f"<p>{text(line)}</p>" for line in group.hints]
    parts.append(tables.verdicts(group))
    parts.append(tables.all_metrics(group) + tables.percentiles(group) if with_metrics else "")
    parts.append(tables.pairs(f"Parameters of {group.name}", run["parameters"].items()))
    parts.append(tables.pairs(f"Environment of {group.name}", facts))
    parts.append(tables.pairs(f"Variables of {group.name}", environment["variables"].items()))
    title = f"{group.label} ({group.verdict()})"
    return f"<details><summary>{text(title)}</summary>{''.join(parts)}</details>"
