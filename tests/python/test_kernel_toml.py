"""kernel.toml: what is accepted, and one clear line for everything else."""

import pytest
import samples
from conftest import REPOSITORY
from fabricmark.base import kernel_toml
from fabricmark.base.errors import FabricmarkError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TEXT = samples.KERNEL_TOML
FUZZ = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)


def load(tmp_path, text):
    path = tmp_path / "kernel.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return kernel_toml.load(path)


def test_a_good_file(tmp_path):
    kernel = load(tmp_path, TEXT)
    assert (kernel.benchmark, list(kernel.variants)) == ("stream", ["base"])
    assert kernel.parameters["vector_width"].allowed() == "1, 2, 4, 8, 16"
    assert kernel.parameters["buffer_size"].option == "--buffer-size"
    assert kernel.parameters["buffer_size"].allowed() == "1 to 65536"
    assert kernel.parameters["replications"].defaults() == [
        *("cpu: cores", "gpu: 1", "fpga: banks", "emulator: 2")
    ]
    assert kernel.constraints[0]["meaning"] == "the buffer holds whole vectors"


def test_defaults_of_a_variant(tmp_path):
    addition = 'style = "single-work-item"\ndefaults = { vector_width = 8 }'
    text = TEXT.replace('style = "single-work-item"', addition)
    assert load(tmp_path, text).variants["base"]["defaults"] == {"vector_width": 8}
    wrong = text.replace("{ vector_width = 8 }", "{ vector_width = { cpu = 3 } }")
    assert "variants.base.defaults.vector_width.cpu: 3 is not allowed" in refused(tmp_path, wrong)
    assert "width is no parameter" in refused(tmp_path, text.replace("{ vector_width", "{ width"))


def test_largest_values_of_a_variant(tmp_path):
    text = TEXT.replace('"single-work-item"', '"single-work-item"\nlargest = { buffer_size = 64 }')
    assert load(tmp_path, text).variants["base"]["largest"] == {"buffer_size": 64}
    wrong = text.replace("= 64 }", "= 65537 }")
    assert "variants.base.largest.buffer_size: 65537 is out of range" in refused(tmp_path, wrong)
    assert "size is no parameter" in refused(tmp_path, text.replace("{ buffer_size", "{ size"))


def test_how_a_parameter_scales(tmp_path):
    text = TEXT.replace(
        "default = 4", 'default = 4\nscope = "total"\ndimensions = 2\nrounded_to = "buffer_size"'
    )
    width = load(tmp_path, text).parameters["vector_width"]
    assert (width.scope, width.dimensions, width.rounded_to) == ("total", 2, "buffer_size")
    plain = load(tmp_path, text).parameters["buffer_size"]
    assert (plain.scope, plain.dimensions, plain.rounded_to) == ("per-rank", 1, "")
    for name in ("nothing", "vector_width"):
        wrong = text.replace('"buffer_size"\nstage', f'"{name}"\nstage')
        assert f"vector_width.rounded_to: {name} is no other whole parameter" in refused(tmp_path, wrong)
    for key in ('scope = "total"', "dimensions = 2", 'rounded_to = "buffer_size"'):
        mode = f'[parameters.mode]\ntype = "bool"\n{key}\ndefault = true\nstage = "run"\nmeaning = "m"\n'
        assert "parameters.mode: a bool is not scaled; leave out" in refused(tmp_path, TEXT + mode)


