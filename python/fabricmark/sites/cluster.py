"""`fabricmark cluster`: the same runs on many nodes, and on pairs of them: which are slower than their peers.

Nothing older is needed: what is normal is what most nodes do. Of each metric the nodes' logarithms have a
centre and a scale that a few slow ones hardly move (`evidence.baseline`); a node is slow where its distance
has less than the accepted probability by chance, among all metrics, nodes and pairs of the look, and is
more than the tolerance.

What two nodes do together is split into what each of them costs and what is left to the link between them,
by alternating medians (Tukey's median polish, on a symmetric table): a slow node makes all its pairs slow
and is named once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import groupby

import numpy as np

from fabricmark.sites import evidence
from fabricmark.sites.check import Settings, share_of, standard_errors
from fabricmark.sites.evidence import Baseline, Rule
from fabricmark.sites.nights import JOINED, Night, Series

LEAST = 3  # nodes or pairs that have peers
LEAST_FOR_LINKS = 4  # nodes, from which on a slow node can be told from a slow link
ROUNDS = 20  # of alternating medians; a few settle it


@dataclass(frozen=True)
class Place:
    """A node or a pair with one metric. `loss`: share that it is slower than its peers, `interval` of it;
    `chance`: looks without a slow one of which one would look so; `found`: the smallest loss that would be
    found. `is_link`: what is left of a pair without its nodes."""

    series: Series
    name: str
    value: float | None
    usual: float
    loss: float
    interval: tuple[float, float]
    chance: float
    found: float
    is_slow: bool
    is_link: bool = False


@dataclass(frozen=True)
class View:
    """All places of a look; `broken`: by benchmark and node, why; `disturbed`: so what the host did while it
    measured; `nodes`, `pairs`: how many there are."""

    places: list[Place]
    broken: Mapping[tuple[str, str], str]
    disturbed: Mapping[tuple[str, str], str]
    nodes: list[str]
    pairs: list[str]
    metrics: int

    @property
    def slow(self) -> list[Place]:
        """The surest first."""
        return sorted((one for one in self.places if one.is_slow), key=lambda one: (-one.chance, -one.loss))

    @property
    def exit_code(self) -> int:
        return 1 if self.slow or self.broken else 0


@dataclass(frozen=True)
class Table:
    """Logarithms of one metric, larger is better, with their places; `is_link`: what is left of pairs."""

    series: list[Series]
    names: list[str]
    values: np.ndarray
    shown: list[float | None]
    lost_degrees: int = 0
    is_link: bool = False


def split(name: str) -> list[str]:
    """The nodes of a place: `n1+n2 device 1` has two."""
    return name.partition(" device ")[0].split(JOINED)


def view(night: Night, settings: Settings) -> View:
    """Every node and pair of a look beside its peers. `settings.false_alarms`: accepted a look."""
    tables = [table for table in _tables(night) if len(table.names) >= LEAST]
    bases = [_base(table) for table in tables]
    smallest = [np.full(len(table.names), settings.smallest(table.series[0])) for table in tables]
    rule = Rule(max(sum(len(table.names) for table in tables), 1), settings.false_alarms, 1)
    if tables:
        every = [_repeated(base, len(table.names)) for base, table in zip(bases, tables, strict=True)]
        together = Baseline(*(np.concatenate(part) for part in zip(*map(astuple, every), strict=True)))
        rule = evidence.shared(together, np.concatenate(smallest), settings.false_alarms, 1)
    places: list[Place] = []
    for table, base, least in zip(tables, bases, smallest, strict=True):
        places += _judged(table, base, rule.of(len(places), len(table.names)), float(least[0]))
    names = sorted({series.node for series in night.values} | {node for _, node in night.broken})
    alone = [name for name in names if len(split(name)) == 1]
    pairs = [name for name in names if len(split(name)) == 2]
    nodes = sorted({*alone, *(node for pair in pairs for node in split(pair))})
    return View(
        places, night.broken, night.disturbed, nodes, pairs, len({series.metric for series in night.values})
    )


def _tables(night: Night) -> list[Table]:
    """Of each metric one of the nodes; of pairs one of the nodes' parts and one of the links."""
    made = []
    ordered = sorted(night.values, key=lambda one: (one.label, one.metric, one.node))
    for _, group in groupby(ordered, key=lambda one: one.metric):
        series = list(group)
        for count in (1, 2):
            members = [one for one in series if len(split(one.node)) == count]
            if not members:
                continue
            values = np.array([one.sign * math.log(night.values[one]) for one in members])
            shown: list[float | None] = [night.values[one] for one in members]
            if count == 1:
                made.append(Table(members, [one.node for one in members], values, shown))
            else:
                made += _of_pairs(members, values, shown)
    return made


