"""How an unclear metric becomes clear: how wide its interval is, what was asked for, how many runs tell."""

import math
from collections.abc import Sequence

from fabricmark.compare.comparison import Row, Settings
from fabricmark.compare.resampling import MOST_RUNS


def for_unclear(rows: Sequence[Row], settings: Settings) -> list[str]:
    """What to do about the unclear metrics of a comparison; empty where all are clear."""
    unclear = [row for row in rows if row.verdict == "unclear"]
    if not unclear:
        return []
    if any(row.runs == 1 for row in unclear):
        return [
            "unclear: one run a side does not show how much runs differ; make 10 a side (`fabricmark ab`)"
        ]
    widest = max(unclear, key=lambda row: math.log(row.interval[1] / row.interval[0]))
    of_all = "" if len(unclear) == 1 else f" (the widest of {len(unclear)})"
    cause = (
        f"unclear: {widest.base.label}{of_all}: new/base lies between {widest.interval[0]:.3f} and "
        f"{widest.interval[1]:.3f}, too wide for a difference of {100 * settings.threshold:.3g} %"
    )
    needed = [row.needed for row in unclear]
    unit = "pairs" if settings.in_turns else "runs a side"
    option = "--min-effect" if settings.in_turns else "--threshold"
    if None in needed:
        return [
            f"{cause}; more than {MOST_RUNS} {unit} are needed: use a quieter machine or a larger {option}"
        ]
    most = _rounded_up(max(needed))
    how = f" (--pairs {most}, or --until-clear --max-pairs {most})" if settings.in_turns else ""
    return [
        f"{cause}; about {most} {unit} would tell{how}, fewer on a quieter machine or with a larger {option}"
    ]


def _rounded_up(count: int) -> int:
    """To two digits: it is an estimate."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // step) * step
