#!/usr/bin/env python3
"""Joins serial channels of emulated boards: a folder for each board, to be its program's working directory.

Intel's FPGA emulator takes a channel of a board, `io("kernel_output_ch0")`, for the file of that name. Here
each is a named pipe, the same one as the input of the channel at the other end of the cable. Each cable is
BOARD:CHANNEL-BOARD:CHANNEL, and carries both directions. Exit codes: 0, 2 bad use.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

CABLE = re.compile(r"(\d+):(\d+)-(\d+):(\d+)")


def ends(cable: str) -> list[tuple[int, int]]:
    """Both ends of a cable as (board, channel). Raises ValueError."""
    found = CABLE.fullmatch(cable)
    if found is None:
        raise ValueError(f"the cable {cable!r} has not two ends; write it as BOARD:CHANNEL-BOARD:CHANNEL")
    one, other, *rest = map(int, found.groups())
    return [(one, other), (rest[0], rest[1])]


def join(folder: Path, cables: list[list[tuple[int, int]]]) -> None:
    """Makes the pipes and, in folder/BOARD, links to them by the names of the channels.

    Raises ValueError for a channel with two cables, and where folder is there already.
    """
    used = [end for cable in cables for end in set(cable)]
    for board, channel in used:
        if used.count((board, channel)) > 1:
            raise ValueError(f"channel {channel} of board {board} has two cables; give each channel one")
    if folder.exists():
        raise ValueError(f"{folder} is there already; name a new folder")
    for board in {board for board, _ in used}:
        (folder / str(board)).mkdir(parents=True)
    for one, other in cables:
        for (from_board, from_channel), (to_board, to_channel) in {(one, other), (other, one)}:
            pipe = f"from_{from_board}_ch{from_channel}"
            os.mkfifo(folder / pipe)
            (folder / str(from_board) / f"kernel_output_ch{from_channel}").symlink_to(f"../{pipe}")
            (folder / str(to_board) / f"kernel_input_ch{to_channel}").symlink_to(f"../{pipe}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="new folder, with one for each board in it")
    parser.add_argument("cables", nargs="+", metavar="CABLE", help="such as 0:0-1:2")
    words = parser.parse_args()
    try:
        join(words.folder, [ends(cable) for cable in words.cables])
    except (ValueError, OSError) as error:
        print(f"emulated_cables: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
