"""What measured values tell of others: a Gaussian posterior over factors of a system's values, and over what
these do not explain.

ln(measured) = ln(model at the factors) + residual + noise. Factors have a prior width each, rates and times
of a machine one in common beside their own. Residuals are alike as likeness.py says. The model is linear in
the logs of the factors where it is evaluated (Gauss-Newton), so that all is one linear solve with
K = J S J' + R + N (Rasmussen and Williams 2006, eqs. 2.22 to 2.24).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabricmark.base import keys
from fabricmark.models import Prediction
from fabricmark.validate import intervals
from fabricmark.validate.scaled import ALL_RATES, ALL_TIMES, CURVES, Factor

# Standard deviations of ln of a factor before anything is measured.
OF_ALL = {ALL_RATES: 1.0, ALL_TIMES: 0.5}  # of all rates, and of all times, of a machine at once
OWN = {"seconds": 0.2, keys.SHARE: 0.1, keys.NUMBER: 0.05, "hertz": 0.03}
OWN_RATE = 0.1
OF_CURVES = 0.1
FPGA = "fpga"
# Of these, where published rows of the system had a part in the files: a rate by 1.5 %, as their median error
# is 1.0 %.
FITTED = 0.15


@dataclass(frozen=True)
class Place:
    """What a value is of. `metric`: name and operation; `run`: what one run measured together; `design`: the
    name of the bitstream, "" where none has a part in it. `spread`: how many times as wide as likeness says
    what nothing explains is on this machine."""

    benchmark: str
    system: str
    board: str
    transport: str
    metric: tuple[str, str]
    devices: int
    size: float
    design: str = ""
    device_class: str = FPGA
    spread: float = 1.0

    @property
    def pool(self) -> tuple[str, ...]:
        return (self.benchmark, self.system, self.board, self.transport)

    @property
    def run(self) -> tuple:
        return (*self.pool, self.devices)

    @property
    def is_over_link(self) -> bool:
        """Of copies between host and device alone."""
        return self.metric[1] in intervals.OVER_LINK


def metric_of(one: Prediction) -> tuple[str, str]:
    """Name and operation."""
    return (one.name, str(one.axes.get("operation", "")))


def width(factor: Factor) -> float:
    """The prior's, of the factor alone."""
    if factor.name in OF_ALL:
        return OF_ALL[factor.name]
    return OF_CURVES if factor.name == CURVES else OWN.get(factor.dimension, OWN_RATE)


def prior(factors: Sequence[Factor], fitted: Collection[Factor]) -> np.ndarray:
    """Covariance of ln of the factors; `fitted`: those whose values published rows had a part in."""
    return np.diag([((FITTED if one in fitted else 1.0) * width(one)) ** 2 for one in factors])


def alike(places: Sequence[Place], others: Sequence[Place]) -> np.ndarray:
    """Covariance of what the factors do not explain [places, others], without noise."""
    found = np.zeros((len(places), len(others)))
    for kind in {(one.pool, one.is_over_link) for one in places}:
        rows, columns = (
            [at for at, one in enumerate(side) if (one.pool, one.is_over_link) == kind]
            for side in (places, others)
        )
        if columns:
            apart = intervals.distances(
                [places[at] for at in rows], [others[at] for at in columns], lambda one: one.pool,
                lambda one: one.metric, lambda one: one.run,
            )  # fmt: skip
            found[np.ix_(rows, columns)] = intervals.covariance(_of(places[rows[0]]), apart)
    return found * np.multiply.outer(*([one.spread for one in side] for side in (places, others)))


def _of(one: Place) -> intervals.Likeness:
    """Published rows, from which the file is, are of FPGAs."""
    if one.device_class != FPGA:
        return intervals.UNKNOWN
    return intervals.likeness_of(one.benchmark, one.transport, of_copies=one.is_over_link)


def noise(place: Place) -> float:
    """Variance of ln of what nothing explains."""
    return (place.spread * _of(place).noise) ** 2


@dataclass(frozen=True)
class Posterior:
    """After `places` were measured: `jacobian` [places, factors] of ln values, `prior` of ln factors, and
    `misses` = ln(measured) - ln(model at factors of 1), linear in the factors."""

    places: Sequence[Place]
    jacobian: np.ndarray
    prior: np.ndarray
    misses: np.ndarray

    @cached_property
    def covariance(self) -> np.ndarray:
        explained = self.jacobian @ self.prior @ self.jacobian.T
        return explained + alike(self.places, self.places) + np.diag([noise(one) for one in self.places])

    @cached_property
    def inverse(self) -> np.ndarray:
        return np.linalg.inv(self.covariance)

    @cached_property
    def weights(self) -> np.ndarray:
        return self.inverse @ self.misses

    @cached_property
    def logs(self) -> np.ndarray:
        """Of the factors, most likely."""
        return self.prior @ self.jacobian.T @ self.weights

    def moved(self, factor: int) -> np.ndarray:
        """By how much each measured value moves ln of a factor [places]."""
        return (self.prior[factor] @ self.jacobian.T @ self.inverse) * self.misses

    def residual(self, place: Place) -> float:
        """ln of what a prediction with the most likely factors is to be multiplied by."""
        return float((alike([place], self.places) @ self.weights)[0])

    def _shared(self, place: Place, row: np.ndarray) -> np.ndarray:
        return self.jacobian @ self.prior @ row + alike([place], self.places)[0]

    def deviation(self, place: Place, row: np.ndarray) -> float:
        """Standard deviation of ln of one more measured value; `row`: its derivatives by the factors."""
        least = noise(place)
        own = row @ self.prior @ row + alike([place], [place])[0, 0] + least
        shared = self._shared(place, row)
        return float(np.sqrt(max(own - shared @ self.inverse @ shared, least)))

    def left_out(self, own: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """(mean, standard deviation) of ln(measured / model) of these places from all others."""
        block = np.linalg.inv(self.inverse[np.ix_(own, own)])
        means = self.misses[list(own)] - block @ self.weights[list(own)]
        return means, np.sqrt(np.diag(block))