CHANGES = {
    "unknown scope": ("default = 4", 'default = 4\nscope = "all"', "parameters.vector_width.scope"),
    "four dimensions": ("default = 4", "default = 4\ndimensions = 4", "parameters.vector_width.dimensions"),
    "not TOML": ('benchmark = "stream"', "benchmark = ", "not valid TOML"),
    "no benchmark": ('benchmark = "stream"', "", "'benchmark' is a required property"),
    "number as name": ('benchmark = "stream"', "benchmark = 3", "benchmark: 3 is not of type 'string'"),
    "unknown key": ('summary = "', 'sumary = "x"\nsummary = "', "'sumary' was unexpected"),
    "unknown variant": ("[variants.base]", "[variants.bass]", "bass"),
    "no entry points": ('entry_points = ["stream"]', "entry_points = []", "variants.base.entry_points"),
    "kind of argument": ('kind = "buffer"', 'kind = "memory"', "variants.base.arguments.stream"),
    "argument without a name": ('name = "first", ', "", "variants.base.arguments.stream"),
    "unknown type": ('type = "int"', 'type = "integer"', "parameters.vector_width.type"),
    "unknown stage": ('stage = "run"', 'stage = "later"', "parameters.replications.stage"),
    "default not allowed": (
        "default = 4",
        "default = 3",
        "vector_width.default: 3 is not allowed; use one of",
    ),
    "default of another type": (
        "default = 4",
        'default = "four"',
        "vector_width.default: 'four' is no int, nor an expression",
    ),
    "bool for an int": ("default = 4", "default = true", "vector_width.default: true is no int"),
    "out of range": ("cpu = 4096", "cpu = 0", "buffer_size.default.cpu: 0 is out of range; use 1 to 65536"),
    "unknown class": ("cpu = 4096", "tpu = 4096", "parameters.buffer_size.default"),
    "range backwards": ("[1, 65536]", "[9, 1]", "buffer_size.range"),
    "range not a number": ("[1, 65536]", "[nan, 1]", "buffer_size.range"),
    "range and values": ("range = [1, 65536]", "range = [1, 9]\nvalues = [1]", "both range and values"),
    "value of another type": ("[1, 2, 4, 8, 16]", "[1, 2.5, 4]", "vector_width.values: 2.5 is no int"),
    "unknown name": (
        "buffer_size % vector_width",
        "buffer % vector_width",
        "buffer is no parameter; use one of",
    ),
    "huge integer": ("default = 4", "default = 0x" + "f" * 5000, "more than 64 bits"),
    "many digits": ("default = 4", "default = 1" + "0" * 5000, "not valid TOML"),
    "a date": ("default = 4", "default = 2020-01-01", "vector_width.default"),
    "twice": ("default = 4", "default = 4\ndefault = 4", "not valid TOML"),
}


def refused(tmp_path, text):
    with pytest.raises(FabricmarkError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert "kernel.toml: " in message and "; " in message and "\n" not in message
    return message


@pytest.mark.parametrize("old, new, cause", CHANGES.values(), ids=CHANGES)
def test_faults_are_named(tmp_path, old, new, cause):
    assert old in TEXT
    assert cause in refused(tmp_path, TEXT.replace(old, new, 1))


def test_a_range_needs_numbers(tmp_path):
    mode = '[parameters.mode]\ntype = "string"\nrange = [1, 2]\ndefault = "a"\nstage = "run"\nmeaning = "m"\n'
    assert "a string has no range" in refused(tmp_path, TEXT + mode)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(FabricmarkError, match=r"absent\.toml: cannot be read"):
        kernel_toml.load(tmp_path / "absent.toml")
    path = tmp_path / "kernel.toml"
    path.write_bytes(b"\xff\x00")
    with pytest.raises(FabricmarkError, match="not valid TOML"):
        kernel_toml.load(path)


def test_deep_nesting(tmp_path):
    assert "nested too deeply" in refused(tmp_path, "a = " + "[" * 100000)


def load_or_refuse(tmp_path, text):
    try:
        load(tmp_path, text)
    except FabricmarkError as error:
        assert "\n" not in str(error)
        str(error).encode("utf-8")


@FUZZ
@given(st.text())
def test_random_text(tmp_path, text):
    load_or_refuse(tmp_path, text)


VALUES = st.sampled_from(
    ['""', "[]", "{}", "nan", "-inf", "true", "1e400", '"\\u0000"', "[[1], {a = 1}]", "0x1ff", "07:32:00"]
)
LINES = TEXT.splitlines()


@FUZZ
@given(st.integers(0, len(LINES) - 1), VALUES | st.text(max_size=8), st.booleans())
def test_mutated_lines(tmp_path, number, value, keep_key):
    key = LINES[number].partition("=")[0]
    line = f"{key}= {value}" if keep_key else value
    load_or_refuse(tmp_path, "\n".join([*LINES[:number], line, *LINES[number + 1 :]]))


@FUZZ
@given(st.integers(0, len(TEXT)), st.integers(0, 40), st.text(max_size=5))
def test_mutated_text(tmp_path, start, length, insertion):
    load_or_refuse(tmp_path, TEXT[:start] + insertion + TEXT[start + length :])


def test_every_kernel_toml_of_the_repository_is_good():
    for path in (REPOSITORY / "kernels").glob("*/kernel.toml"):
        assert kernel_toml.load(path).benchmark == path.parent.name
