"""Is a series of nights slower than its baseline? Cumulative evidence over a few nights, at a chosen rate of
false alarms.

All values are natural logarithms, positive when better; a series is one metric on one node. Tonight's and the
nights before it are compared with a baseline of older ones:

- **Spread.** The scale of a metric is that of its nodes' deviations from their own medians over the baseline,
  pooled over the nodes: first the median absolute deviation with its factor for small samples (Croux and
  Rousseeuw, Time-efficient algorithms for two highly robust estimators of scale, 1992), then the standard
  deviation of what lies within CUT of it, made consistent for the cut (the reweighted estimator of
  Rousseeuw and Leroy, Robust Regression and Outlier Detection, 1987, sections 4 and 5). A node whose own
  spread is larger than chance explains (F test) has its own.
- **Score.** z = (baseline - night) / (scale sqrt(1 + k/n)), n the nights of the baseline, k those looked
  at, which share its error; through Student's t to a normal score, so that few nights make wide limits.
- **Level.** The accepted false alarms a night are a union bound (Bonferroni) over series, windows and
  outliers. A series' part a follows from what it needs (`shared`): Q(a) = D/2 + l/D, D the loss that is to
  be found in standard errors of K nights, l the same for all. That finds the most losses altogether at a
  given number of false alarms (Spjotvoll, Annals of Mathematical Statistics 43, 1972; Roeder and Wasserman,
  Statistical Science 24, 2009): quiet series leave theirs to noisy ones.
- **Limit.** The sum of the last K nights over sqrt(K) beyond the score of its part, which is the most
  powerful test of a loss that began with them (Neyman and Pearson); of shorter windows, which find large
  losses sooner, with SHORT of it. What one night makes likely is told before it is proven, by Page's
  cumulative sum: sum(z - kappa) > h over the last 2 to K nights. It raises its first false alarm after
  ARL = (exp(2 kappa b) - 2 kappa b - 1) / (2 kappa^2) nights on average, b = h + 1.166 (Siegmund,
  Sequential Analysis, 1985). kappa is half of the shift d that it finds within K nights with a probability
  of DESIGN_POWER, K (d - kappa) - h = z_p sqrt(K) (Lorden 1971, Moustakides 1986).
- **Outliers.** One night alone proves nothing: without its largest night a window must still speak for a
  loss of more than what never counts. With a share e of outliers in the baseline, chance makes an outlier
  and such a rest with a probability of e Q(zc); zc is chosen so that this is BY_OUTLIERS of the rate of a
  series. e is that of losses beyond CUT, without what a normal distribution has there and without those of
  another level: of all metrics, or where the metric has more, halfway to its own.
  More nights of a window may be outliers, as where other programs worked on the host for long: a night is
  as slow as it is with max(Q(z), e exp(-(x - CUT) / t)), x its loss in scales, t how far outliers of the
  metric lie beyond CUT on average; of all its nights together that must be within the rate, too, of which
  every series has an equal part here, as outliers do not follow from the spread of other nights.
  A loss so large that one night is enough must be larger than any that a night of this metric's baseline
  had and the next one had not.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

MAD_TO_DEVIATION = 1.4826  # of a normal distribution
SMALL_SAMPLE = (1.0, 1.0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107)  # by number of values
CUT = 3.5  # scales beyond which a night of the baseline is an outlier
OVERSHOOT = 1.166  # twice 0.583, what a sum of normal steps is beyond its limit on average (Siegmund)
DESIGN_POWER = 0.9
STATED_POWER = 0.99  # of the smallest loss that is found
BY_OUTLIERS = 0.5  # of the accepted false alarms: an outlier beside ordinary nights
SHORT = 0.1  # of the false alarms of a series: by each window of fewer nights
AIM = 1.5  # times what never counts: the loss of which the most are to be found
LONGEST = 3  # nights of outliers in a row
LEAST_OWN = 5  # nights from which on a node's outliers are told by its own deviations, too
OWN_SPREAD_LEVEL = 0.01  # at which a node has a spread of its own
LEAST_LEVEL = 1e-300  # a probability that double precision has
SMALLEST_SCALE = 1e-9  # of values that never change: the tolerance decides then


@dataclass(frozen=True)
class Rule:
    """When a loss is one. `series`: how many share `rate`, the false alarms a night that are accepted among
    all of them, were all parts as large as the largest one; `nights`: over how many the evidence adds up (1:
    tonight alone counts); `levels`: the part of each series, where they are unequal (None: equal ones)."""

    series: float
    rate: float
    nights: int
    levels: np.ndarray | None = None

    @property
    def of_one(self) -> float:
        """False alarms a night that one series may raise, of those with the largest part."""
        return self.rate / max(self.series, 1)

    @cached_property
    def of_each(self) -> np.ndarray:
        """The same of every series; of one that has none, as little as a score has."""
        return np.maximum(np.array([self.of_one]) if self.levels is None else self.levels, LEAST_LEVEL)

    @cached_property
    def alone(self) -> np.ndarray:
        """The normal score beyond which one night is no chance."""
        from scipy.special import ndtri  # here: its import would slow every other command down

        return -ndtri(self.of_each)

    @cached_property
    def reference(self) -> float:
        """kappa: what a night has to be off by to speak for a loss [scales]."""
        return self._shift(DESIGN_POWER) / 2

    @cached_property
    def limit(self) -> float:
        """h: what the sum has to reach [scales]."""
        return limit(self.reference, 1 / self.of_one)

    def beyond(self, count: int) -> np.ndarray:
        """The normal score that `count` nights together must be beyond."""
        from scipy.special import ndtri

        return -ndtri(self.of_each * (1 - BY_OUTLIERS) * self._share(count))

    def of(self, first: int, count: int) -> "Rule":
        """The same rule for `count` of its series, from place `first` on."""
        return self if self.levels is None else replace(self, levels=self.levels[first : first + count])

    def _share(self, count: int) -> float:
        """Of the false alarms of a series, by windows of so many nights."""
        return SHORT if count < self.nights else 1 - SHORT * (self.nights - 2)

    @property
    def needed(self) -> np.ndarray:
        """What a night has to be off by for an alarm, each of `nights` alike [scales]."""
        return self.alone if self.nights == 1 else self.beyond(self.nights) / math.sqrt(self.nights)

    def found(self) -> float:
        """The loss that is found within `nights` with a probability of STATED_POWER [scales]; of series that
        share alike."""
        return float(self.needed[0]) + self.margin

    @property
    def margin(self) -> float:
        """What a loss is more than `needed`, so that noise seldom hides it [scales]."""
        from scipy.special import ndtri

        return float(ndtri(STATED_POWER)) / math.sqrt(self.nights)

    def rest(self, outliers: np.ndarray, count: int) -> np.ndarray:
        """zc: the score that `count` nights but the largest need, with these shares of outliers."""
        from scipy.special import ndtri

        accepted = self.of_each * BY_OUTLIERS * self._share(count)
        return -ndtri(np.minimum(0.5, accepted / self.nights / np.maximum(outliers, self.of_each)))

    def rest_needed(self, outliers: np.ndarray) -> np.ndarray:
        """What a night has to be off by for `rest`, with a probability of STATED_POWER [scales].

        The largest of K normal values is about ndtri((K - 3/8) / (K + 1/4)) on average (Blom 1958).
        """
        from scipy.special import ndtri

        if self.nights == 1:
            return np.zeros_like(outliers)
        others = self.nights - 1
        largest = float(ndtri((self.nights - 0.375) / (self.nights + 0.25)))
        margin = float(ndtri(STATED_POWER)) / math.sqrt(others)
        return self.rest(outliers, self.nights) / math.sqrt(others) + largest / others + margin

    def _shift(self, power: float) -> float:
        from scipy.optimize import brentq
        from scipy.special import ndtri

        beyond = float(ndtri(power)) * math.sqrt(self.nights)

        def left(shift: float) -> float:
            return self.nights * shift / 2 - limit(shift / 2, 1 / self.of_one) - beyond

        return float(brentq(left, 0.1, 100.0))


def limit(reference: float, run_length: float) -> float:
    """h of a cumulative sum whose first false alarm comes after `run_length` steps on average (Siegmund)."""
    from scipy.optimize import brentq

    wanted = math.log(2 * reference**2 * run_length)

    def left(height: float) -> float:
        exponent = 2 * reference * height
        return exponent + math.log1p(-(exponent + 1) * math.exp(-exponent)) - wanted

    return max(float(brentq(left, 1e-6, (wanted + 40) / reference)) - OVERSHOOT, 0.0)


@dataclass(frozen=True)
class Baseline:
    """Of each series: centre, scale between nights (NaN where unknown), degrees of freedom of the scale, and
    nights. `outliers`: share of the values that are some; `tail`: how far their losses are beyond CUT on
    average; `worst`: largest loss of one night of its metric [logarithms]."""

    centre: np.ndarray
    scale: np.ndarray
    freedom: np.ndarray
    nights: np.ndarray
    outliers: np.ndarray
    tail: np.ndarray
    worst: np.ndarray


def baseline(values: np.ndarray, groups: np.ndarray) -> Baseline:
    """Of values (series x nights, NaN where there is none); series of one group share their spread."""
    from scipy.special import ndtr

    nights = np.isfinite(values).sum(axis=1)
    centre = median(values)
    deviations = values - centre[:, None]
    kept, raw = np.isfinite(values), np.full(len(values), np.nan)
    for members in _members(groups):
        several = members[nights[members] > 1]
        if len(several):
            raw[members] = _mad(deviations[several], nights[several])
    own = np.where(nights >= LEAST_OWN, MAD_TO_DEVIATION * median(np.abs(deviations)), 0.0)
    raw = np.maximum(raw, own)
    kept &= ~(np.abs(deviations) > CUT * np.maximum(raw, SMALLEST_SCALE)[:, None])
    counts = kept.sum(axis=1)
    # A series of two levels lies between them: its median stands, and it says nothing of the spread.
    centre = np.divide(np.where(kept, values, 0).sum(axis=1), counts, out=centre, where=counts > 0)
    squares = np.where(kept, values - centre[:, None], 0.0) ** 2
    scale, freedom = _scales(squares.sum(axis=1), counts, groups)
    lost = np.nan_to_num(centre[:, None] - values, nan=0.0)
    usual = float(ndtr(-CUT))  # of losses that are no outliers
    is_cut = _passing(~kept & (lost > 0)) & (counts > 0)[:, None]
    cut = is_cut.sum(axis=1)
    excess = np.where(is_cut, lost - CUT * np.nan_to_num(scale)[:, None], 0.0)
    shares, tail, worst = (np.zeros(len(values)) for _ in range(3))
    # Laplace: that none was seen does not mean that there is none.
    of_all = (max(cut.sum() - usual * nights.sum(), 0) + 1) / (nights.sum() + 2)
    for members in _members(groups):
        total = nights[members].sum()
        more = max(cut[members].sum() - usual * total, 0)
        shares[members] = max(of_all, (more + of_all * total) / max(2 * total, 1))
        tail[members] = max(excess[members].sum(), 0.0) / max(cut[members].sum(), 1)
        worst[members] = np.max(lost[members], initial=0.0)
    return Baseline(centre, scale, freedom, np.where(counts > 0, counts, nights), shares, tail, worst)


def _passing(is_cut: np.ndarray) -> np.ndarray:
    """Those nights beyond the cut that are outliers: more than LONGEST in a row are another level."""
    ahead, behind = is_cut.astype(int), is_cut.astype(int)
    for night in range(1, is_cut.shape[1]):
        ahead[:, night] *= ahead[:, night - 1] + 1
        behind[:, -1 - night] *= behind[:, -night] + 1
    return is_cut & (ahead + behind - 1 <= LONGEST)


def shared(base: Baseline, smallest: np.ndarray, rate: float, nights: int) -> Rule:
    """The rule for all series of a baseline. `smallest`: losses below it never count [logarithm, one a
    series].

    A series' part is the tail beyond D/2 + l/D (D: AIM times `smallest` in standard errors, or where that is
    more what an equal part finds), and no more than what its noise reaches: such evidence is of two nights
    at least, each of `smallest` on average, or of one where `nights` is 1. l makes them `rate` together.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    known = np.isfinite(base.scale)
    levels = np.zeros(len(base.scale))
    if not known.any() or rate >= known.sum() / 2:
        return Rule(max(float(known.sum()), 1.0), rate, nights)
    least = smallest[known] / _widened(base, nights)[known]
    never, wanted = (_normal(times * least[:, None], base.freedom[known])[:, 0] for times in (1.0, AIM))
    reached = np.minimum(ndtr(-never * math.sqrt(min(nights, 2))), rate)
    equal = float(ndtri(DESIGN_POWER) - ndtri(rate / known.sum()))
    aim = np.maximum(wanted * math.sqrt(nights), equal)

    def part(factor: float) -> np.ndarray:
        return np.minimum(ndtr(-(aim / 2 + factor / aim)), reached)

    lowest, highest = -(float(np.max(aim)) ** 2), equal * 80.0
    if part(lowest).sum() <= rate:  # all of them are quiet
        levels[known] = part(lowest)
        return Rule(1.0, rate, nights, levels)
    levels[known] = part(float(brentq(lambda factor: part(factor).sum() - rate, lowest, highest)))
    return Rule(rate / float(levels.max()), rate, nights, levels)


