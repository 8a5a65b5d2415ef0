"""One system over one transport of a prediction: its points, how sure they are, and what has to be said."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabricmark.base import transports
from fabricmark.predict.certainty import Certainty
from fabricmark.predict.points import Point, PredictionRequest


@dataclass(frozen=True)
class Case:
    """`about`: lines for below a table, beside that of the certainty. `program`: whose it is (whose.py)."""

    request: PredictionRequest
    points: Sequence[Point]
    known: Certainty
    about: Sequence[str] = field(default=())
    program: str = ""

    @property
    def name(self) -> str:
        """In words, where there are several."""
        return f"{self.request.system.name}{transports.over(self.request.transport)}"

    @property
    def lines(self) -> list[str]:
        return [self.known.line, *self.about]

    def efficiency(self, one: Point) -> float | None:
        """Parallel efficiency: the headline metric of a device, over that with the fewest devices.

        Of a rate only; the points that it is compared with have the same values on all axes.
        """
        alike = [other for other in self.points if other.axes == one.axes]
        fewest = min(alike, key=lambda other: other.devices).headline
        least = min(other.devices for other in alike)
        if not one.headline.value or not fewest.value or not one.headline.unit.endswith("/s"):
            return None
        return one.headline.value / one.devices / (fewest.value / least)
