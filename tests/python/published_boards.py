"""Boards and bitstreams of published single-board runs, from systems/*.toml, which tell all origins."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from fabricmark import systems
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream
from fabricmark.systems import System

SYSTEMS = Path(__file__).parents[2] / "systems"


@lru_cache
def _system(board_id: str) -> System:
    return systems.load(board_id)


@lru_cache
def bitstream_of(file: str, name: str) -> Bitstream:
    """A bitstream of a file."""
    return systems.bitstreams(SYSTEMS / "bitstreams" / f"{file}.toml")[name]


@lru_cache
def synthesis(file: str, name: str) -> tuple[Board, dict]:
    """A board with a bitstream of a file, and the bitstream's parameters. The board's name is its id."""
    bitstream = bitstream_of(file, name)
    board = _system(bitstream.board).board_with(bitstream, 1)
    return replace(board, name=bitstream.board), dict(bitstream.parameters)
