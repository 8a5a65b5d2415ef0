"""Systems as data: boards, networks, bitstreams and the systems made of them, from systems/*.toml.

A value is published (`value` with its `source`), fitted (`fitted` with the reasoning, `inferred`), or both.
The profile "published" takes what a document prints and nothing else; "fitted" takes the fitted value where
there is one. docs/systems.md describes the files.
"""

from fabricmark.systems.build import System, bitstreams, board, kinds, load, names, network
from fabricmark.systems.files import PROFILES, SourcedValue, user_folder

__all__ = [
    "PROFILES", "SourcedValue", "System", "bitstreams", "board", "kinds", "load", "names", "network",
    "user_folder",
]  # fmt: skip
