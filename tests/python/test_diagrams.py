"""Pictures of rooms and of a run: that they are what tools/diagrams.py draws now, and what it draws."""

import re

import diagrams
import pytest


@pytest.mark.parametrize("name", diagrams.PICTURES)
def test_a_picture_is_current(name):
    made = (diagrams.DOCS / name).read_text(encoding="utf-8")
    assert made == diagrams.PICTURES[name](), "draw it again: .venv/bin/python tools/diagrams.py"


def test_every_room_and_every_step_is_drawn():
    for name, heading in (("python", "Python package"), ("sources", "C++ sources")):
        text = (diagrams.DOCS / f"rooms_{name}.svg").read_text(encoding="utf-8")
        known = diagrams.rooms(f"Rooms of the {heading}")
        assert len(known) > 15 and len(re.findall('class="room"', text)) == len(known)
    names = [name for name, _ in diagrams.steps()]
    assert names == ["device", "kernels", "inputs", "repetitions", "check", "result"]


def test_rooms_stand_above_what_they_use_and_lines_say_what_does_not_follow():
    known = {"top": ["low", "middle"], "middle": ["low"], "low": [], "alone": []}
    assert diagrams.layers(known) == [["top"], ["middle"], ["low"], ["alone"]]
    assert diagrams.direct(known) == [("top", "middle"), ("middle", "low")]
