"""The proof that the models predict: published values beside what systems/*.toml and the models say.

A row with the role `test` is predicted from its system, bitstream, network and size; its relative error is
|predicted / measured - 1|, and one that cannot be predicted counts as 100 % and is named. Rows with the role
`calibration` are inputs: the hosts' MPI curves. docs/validation.md has the results.
"""

from functools import lru_cache

from fabricmark.validate import residuals
from fabricmark.validate.distribution import Spread, against_bars, grouped, spread, unpredicted
from fabricmark.validate.intervals import Intervals
from fabricmark.validate.outcomes import Outcome, Predictor, loaded, predict_rows, read

__all__ = [
    "Intervals", "Outcome", "Predictor", "Spread", "against_bars", "error_bars", "grouped", "loaded",
    "predict_rows", "read", "spread", "unpredicted",
]  # fmt: skip


@lru_cache(maxsize=1)
def _published() -> tuple[tuple[int, object], ...]:
    return tuple(read())


@lru_cache(maxsize=16)
def error_bars(benchmark: str, transport: str, profile: str = "fitted") -> Intervals:
    """The intervals of predictions of a benchmark over a transport.

    From residuals of rows that had no part in the fit; in the profile published, where nothing is fitted,
    from all rows as they are predicted. Raises FabricmarkError (2) for broken data.
    """
    if profile == "fitted":
        return Intervals(residuals.load())
    rows = [
        (line, row) for line, row in _published() if row.role == "calibration" or row.benchmark == benchmark
    ]
    predictor = Predictor(loaded(profile), [row for _, row in rows if row.role == "calibration"])
    chosen = [(line, row) for line, row in rows if row.role == "test" and row.transport == transport]
    return Intervals(residuals.plain([predictor.outcome(line, row) for line, row in chosen], predictor))
