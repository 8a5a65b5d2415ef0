"""Which ports of boards cables join, as the kernels over serial channels need it (docs/channels.md).

A board is a rank here; `measure.site` says where each one is. The topologies are those of the suite's
benchmarks over channels: Meyer 2024, Figures 4.2 (ring of b_eff), 4.4 (pairs of PTRANS), 4.6 (torus of HPL).
"""

import re
from collections.abc import Callable, Mapping
from math import isqrt

from fabricmark.base.errors import FabricmarkError, check_known

End = tuple[int, int]  # board, port
Cable = tuple[End, End]
TEXT = re.compile(r"([a-z]+)(?::([1-9][0-9]{0,5})(?:x([1-9][0-9]{0,5}))?)?(?:\*([1-9][0-9]?))?")
REMEDY = "write ring, ring:8*2, torus:2x3, pairs, or transpose"


def cables(text: str, boards: int, ports: int) -> list[Cable]:
    """Of a topology as a text over so many boards with so many ports each; every cable once.

    `ring*M`: port i leads to port M + i of the next board. `torus:RxC` (without sizes as square as it gets):
    port 0 to 1 of the right neighbour, 2 to 3 of the lower one; row after row. `pairs`: all ports of two
    boards that follow each other. `transpose`: those of the boards at (i, j) and (j, i) of a square; on its
    diagonal a board's own ports, in twos. Raises FabricmarkError (2) where the boards do not fit.
    """
    kind, (rows, columns, parallel) = check(text)
    needed, laid = KINDS[kind](boards, rows, columns, parallel, ports)
    if laid is None:
        what = f"{boards} boards" if boards != 1 else "1 board"
        raise FabricmarkError(
            f"{text} is for {needed} boards, and these are {what}", "change the ranks or it"
        )
    most = max((port for cable in laid for _, port in cable), default=-1) + 1
    if most > ports:
        cause = f"{text} takes {most} ports of each board, which has {ports}"
        raise FabricmarkError(cause, "use fewer parallel cables or another topology")
    return laid


def check(text: str) -> tuple[str, tuple[int, ...]]:
    """(kind, both sizes and the parallel cables, each 0 where it is left out). Raises FabricmarkError (2)."""
    found = TEXT.fullmatch(text)
    if found is None:
        raise FabricmarkError(f"no topology: {text!r}", REMEDY)
    kind, *numbers = found.groups()
    check_known(kind, KINDS, f"there is no topology {kind!r}")
    return kind, tuple(int(one) if one else 0 for one in numbers)


Laid = tuple[str, list[Cable] | None]  # which numbers of boards it is for, and its cables if these fit


def _ring(boards: int, size: int, second: int, parallel: int, ports: int) -> Laid:
    if second or (size and size != boards):
        return (f"{size}" if not second else "a ring's one number of"), None
    lanes = parallel or 1
    laid = [((b, i), ((b + 1) % boards, lanes + i)) for b in range(boards) for i in range(lanes)]
    return "", laid


def _torus(boards: int, rows: int, columns: int, parallel: int, ports: int) -> Laid:
    if not rows:
        rows = next(one for one in range(isqrt(boards), 0, -1) if boards % one == 0)
        columns = boards // rows
    if parallel > 1 or rows * columns != boards:
        return (f"{rows * columns}" if parallel <= 1 else "single cables between its"), None
    laid = []
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            right, below = row * columns + (column + 1) % columns, (row + 1) % rows * columns + column
            laid += [((here, 0), (right, 1)), ((here, 2), (below, 3))]
    return "", laid


def _pairs(boards: int, size: int, second: int, parallel: int, ports: int) -> Laid:
    if boards % 2 or second or (size and size != boards):
        return (f"{size}" if size else "an even number of"), None
    lanes = range(parallel or ports)
    return "", [((b, i), (b + 1, i)) for b in range(0, boards, 2) for i in lanes]


def _transpose(boards: int, rows: int, columns: int, parallel: int, ports: int) -> Laid:
    side = isqrt(boards)
    if side * side != boards or (rows and rows * (columns or 1) != boards):
        return (f"{rows * (columns or 1)}" if rows else "a square number of"), None
    lanes = parallel or ports
    laid: list[Cable] = []
    for row in range(side):
        here = row * side + row
        laid += [((here, i), (here, i + 1)) for i in range(0, lanes - 1, 2)]
        for column in range(row + 1, side):
            one, other = row * side + column, column * side + row
            laid += [((one, i), (other, i)) for i in range(lanes)]
    return "", laid


KINDS: Mapping[str, Callable[[int, int, int, int, int], Laid]] = {
    "ring": _ring, "torus": _torus, "pairs": _pairs, "transpose": _transpose,
}  # fmt: skip
