"""Wrong system files: refused in one line with file, line, cause and remedy, never in another way."""

import random
import shutil
import tomllib

import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base.errors import BAD_USE, FabricmarkError
from fabricmark.systems import catalogue
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong_systems import BOARD, CHANGES, SYSTEM

SYSTEMS = REPOSITORY / "systems"
SECONDS_OF_FUZZING = 60


pytestmark = pytest.mark.usefixtures("of_the_repository")


@pytest.mark.parametrize("name", CHANGES)
def test_a_wrong_file(copied, name):
    file, old, new, line, message = CHANGES[name]
    path = copied / file
    text = path.read_text()
    assert old in text, "the change changes nothing"
    changed = text.replace(old, new, 1)
    path.write_text(changed)
    with pytest.raises(FabricmarkError) as refused:
        systems.load(copied / SYSTEM)
    said = str(refused.value)
    assert refused.value.exit_code == BAD_USE
    assert "\n" not in said and message in said
    if isinstance(line, str):  # the last line that has it: a second table, not the first
        line = [number for number, row in enumerate(changed.split("\n"), 1) if line in row]
        line = line[-1 if name in ("key twice", "unknown transport") else 0]
    assert said.startswith(f"{path}: line {line}: ")


def test_files_that_are_none(tmp_path):
    for content, cause in [
        (b"\xff\xfe", "not UTF-8"),
        (b"a = 1\n" * 200000, "larger than 1 MiB"),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"x = 1", "neither a system nor a board"),
        (b"x = " + b"9" * 5000, "not valid TOML"),
    ]:
        path = tmp_path / "wrong.toml"
        path.write_bytes(content)
        with pytest.raises(FabricmarkError, match=cause):
            catalogue.kind_of(path)
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(FabricmarkError, match="cannot be read"):
            systems.load(path)
    for name in ("nothing", "", "..", "a b"):
        with pytest.raises(FabricmarkError, match="use one of arria10_ring"):
            systems.load(name)


def test_a_fitted_bandwidth_is_none_that_was_published(copied):
    path = copied / BOARD
    path.write_text(
        path.read_text().replace('{ value = "19.2 GB/s",', '{ fitted = "19.2 GB/s", inferred = "a guess",', 1)
    )
    assert systems.load(copied / SYSTEM).board["memory.bank_bandwidth"] == 19.2e9
    with pytest.raises(FabricmarkError, match=r"line \d+: memory.bank_bandwidth: no published value.*fitted"):
        systems.load(copied / SYSTEM, "published")


FILES = {path: path.read_text() for path in sorted(SYSTEMS.rglob("*.toml"))}
PIECES = [
    "=", "[", "]", "[[", "]]", "{", "}", '"', "'", '"""', ".", ",", "#", "\n", "-", "0", "-1", "1e400", "nan",
    "inf", "true", "1979-05-27", "GB/s", "ns", '"1 ns"', "value", "fitted", "source", "inferred", "like",
    '"520n"', "[devices]", "[[devices]]", "curves = []", "parameters = 3", "memory.banks = 2", "\x00",
    "\u2028", "\ud7ff", "é", "[bitstreams.x]", "9" * 30, 'like = "520n_100g/hpl_channels"',
    "bitstreams = [[]]", "[[random_updates]]\n", "[[curves]]\n",
]  # fmt: skip


def corrupted(text, places):
    """The text with some of its words, lines and characters replaced, doubled or gone."""
    for kind, where, piece in places:
        at = where % max(len(text), 1)
        rows = text.split("\n")
        row = where % len(rows)
        if kind == 0:
            text = text[:at] + piece + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + 1 + len(piece) :]
        elif kind == 2:
            text = "\n".join([*rows[:row], *rows[row + 1 :]])
        elif kind == 3:
            text = "\n".join([*rows[:row], rows[(where // 7) % len(rows)], *rows[row:]])
        else:
            words = rows[row].split(" ")
            words[where // 3 % len(words)] = piece
            text = "\n".join([*rows[:row], " ".join(words), *rows[row + 1 :]])
    return text


def check(folder, original, text):
    """Loads, or is refused in one line. Returns whether it loads."""
    path = folder / original.relative_to(SYSTEMS)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        found = catalogue.entry(catalogue.kind_of(path), path)
        assert found.sourced is not None
        for one in found.sourced:
            assert one.source or one.inferred
        return True
    except FabricmarkError as error:
        assert error.exit_code == BAD_USE
        assert "\n" not in str(error) and "; " in str(error)
        return False
    finally:
        path.write_text(FILES[original])


EDITS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 10**6), st.sampled_from(PIECES)), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy that the fuzzing changes and restores."""
    return shutil.copytree(SYSTEMS, tmp_path_factory.mktemp("fuzz") / "systems")


@given(data=st.data())
@settings(max_examples=150)
def test_corrupted_files(folder, data):
    original = data.draw(st.sampled_from(list(FILES)))
    check(folder, original, corrupted(FILES[original], data.draw(EDITS)))


@pytest.mark.full
def test_corrupted_files_for_a_minute(folder):
    import time

    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chosen, end, loaded, refused = random.Random(seed), time.monotonic() + SECONDS_OF_FUZZING, 0, 0
    while time.monotonic() < end:
        original = chosen.choice(list(FILES))
        edits = [
            (chosen.randrange(5), chosen.randrange(10**6), chosen.choice(PIECES))
            for _ in range(chosen.randint(1, 4))
        ]
        if check(folder, original, corrupted(FILES[original], edits)):
            loaded += 1
        else:
            refused += 1
    assert loaded > 10 and refused > 100  # both happen


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(PIECES), inner, max_size=3),
))  # fmt: skip
@settings(max_examples=100)
def test_any_value_as_a_figure(value):
    from fabricmark.base import keys
    from fabricmark.systems import files

    for kind, name in (
        ("board", "memory.banks"),
        ("board", "memory.bank_bandwidth"),
        ("board", "host.write_latency"),
        ("board", "host.neighbour_factor"),
        ("network", "latency"),
        ("devices", "per_node"),
        ("bitstream", "fitted.panel_efficiency"),
    ):
        key = keys.VALUES[kind][name]
        document = value
        for part in reversed(name.split(".")):
            document = {part: document}
        whole = {
            "devices": {"name": "n", "summary": "s", "devices": [{"board": "b", "most": 1, **document}]},
            "bitstream": {"board": "b", "bitstreams": {"x": {"benchmark": "stream", **document}}},
        }.get(kind, document)
        try:
            files.check_shape({"devices": "system", "bitstream": "bitstreams"}.get(kind, kind), whole)
            read = files.value(value, key, "file: key", ("key",), "somewhere")
            assert read.of("fitted") is not None
            assert 0 <= read.of("fitted") < float("inf")
        except files.Fault as fault:
            assert fault.cause and fault.remedy


def test_the_texts_that_are_corrupted_are_right():
    assert all(tomllib.loads(text) for text in FILES.values())
    assert len(FILES) > 40
