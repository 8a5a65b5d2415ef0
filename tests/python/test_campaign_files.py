"""Campaign files: identities of points, axes, the documentation's example, and one line for every fault."""

import re

import pytest
from campaign_support import TWELVE, files, write
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import campaign
from hypothesis import given, settings
from hypothesis import strategies as st


def load(place, text):
    return campaign.load(write(place, text))


def identities(place, text):
    return [one.identity for one in load(place, text).points]


def test_identity(place):
    """The hash must not change between versions: it names files that people keep."""
    points = load(place, TWELVE).points
    assert points[0].file_name == "stream-60dbf4735f6c93eb.json"
    assert len({one.identity for one in points}) == 12
    swapped = TWELVE.replace(
        'benchmark = "stream"\nruntime = "system"', 'runtime = "system"\nbenchmark = "stream"'
    )
    assert swapped != TWELVE
    assert identities(place, swapped) == [one.identity for one in points]
    as_options = TWELVE.replace("vector_width = [1, 2, 4]", "").replace(
        "[runs.matrix]", "options = { vector_width = 1 }\n[runs.matrix]"
    )
    assert load(place, as_options).points[0].identity == points[0].identity
    for old, new in (
        ("repetitions = 3", "repetitions = 4"),
        ('"system"', '"intel-cpu"'),
        ("= 3", "= 3\nwarmup = 0"),
    ):
        assert load(place, TWELVE.replace(old, new)).points[0].identity != points[0].identity
    by_text = TWELVE.replace("[runs.matrix]", "device = ['0', 1]\n[runs.matrix]")
    by_number = by_text.replace("['0', 1]", "[0, 1, '1']")
    assert [p.identity for p in load(place, by_text).points] == [
        p.identity for p in load(place, by_number).points
    ]


def test_axes_and_options(place):
    (place.folder / "system.json").write_text("{}")
    text = """
name = "axes"
min_time = 1
[[runs]]
benchmark = "stream"
ranks = [1, 2]
platform = "Portable"
device = [0, "cpu"]
warmup = 0
min_time = 2.5
options = { variant = "base", system = "system.json", timeline = true, skip_validation = false }
matrix = { memory = ["buffer", "svm"] }
"""
    done = place.run("run", str(write(place, text)))
    assert done.returncode == 0, done.stderr
    words = [entry["words"] for entry in place.started()]
    assert len(words) == 8
    common = ["--warmup=0", "--min-time=2.5", "--variant=base", f"--system={place.folder}/system.json"]
    assert words[0][2:] == [
        "--platform=Portable", "--device=0", *common, "--memory=buffer", "--timeline"
    ]  # fmt: skip
    assert words[1][2:4] == ["--platform=Portable", "--device=0"] and "--memory=svm" in words[1]
    assert words[2][:3] == ["--ranks", "2", "--json"] and "--device=0" in words[2]
    assert "--device=cpu" in words[4] and "--ranks" not in words[4]