def _widened(base: Baseline, nights: int) -> np.ndarray:
    """Scale of a night's distance from the centre, whose own error `nights` of them share."""
    return base.scale * np.sqrt(1 + nights / np.maximum(base.nights, 1))


def _scales(squares: np.ndarray, counts: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale and degrees of freedom of each series: its group's, or its own where that is larger."""
    from scipy.special import fdtri

    scale, freedom = np.full(len(counts), np.nan), np.zeros(len(counts))
    own = np.maximum(counts - 1, 0)
    for members in _members(groups):
        degrees = int(own[members].sum())
        if degrees < 1:
            continue
        alone = own[members] > 1
        variances = squares[members] / np.maximum(own[members], 1)
        rest = np.maximum(degrees - own[members], 1)
        others = (squares[members].sum() - squares[members]) / rest
        bound = fdtri(np.maximum(own[members], 1), rest, 1 - OWN_SPREAD_LEVEL) * others
        is_wider = alone & (degrees > own[members]) & (variances > bound)
        wider, alike = members[is_wider], members[~is_wider]
        degrees = int(own[alike].sum())
        scale[alike] = math.sqrt(squares[alike].sum() / max(degrees, 1))
        freedom[alike] = degrees
        scale[wider] = np.sqrt(squares[wider] / own[wider])
        freedom[wider] = own[wider]
    return np.maximum(scale / _cut_share(), SMALLEST_SCALE), freedom


def _cut_share() -> float:
    """Standard deviation of a normal distribution cut off at CUT."""
    density = math.exp(-(CUT**2) / 2) / math.sqrt(2 * math.pi)
    return math.sqrt(1 - 2 * CUT * density / math.erf(CUT / math.sqrt(2)))


def _members(groups: np.ndarray) -> list[np.ndarray]:
    """Places of each group's series."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(order) else []


def _mad(deviations: np.ndarray, nights: np.ndarray) -> float:
    """Scale of the pooled deviations, with the factor for as many nights as a series has."""
    count = int(np.median(nights))
    factor = SMALL_SAMPLE[count] if count < len(SMALL_SAMPLE) else count / (count - 0.8)
    pooled = np.abs(deviations[np.isfinite(deviations)])
    return MAD_TO_DEVIATION * factor * float(np.median(pooled))


def median(values: np.ndarray) -> np.ndarray:
    """Of each row, without its NaNs; NaN where nothing is left."""
    ordered = np.sort(values, axis=-1)  # NaNs come last
    counts = np.isfinite(values).sum(axis=-1)
    rows = np.arange(len(values))
    low, high = np.maximum(counts - 1, 0) // 2, np.maximum(counts, 1) // 2
    return (
        (ordered[rows, low] + ordered[rows, high]) / 2 if values.shape[-1] else np.full(len(values), np.nan)
    )


@dataclass(frozen=True)
class Evidence:
    """Of each series: is it a loss (`slower`), would one more night make it one (`suspect`); `loss` and
    `interval` of it [logarithm, positive: slower]; `chance`: of such evidence in a night without a loss;
    `found`: the loss that would be found [logarithm]; `over`: nights that speak for it. NaN where there is
    no baseline."""

    slower: np.ndarray
    suspect: np.ndarray
    loss: np.ndarray
    error: np.ndarray
    chance: np.ndarray
    found: np.ndarray
    over: np.ndarray


def judge(nights: np.ndarray, base: Baseline, rule: Rule, smallest: np.ndarray, at_once: float) -> Evidence:
    """The newest nights (series x up to rule.nights, the last one tonight) beside their baseline.

    `smallest`: losses below it never count [logarithm, one a series]; `at_once`: from this loss on one night
    is enough, where it is no chance.
    """
    from scipy.special import ndtr

    looked = nights[:, -rule.nights :]
    lost = base.centre[:, None] - looked
    wide = _widened(base, rule.nights)
    scores = np.nan_to_num(_normal(lost / wide[:, None], base.freedom), nan=0.0, posinf=40.0, neginf=-40.0)
    tonight = np.nan_to_num(lost[:, -1], nan=0.0)
    alone = (scores[:, -1] > rule.alone) & (tonight >= smallest)
    slower = alone & (tonight >= np.maximum(at_once, base.worst)) if rule.nights > 1 else alone
    over = np.ones(len(looked), dtype=int)
    best = scores[:, -1].copy()
    suspect = alone.copy()
    for count in range(2, looked.shape[1] + 1):
        window = scores[:, -count:]
        parts = np.nan_to_num(lost[:, -count:], nan=0.0)
        mean = parts.mean(axis=1)
        joined = window.sum(axis=1) / math.sqrt(count)
        rest = (window.sum(axis=1) - window.max(axis=1)) / math.sqrt(count - 1)
        left = (mean * count - parts.max(axis=1)) / (count - 1)
        # Only with tonight on its side: a loss that has gone is none.
        proven = (joined > rule.beyond(count)) & (rest > rule.rest(base.outliers, count))
        proven &= (left >= smallest) & (scores[:, -1] > 0)
        proven &= _unlikely(parts, window, base).sum(axis=1) > _by_outliers(base, rule)
        likely = ((window - rule.reference).sum(axis=1) > rule.limit) & (mean >= smallest)
        suspected = likely & (scores[:, -1] > rule.reference)
        longer = (proven | suspected) & (joined > best)
        over[longer], best[longer] = count, joined[longer]
        slower |= proven
        suspect |= suspected
    places = np.arange(looked.shape[1])[None, :] >= looked.shape[1] - over[:, None]
    loss = median(np.where(places, lost, np.nan))
    error = wide / np.sqrt(over)
    known = np.isfinite(base.scale)
    least = np.maximum(_from_normal(rule.needed, base.freedom) + rule.margin, rule.rest_needed(base.outliers))
    least = np.maximum(least * wide, _of_outliers(base, rule) + rule.margin * wide)
    found = np.where(known, least, np.nan)
    return Evidence(
        slower & known,
        suspect & ~slower & known,
        loss,
        np.where(known, error, np.nan),
        ndtr(-best),
        found,
        over,
    )


def _by_outliers(base: Baseline, rule: Rule) -> float:
    """-ln of the false alarms a night that one series may raise by outliers."""
    return -math.log(rule.rate / max(np.isfinite(base.scale).sum(), 1) * BY_OUTLIERS)


def _unlikely(lost: np.ndarray, scores: np.ndarray, base: Baseline) -> np.ndarray:
    """-ln of the chance of nights as slow as these, ordinary ones or outliers; series x nights."""
    from scipy.special import log_ndtr

    beyond = np.maximum(lost - (CUT * base.scale)[:, None], 0.0)
    rare = -np.log(np.maximum(base.outliers, LEAST_LEVEL))[:, None]
    return np.minimum(-log_ndtr(-scores), rare + beyond / np.maximum(base.tail, SMALLEST_SCALE)[:, None])


def _of_outliers(base: Baseline, rule: Rule) -> np.ndarray:
    """The loss of which so many nights alike are no outliers [logarithm]; 0 where they never are."""
    needed = _by_outliers(base, rule) / rule.nights + np.log(np.maximum(base.outliers, LEAST_LEVEL))
    return np.where((needed > 0) & (rule.nights > 1), CUT * base.scale + base.tail * needed, 0.0)


def _normal(scores: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Student's t as normal scores of the same probability; in the tail, where double precision has one."""
    from scipy.special import ndtri, stdtr

    tail = stdtr(np.maximum(freedom, 1)[:, None], -np.abs(scores))
    return np.sign(scores) * -ndtri(np.maximum(tail, 1e-300))


def _from_normal(score: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """The other way round."""
    from scipy.special import ndtr, stdtrit

    return -stdtrit(np.maximum(freedom, 1), ndtr(-score))
