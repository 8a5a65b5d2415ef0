"""`fabricmark check`: a verdict for each metric of each node, tonight beside what is normal
(docs/sites.md)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fabricmark.compare.comparison import SINGLE_RUN_FACTOR
from fabricmark.sites import evidence
from fabricmark.sites.against import NIGHTS, Against, Chosen
from fabricmark.sites.evidence import Rule
from fabricmark.sites.nights import Night, Series, matrix

PASSED, SLOWER, SUSPECT, BROKEN, UNCLEAR, NEW = "passed", "slower", "suspect", "broken", "unclear", "new"
STATES = (PASSED, SLOWER, SUSPECT, BROKEN, UNCLEAR, NEW)
FALSE_ALARMS = 1e-3  # a night, over all series together: one in about three years of nights
TOLERANCE = 0.02
AT_ONCE = 0.2
LEAST_NODES = 3  # of a metric, for a row of all of them together
CONFIDENCE = 0.95  # of the interval that is shown


@dataclass(frozen=True)
class Settings:
    """`tolerance`: losses up to this share never count, "" for all metrics or by their name; `at_once`:
    from this loss on one night is enough; `false_alarms`: a night, over all series; `nights`: over which
    evidence adds up; `missing_counts`: whether what has no result tonight is broken."""

    tolerance: Mapping[str, float] = field(default_factory=lambda: {"": TOLERANCE})
    at_once: float = AT_ONCE
    false_alarms: float = FALSE_ALARMS
    nights: int = NIGHTS
    missing_counts: bool = True

    def smallest(self, series: Series) -> float:
        """Loss below which nothing counts [logarithm]."""
        by_name = [share for name, share in self.tolerance.items() if name and name in series.label.split()]
        return lost(max(by_name, default=self.tolerance.get("", TOLERANCE)))


def lost(share: float) -> float:
    """The logarithm of a loss of this share."""
    return -math.log1p(-min(share, 1 - 1e-12))


@dataclass(frozen=True)
class Row:
    """One series, or all nodes of a metric together. `loss`: share of the baseline, negative where it is
    faster; `interval` of it; `chance`: nights without a loss of which one would look so, among all series;
    `found`: the smallest loss that is found; `over`: nights of evidence; None where unknown."""

    series: Series
    state: str
    value: float | None = None
    reference: float | None = None
    loss: float | None = None
    interval: tuple[float, float] | None = None
    chance: float | None = None
    found: float | None = None
    over: int = 1
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """`rows`: of every series; `together`: metrics that are slower on all nodes, whose series are among the
    rows; `of_base`: nights of the baseline; `over`: nights of evidence."""

    rows: list[Row]
    together: list[Row]
    against: Against
    of_base: int
    over: int
    started: str
    settings: Settings

    def count(self, state: str) -> int:
        return sum(row.state == state for row in self.rows)

    @property
    def exit_code(self) -> int:
        return 1 if self.count(SLOWER) + self.count(BROKEN) else 0


def judge(tonight: Night, chosen: Chosen, against: Against, settings: Settings) -> Verdict:
    """Every series of tonight and of the baseline."""
    usual = _usual(chosen.base)
    series = sorted({*tonight.values, *usual}, key=lambda one: (one.label, one.metric, one.node))
    here = [one for one in series if one in tonight.values]
    looked = min(settings.nights, len(chosen.before) + 1)
    values = matrix([*chosen.before[len(chosen.before) - looked + 1 :], tonight], here)
    base = _baseline(here, chosen, values)
    groups = _groups(here)
    smallest = np.array([settings.smallest(one) for one in here])
    rule = evidence.shared(base, smallest, settings.false_alarms / 2, looked)  # half: all nodes together
    found = evidence.judge(values, base, rule, smallest, lost(settings.at_once))
    rows = [_row(one, place, values, base, found, rule) for place, one in enumerate(here)]
    together, members = _together(here, groups, values, base, chosen, settings)
    rows = [_with_all(row, place in members) for place, row in enumerate(rows)]
    rows = [_with_disturbance(row, tonight) for row in rows]
    rows += _broken(tonight, [one for one in series if one not in tonight.values], settings)
    return Verdict(rows, together, against, len(chosen.base), looked, tonight.started, settings)


def _usual(base: Sequence[Night]) -> list[Series]:
    """The series that at least half of the nights have."""
    counts: dict[Series, int] = {}
    for night in base:
        for one in night.values:
            counts[one] = counts.get(one, 0) + 1
    return [one for one, count in counts.items() if 2 * count >= len(base)]


def _groups(series: Sequence[Series]) -> np.ndarray:
    """A number for each metric: its nodes share their spread."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(one.metric, len(numbers)) for one in series], dtype=int)


def _baseline(series: Sequence[Series], chosen: Chosen, values: np.ndarray) -> evidence.Baseline:
    """With `last` the spread is that of all older nights; of one alone, that of the nodes' changes since."""
    groups = _groups(series)
    base = matrix(chosen.base, series)
    if chosen.spread == chosen.base and len(chosen.base) > 1:
        return evidence.baseline(base, groups)
    spread = matrix(chosen.spread, series) if len(chosen.spread) > 1 else np.hstack([base, values[:, -1:]])
    of_all = evidence.baseline(spread, groups)
    nights = np.isfinite(base).sum(axis=1)
    return replace(of_all, centre=evidence.median(base), nights=nights)


