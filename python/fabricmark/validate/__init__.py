"""The proof that the models predict: published values beside what systems/*.toml and the models say.

A row with the role `test` is predicted from its system, bitstream, network and size; its relative error is
|predicted / measured - 1|, and one that cannot be predicted counts as 100 % and is named. Rows with the role
`calibration` are inputs: the hosts' MPI curves. docs/validation.md has the results.
"""

from dataclasses import dataclass
from functools import lru_cache

from fabricmark.validate.distribution import Spread, against_bars, grouped, spread, unpredicted
from fabricmark.validate.outcomes import Outcome, Predictor, loaded, predict_rows, read

__all__ = [
    "ErrorBar", "Outcome", "Predictor", "Spread", "against_bars", "error_bar", "grouped", "loaded",
    "predict_rows", "read", "spread", "unpredicted",
]  # fmt: skip


@dataclass(frozen=True)
class ErrorBar:
    """How far off the model was where it could be compared. `of`: with what, in words."""

    of: str
    spread: Spread


@lru_cache(maxsize=1)
def _published() -> tuple[tuple[int, object], ...]:
    return tuple(read())


def error_bar(benchmark: str, system: str, transport: str, profile: str = "fitted") -> ErrorBar | None:
    """The error that the published rows nearest to a prediction have: of the same benchmark, and as far as
    there are any of the same transport and system. None for a benchmark without published rows.

    Only the rows that count are predicted, so that this is fast. Raises FabricmarkError (2) for broken data.
    """
    rows = list(_published())
    nearest = (
        {"transport": transport, "system": system},
        {"transport": transport},
        {"system": system},
        {},
    )
    for wanted in nearest:
        same = {"benchmark": benchmark, **wanted}
        chosen = [
            (line, row)
            for line, row in rows
            if row.role == "calibration" or all(getattr(row, key) == value for key, value in same.items())
        ]
        found = spread(predict_rows(chosen, profile))
        if found is not None:
            where = f"on {system}" if "system" in wanted else "on other systems"
            over = f" over {transport}" if "transport" in wanted and transport != "none" else ""
            return ErrorBar(f"{found.rows} published values of {benchmark}{over} {where}", found)
    return None
