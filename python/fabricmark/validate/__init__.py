"""The proof that the models predict: published values beside what systems/*.toml and the models say.

A row with the role `test` is predicted from its system, bitstream, network and size; its relative error is
|predicted / measured - 1|, and one that cannot be predicted counts as 100 % and is named. Rows with the role
`calibration` are inputs: the hosts' MPI curves. docs/validation.md has the results.
"""

from fabricmark.validate.distribution import Spread, against_bars, grouped, spread, unpredicted
from fabricmark.validate.outcomes import Outcome, Predictor, loaded, predict_rows, read

__all__ = [
    "Outcome", "Predictor", "Spread", "against_bars", "grouped", "loaded", "predict_rows", "read", "spread",
    "unpredicted",
]  # fmt: skip