def test_the_example_of_the_documentation(place):
    page = (REPOSITORY / "docs" / "campaign.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    done = place.run("run", str(write(place, text, "suite.toml")))
    assert done.returncode == 0, done.stderr
    summary = done.stdout.splitlines()[-1]
    assert summary in page and summary.startswith("8 points")
    first = done.stderr.splitlines()[0]
    assert re.sub(r"\d+\.\d s, about \d+ s left$", "0.4 s, about 3 s left", first) in page
    assert len(files(place, "suite")) == 8


MORE = '[[runs]]\nbenchmark = "stream"\n'
RUN = 'runtime = "system"\n'
CHANGES = {
    "not TOML": ("repetitions = 3", "repetitions =", "not valid TOML: Invalid value (at line 3"),
    "no name": ('name = "twelve"', "", "'name' is a required property"),
    "a name that is a path": ('"twelve"', '"../twelve"', "name: '../twelve' does not match"),
    "an empty name": ('"twelve"', '""', "name: '' "),
    "a name over two lines": ('"twelve"', '"twelve\\n"', "name: "),
    "unknown key": ("repetitions = 3", "repetition = 3", "'repetition' was unexpected"),
    "unknown key of a run": (RUN, 'runtme = "system"\n', "runs[0]: "),
    "no runs": (TWELVE[TWELVE.index("[[runs]]") :], "runs = []", "runs: "),
    "unknown benchmark": ('"stream"', '"steam"', "runs[0].benchmark: there is no benchmark 'steam'; use one"),
    "unknown runtime": ('"system"', '"magic"', "runs[0].runtime: there is no runtime 'magic'; use one"),
    "unknown parameter": ("vector_width", "vector_with", "matrix.vector_with: vector_with is no parameter"),
    "out of range": ("16, 32", "0, 32", "runs[0].matrix.buffer_size: buffer_size = 0 (--buffer-size) cannot"),
    "not allowed": ("[1, 2, 4]", "[1, 3]", "(--vector-width) cannot be used; give one of 1, 2, 4, 8, 16"),
    "text for a number": ("[1, 2, 4]", '["few"]', "vector_width = 'few' (--vector-width) cannot be used"),
    "bool for a number": ("[1, 2, 4]", "[true]", "vector_width = 'true' (--vector-width) cannot be used"),
    "fraction for a whole number": ("[1, 2, 4]", "[1.5]", "vector_width = '1.5' (--vector-width) cannot"),
    "not a list": ("[1, 2, 4]", "4", "runs[0].matrix.vector_width: 4 is not of type 'array'"),
    "an empty list": ("[1, 2, 4]", "[]", "runs[0].matrix.vector_width: [] "),
    "twice in a list": ("[1, 2, 4]", "[1, 1]", "has non-unique elements"),
    "a list in a list": ("[1, 2, 4]", "[[1]]", "runs[0].matrix.vector_width[0]"),
    "a date": ("[1, 2, 4]", "[2020-01-01]", "runs[0].matrix.vector_width[0]"),
    "both options and matrix": (RUN, "options = {vector_width = 1}\n", "vector_width: also in options"),
    "both ranks and mpi": (RUN, "ranks = 2\nmpi = 2\n", "runs[0]: both ranks and mpi"),
    "no ranks": (RUN, "ranks = 0\n", "runs[0].ranks: "),
    "hosts without mpi": (RUN, 'hosts = ["a"]\n', "runs[0].hosts: only MPI processes have hosts"),
    "a host that is an option": (RUN, 'mpi = 2\nhosts = ["--all"]\n', "runs[0].hosts[0]: "),
    "too many for the hosts": (
        RUN, 'mpi = [2, 8]\nhosts = ["a", "b"]\nranks_per_host = 3\n', "8 processes do not fit 6 places",
    ),
    "no repetitions": ("repetitions = 3", "repetitions = 0", "repetitions: 0 is less than the minimum"),
    "time not a number": ("repetitions = 3", "min_time = nan", "min_time: nan is not finite"),
    "endless time": ("repetitions = 3", "min_time = inf", "min_time: "),
    "negative device": (RUN, "device = -1\n", "runs[0].device: "),
    "device that is an option": (RUN, 'device = "--json"\n', "device: '--json' is empty, starts with -"),
    "empty device": (RUN, 'device = ""\n', "runs[0].device: "),
    "unprintable platform": (RUN, 'platform = "a\\u0000b"\n', "unprintable characters; write a plain text"),
    "own result file": (RUN, 'options = { json = "x" }\n', "json: json is no parameter; it is a key of"),
    "ranks in options": (RUN, "options = { ranks = 2 }\n", "ranks: ranks is no parameter; it is a key of"),
    "unknown kernel": (RUN, 'options = { variant = "bass" }\n', "there is no kernel 'bass'; use one of base"),
    "number as a switch": (RUN, "options = { timeline = 1 }\n", "options.timeline: 1 is not of type bool"),
    "switch as a text": (RUN, "options = { memory = true }\n", "options.memory: true is not of type str"),
    "absent file": (RUN, 'options = { system = "s.json" }\n', "options.system: there is no file s.json"),
    "huge integer": ("repetitions = 3", "repetitions = 0x" + "f" * 5000, "more than 64 bits"),
    "deep nesting": ("repetitions = 3", "a = " + "[" * 100000, "nested too deeply"),
    "deep keys": ("repetitions = 3", "a." * 5000 + "a = 1", "nested too deeply"),
}  # fmt: skip


def refused(place, text):
    with pytest.raises(FabricmarkError) as caught:
        load(place, text)
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert "c.toml: " in message and "; " in message and "\n" not in message
    return message


@pytest.mark.parametrize("old, new, cause", CHANGES.values(), ids=CHANGES)
def test_faults_are_named(place, old, new, cause):
    assert old in TWELVE
    assert cause in refused(place, TWELVE.replace(old, new, 1))


def test_faults_stop_a_campaign_before_its_first_point(place, one_error_line):
    file = write(place, TWELVE + MORE + "options = { buffer_size = 0 }\n")
    assert "runs[1].options.buffer_size: buffer_size = 0 (--buffer-size) cannot" in one_error_line(
        place.run("run", str(file)), 2
    )
    assert place.started() == []


def test_a_benchmark_with_a_damaged_kernel_toml(place):
    place.kernel_toml.write_text("benchmark = ")
    with pytest.raises(FabricmarkError, match=r"kernel\.toml. line 1 is not TOML"):
        load(place, TWELVE)


def test_too_many_points(place):
    axes = "".join(f"p{i} = {list(range(100))}\n" for i in range(3))
    parameters = "".join(
        f'[parameters.p{i}]\ntype = "int"\ndefault = 0\nstage = "run"\nmeaning = "m"\n' for i in range(3)
    )
    place.kernel_toml.write_text(place.kernel_toml.read_text() + parameters)
    assert "more than 100000 points; split it up" in refused(place, TWELVE + axes)


def test_places_that_cannot_be_read(place):
    with pytest.raises(FabricmarkError, match="cannot be read"):
        campaign.load(place.folder)
    (place.folder / "binary.toml").write_bytes(b"\x7fELF\xff\x00")
    with pytest.raises(FabricmarkError, match=r"binary\.toml: not valid TOML"):
        campaign.load(place.folder / "binary.toml")


FUZZ = settings(max_examples=150)
VALUES = st.sampled_from(
    [
        '""',
        "[]",
        "{}",
        "nan",
        "-inf",
        "true",
        "1e400",
        '"\\u0000"',
        "[[1], {a = 1}]",
        "0x1ff",
        "07:32:00",
        "2.0",
    ]
)
LINES = TWELVE.splitlines()


def load_or_refuse(place, text):
    """Either points that can be started, or one line."""
    path = place.folder / "c.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        for point in campaign.load(path).points:
            assert all("\0" not in word and "\n" not in word for word in point.words())
            assert re.fullmatch(r"stream-[0-9a-f]{16}\.json", point.file_name)
            assert isinstance(point.job("system", place.folder).ranks, int)
    except FabricmarkError as error:
        assert "\n" not in str(error)
        str(error).encode("utf-8")


@FUZZ
@given(st.text())
def test_random_text(place, text):
    load_or_refuse(place, text)


@FUZZ
@given(st.integers(0, len(LINES) - 1), VALUES | st.text(max_size=8), st.booleans())
def test_mutated_lines(place, number, value, keep_key):
    key = LINES[number].partition("=")[0]
    line = f"{key}= {value}" if keep_key else value
    load_or_refuse(place, "\n".join([*LINES[:number], line, *LINES[number + 1 :]]))


@FUZZ
@given(
    st.sampled_from(["ranks", "mpi", "device", "platform", "runtime", "warmup", "min_time", "options"]),
    VALUES,
)
def test_odd_values(place, key, value):
    load_or_refuse(place, TWELVE.replace('runtime = "system"', f"{key} = {value}"))


@FUZZ
@given(st.integers(0, len(TWELVE)), st.integers(0, 40), st.text(max_size=5))
def test_mutated_text(place, start, length, insertion):
    load_or_refuse(place, TWELVE[:start] + insertion + TWELVE[start + length :])
