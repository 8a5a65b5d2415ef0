"""Figures of the dissertation's tables (data/published), looked up by what a test calls its runs."""

from functools import lru_cache

from fabricmark.results import published

BOARD_IDS = {
    "520N": "520n",
    "520N MX": "520n_mx",
    "U280 HBM2": "u280_hbm",
    "U280 DDR": "u280_ddr",
    "PAC SVM": "pac_d5005",
}


@lru_cache
def _figures() -> tuple[published.Printed, ...]:
    return tuple(published.printed())


def figure(table: str, benchmark: str, board: str, metric: str, **more: object) -> float:
    """The one figure of a table ("3.6") and board (its name or id) that has also `more`, in its unit."""
    wanted = {"table": f"Table {table}", "benchmark": benchmark, "metric": metric, **more}
    wanted["board"] = BOARD_IDS.get(board, board)
    found = [one for one in _figures() if all(getattr(one, key) == value for key, value in wanted.items())]
    (only,) = found
    return only.value