def _of_pairs(series: list[Series], values: np.ndarray, shown: list[float | None]) -> list[Table]:
    pairs = [split(one.node) for one in series]
    nodes = sorted({node for pair in pairs for node in pair})
    names = [one.node for one in series]
    if len(nodes) < LEAST_FOR_LINKS or len(pairs) < 2 * len(nodes) - 2:
        return [Table(series, names, values, shown, is_link=True)]
    parts, rest = polished(
        values, np.array([[nodes.index(node) for node in pair] for pair in pairs]), len(nodes)
    )
    first = series[0]
    own = [
        Series(first.metric, node, first.benchmark, first.label, first.unit, first.better) for node in nodes
    ]
    usual = float(np.median(values)) / 2  # so that a node's part and a pair have the same centre
    return [
        Table(own, nodes, parts + 2 * usual, [None] * len(nodes)),
        Table(series, names, rest + 2 * usual, shown, lost_degrees=len(nodes) - 1, is_link=True),
    ]


def polished(values: np.ndarray, pairs: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """(what each node adds, what is left of each pair) of values of pairs (count x 2 numbers of nodes).

    value = median + part of one + part of the other + rest; the parts' median is 0.
    """
    parts, centre = np.zeros(nodes), float(np.median(values))
    for _ in range(ROUNDS):
        for node in range(nodes):
            first, second = pairs[:, 0] == node, pairs[:, 1] == node
            others = np.concatenate(
                [values[first] - parts[pairs[first, 1]], values[second] - parts[pairs[second, 0]]]
            )
            if len(others):
                parts[node] = float(np.median(others)) - centre
        moved = float(np.median(parts))
        parts -= moved
        centre += 2 * moved
    return parts, values - centre - parts[pairs].sum(axis=1)


def _base(table: Table) -> Baseline:
    """Centre and scale of the places of a metric, each of one element."""
    base = evidence.baseline(table.values[None, :], np.zeros(1, dtype=int))
    freedom = np.maximum(base.freedom - table.lost_degrees, 1.0)
    scale = base.scale * np.sqrt(np.maximum(base.freedom, 1.0) / freedom)
    return replace(base, scale=scale, freedom=freedom)


def _repeated(base: Baseline, count: int) -> Baseline:
    """The same for each place of a table."""
    return Baseline(*(np.repeat(part, count) for part in astuple(base)))


def _judged(table: Table, base: Baseline, rule: Rule, smallest: float) -> list[Place]:
    every, least = _repeated(base, len(table.names)), np.full(len(table.names), smallest)
    found = evidence.judge(table.values[:, None], every, rule, least, math.inf)
    reach = standard_errors(base.freedom[0])
    places = []
    for at, (series, name) in enumerate(zip(table.series, table.names, strict=True)):
        loss, error = float(found.loss[at]), float(found.error[at])
        ends = (share_of(loss - reach * error), share_of(loss + reach * error))
        chance = 1 / max(float(found.chance[at]) * rule.series, 1e-300)
        usual = math.exp(series.sign * float(base.centre[0]))
        places.append(
            Place(
                series, name, table.shown[at], usual, share_of(loss), ends, chance,
                share_of(float(found.found[at])), bool(found.slower[at]), table.is_link,
            )
        )  # fmt: skip
    return places


def loss_of(night: Night, series: Sequence[Series]) -> dict[tuple[str, str], float]:
    """How much slower each pair is than the median of all, by its two nodes in either order."""
    values = {one: one.sign * math.log(night.values[one]) for one in series}
    centre = float(np.median(list(values.values())))
    found = {}
    for one, value in values.items():
        first, second = split(one.node)
        found[first, second] = found[second, first] = share_of(centre - value)
    return found