def _row(
    series: Series,
    place: int,
    values: np.ndarray,
    base: evidence.Baseline,
    found: evidence.Evidence,
    rule: Rule,
) -> Row:
    value = math.exp(series.sign * values[place, -1])
    if not np.isfinite(base.centre[place]):
        return Row(series, NEW, value, reason="the baseline has no value of it")
    reference = math.exp(series.sign * base.centre[place])
    loss = float(found.loss[place])
    known = bool(np.isfinite(base.scale[place]))
    state, reason = PASSED, ""
    if found.slower[place]:
        state = SLOWER
    elif not known:
        tonight = base.centre[place] - values[place, -1]
        state = SLOWER if tonight > math.log(SINGLE_RUN_FACTOR) else UNCLEAR
        reason = "how much nights differ is unknown"
    elif found.suspect[place]:
        several = "outliers of this metric may be like these nights: the next one tells"
        state, reason = SUSPECT, several if found.over[place] > 1 else "one night alone: the next one tells"
    interval = None
    if known:
        reach = standard_errors(base.freedom[place]) * found.error[place]
        interval = (share_of(loss - reach), share_of(loss + reach))
    chance = 1 / max(float(found.chance[place]) * rule.series * rule.nights, 1e-300) if known else None
    smallest = share_of(float(found.found[place])) if known else None
    over = int(found.over[place])
    return Row(series, state, value, reference, share_of(loss), interval, chance, smallest, over, reason)


def share_of(logarithm: float) -> float:
    """A loss as a share of the baseline; of times too: how much of the speed has gone."""
    return -math.expm1(-logarithm) if logarithm > -600 else -math.inf


def standard_errors(freedom: float) -> float:
    """Between a loss and the ends of its interval."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1), 0.5 + CONFIDENCE / 2))


def _together(
    series: Sequence[Series],
    groups: np.ndarray,
    values: np.ndarray,
    base: evidence.Baseline,
    chosen: Chosen,
    settings: Settings,
) -> tuple[list[Row], set[int]]:
    """Metrics whose nodes are slower as one, which shows at smaller losses; and the places of these nodes.

    The value of a night is the median of the nodes' deviations from their own centres.
    """
    spread = matrix(chosen.spread, series) - base.centre[:, None]
    now = values - base.centre[:, None]
    wide = [np.flatnonzero((groups == one) & np.isfinite(now[:, -1])) for one in np.unique(groups)]
    wide = [members for members in wide if len(members) >= LEAST_NODES]
    if not wide or len(chosen.spread) < 2:
        return [], set()
    older, newer = (
        np.array([evidence.median(part[members].T) for members in wide]) for part in (spread, now)
    )
    common = evidence.baseline(older, np.arange(len(wide)))
    if chosen.spread != chosen.base:  # `last`: its own night is what counts
        common = replace(common, centre=older[:, -1], nights=np.ones(len(wide)))
    smallest = np.array([settings.smallest(series[members[0]]) for members in wide])
    rule = evidence.shared(common, smallest, settings.false_alarms / 2, newer.shape[1])
    found = evidence.judge(newer, common, rule, smallest, lost(settings.at_once))
    rows, slower = [], set()
    for place, members in enumerate(wide):
        if found.slower[place]:
            first = series[members[0]]
            named = Series(first.metric, f"all {len(members)} nodes", *_rest(first))
            row = _row(named, place, newer, common, found, rule)
            rows.append(Row(named, SLOWER, None, None, *_known(row)))
            off = base.centre[members] - values[members, -1]
            slower |= {int(each) for each in members[off > smallest[place]]}
    return rows, slower


def _rest(series: Series) -> tuple[str, str, str, str]:
    return series.benchmark, series.label, series.unit, series.better


def _known(row: Row) -> tuple:
    return row.loss, row.interval, row.chance, row.found, row.over, "on all nodes together"


def _with_all(row: Row, is_member: bool) -> Row:
    if not is_member or row.state == SLOWER:
        return row
    known = (row.value, row.reference, row.loss, row.interval, row.chance, row.found, row.over)
    return Row(row.series, SLOWER, *known, "with all nodes")


def _with_disturbance(row: Row, tonight: Night) -> Row:
    """What else the node did, where that may be why it is slower."""
    what = tonight.disturbed.get((row.series.benchmark, row.series.node), "")
    if not what or row.state not in (SLOWER, SUSPECT, UNCLEAR):
        return row
    return replace(row, reason=f"{row.reason}; {what}" if row.reason else what)


def _broken(tonight: Night, missing: Sequence[Series], settings: Settings) -> list[Row]:
    """What has no valid result tonight: a line for each metric that the baseline has, or for the run."""
    told: set[tuple[str, str]] = set()
    rows = []
    for one in missing:
        place = (one.benchmark, one.node)
        fault = tonight.broken.get(place)
        told.add(place)
        if fault or settings.missing_counts:
            rows.append(Row(one, BROKEN, reason=fault or "no result tonight"))
    for (benchmark, node), fault in tonight.broken.items():
        if (benchmark, node) not in told:
            rows.append(Row(Series("", node, benchmark, benchmark, "", "higher"), BROKEN, reason=fault))
    return rows
