"""Expressions as defaults of kernel.toml: here, in the programs, and in `predict` they mean the same."""

import json
import random
import shutil

import pytest
from conftest import REPOSITORY
from fabricmark.base import expression, kernel_toml
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_program import KERNELS, on_a_device

CASES = json.loads((REPOSITORY / "tests" / "expressions.json").read_text(encoding="utf-8"))
WORDS = [
    "1",
    "0",
    "2.5",
    "lanes",
    "if",
    "size",
    "max",
    "min(",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "^",
    " ",
    "#",
]
FUZZ = settings(max_examples=400, deadline=None, database=None)


@pytest.mark.parametrize("text, value", CASES["values"].items())
def test_the_value_that_programs_find(text, value):
    assert expression.evaluate(text, CASES["names"]) == value


@pytest.mark.parametrize("text", [*CASES["refused"], "1" * 201, "(" * 100 + "1" + ")" * 100])
def test_what_programs_refuse(text):
    with pytest.raises(ValueError):
        expression.evaluate(text, CASES["names"])


@FUZZ
@given(st.lists(st.sampled_from(WORDS), max_size=9).map("".join) | st.text(max_size=12))
def test_every_text_has_a_value_or_is_refused(text):
    try:
        assert isinstance(expression.evaluate(text, CASES["names"]), int)
    except ValueError as error:
        assert "\n" not in str(error)


def random_expression(source, names, depth):
    """An expression of these names, with every form that there is."""
    form = source.choice(["name", "number"] if depth == 0 else ["+", "-", "*", "/", "^", "max", "min", "("])
    parts = (
        [random_expression(source, names, depth - source.choice((1, depth))) for _ in range(2)]
        if depth
        else []
    )
    if form == "name":
        return source.choice(names)
    if form == "number":
        return source.choice(["0", "1", "2", "3", "7", "0.5", "12.25"])
    if form == "(":
        return f"({parts[0]})"
    return f"{form}({', '.join(parts)})" if form in ("max", "min") else f"{parts[0]} {form} {parts[1]}"


def derived_parameters(source, count):
    """Text of that many parameters, each of which follows from some before."""
    known = {"cores": 3, "banks": 2, "log_size": 5, "vector_bytes": 64}
    names, parameters = list(known), []
    while len(parameters) < count:
        name, default = f"x{len(parameters)}", random_expression(source, names, 4)
        try:
            value = expression.evaluate(default, known)
        except ValueError:
            continue
        parameters.append(
            f'[parameters.{name}]\ntype = "int"\ndefault = "{default}"\nstage = "run"\nmeaning = "m"\n'
        )
        known[name] = value
        if abs(value) < 100:
            names.append(name)
    return "".join(parameters)


@pytest.mark.programs
def test_programs_and_python_resolve_random_defaults_alike(tmp_path_factory, tmp_path):
    fft = on_a_device(tmp_path_factory, "fft")
    kernels = tmp_path / "kernels"
    shutil.copytree(KERNELS, kernels)
    path = kernels / "fft" / "kernel.toml"
    path.write_text(path.read_text() + derived_parameters(random.Random(7), 80))
    done = fft.valid(
        *("--log-size", 5, "--batch", 3, "--repetitions", 1), variables={"FABRICMARK_KERNELS": str(kernels)}
    )
    found = done.document["parameters"]
    device = done.document["environment"]["device"]
    known = {"log_size": 5, "batch": 3, "cores": device["compute_units"], "banks": 1}
    expected = kernel_toml.on_device(kernel_toml.load(path).parameters, device["class"], known)
    derived = {name: value for name, value in expected.items() if name.startswith("x")}
    assert len(derived) >= 80
    assert {name: found[name] for name in derived} == derived


# As before the batch followed from log_size.
USUAL = {"cpu": (12, 2048), "gpu": (12, 16384), "fpga": (12, 65536), "emulator": (6, 16)}


@pytest.mark.parametrize("device_class", USUAL)
def test_a_batch_of_fft_keeps_its_points(device_class):
    parameters = kernel_toml.load(KERNELS / "fft" / "kernel.toml").parameters
    log_size, batch = USUAL[device_class]
    found = kernel_toml.on_device(parameters, device_class, {"cores": 2, "banks": 2})
    assert (found["log_size"], found["batch"]) == (log_size, batch)
    for other in (3, log_size + 3, 30):
        found = kernel_toml.on_device(parameters, device_class, {"cores": 2, "banks": 2, "log_size": other})
        assert found["batch"] == max(1, batch * 2.0 ** (log_size - other))
