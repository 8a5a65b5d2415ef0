"""The schemas: each accepts what it shall, refuses what it must, and describes every field."""

import copy
import json

import pytest
import samples
from fabricmark import results
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault, validator
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

NAMES = (
    "result-2",
    "timeline-1",
    "calibration-3",
    "compare-1",
    "exported-system-1",
    "launcher-1",
    "failure-1",
)
FUZZ = settings(max_examples=150)


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_valid_strict_and_described(name):
    schema = validator(name).schema
    Draft202012Validator.check_schema(schema)
    faults = list(undescribed(schema, name))
    assert not faults, faults


def undescribed(node, place):
    """Objects that let unknown keys pass without saying so, and fields without a description."""
    if not isinstance(node, dict):
        return
    if "properties" in node and node.get("additionalProperties") is not False:
        yield f"{place} is open"
    for key, child in node.get("properties", {}).items():
        if "description" not in child:
            yield f"{place}.{key} is not described"
        yield from undescribed(child, f"{place}.{key}")
    for key in ("items", "additionalProperties"):
        yield from undescribed(node.get(key), f"{place}.{key}")
    for child in node.get("anyOf", []):
        yield from undescribed(child, place)


def test_the_check_of_descriptions_notices():
    assert list(undescribed({"properties": {"a": {}}}, "x")) == ["x is open", "x.a is not described"]


@pytest.mark.parametrize(
    "document", [samples.result(), samples.result(ranks=2), samples.result(status="failed")]
)
def test_samples_are_valid(document):
    assert first_fault("result-2", document) is None


def test_optional_parts_are_accepted():
    document = samples.result()
    document["timeline"] = [
        {"rank": 0, "repetition": 0, "operation": "triad", "replication": 0, "kernel": "stream"}
        | {"queued": 0.0, "submitted": 0.1, "started": 0.2, "ended": 0.3}
    ]
    document["energy"] = [
        {"domain": "package-0", "source": "rapl", "joules": 3.0, "seconds": 1.5, "watts": 2.0}
        | {"joules_per_repetition": 0.3}
    ]
    document["verdicts"][0].update(error="inf", threshold="nan")
    assert first_fault("result-2", document) is None


def test_files_from_before_the_kernel_was_noted_are_read():
    document = samples.result()
    del document["run"]["kernel"]
    assert first_fault("result-2", document) is None


def test_a_derived_figure_needs_no_samples(tmp_path):
    document = samples.result()
    document["measurements"].append(samples.derived(1.5, 1.5))
    (figure,) = load(tmp_path, json.dumps(document)).measurements[-1:]
    assert (figure.best, figure.derived) == (1.5, "mean over the sizes of the best")
    assert results.values(figure) is None
    del document["measurements"][-1]["derived"]
    assert "measurements[6]" in refused(tmp_path, json.dumps(document))


BROKEN = {
    "unknown key": (("extra",), 1),
    "unknown nested key": (("run", "extra"), 1),
    "kind": (("measurements", 0, "kind"), "guessed"),
    "exit code": (("run", "exit_code"), 7),
    "time zone": (("run", "started"), "2026-11-21T01:02:03"),
    "string for a number": (("measurements", 0, "best"), "fast"),
    "zero sample": (("measurements", 0, "samples", "per_rank", 0, 0), 0),
    "no samples": (("measurements", 0, "samples", "per_rank"), []),
    "object as parameter": (("parameters", "size"), {}),
    "bool for an integer": (("environment", "ranks", "count"), True),
    "verdict": (("verdicts", 0, "status"), "perhaps"),
    "kind of the samples": (("measurements", 0, "samples", "kind"), "modelled"),
    "inner samples": (("measurements", 0, "samples", "inner"), []),
    "percentiles": (("measurements", 0, "percentiles"), {"p50": 1.0}),
}


@pytest.mark.parametrize("path, value", BROKEN.values(), ids=BROKEN)
def test_broken_documents_are_refused_by_key(path, value):
    document = samples.result()
    node = document
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    key, sentence = first_fault("result-2", document)
    assert str(path[0]) in key + sentence
    assert len(sentence) < 200


@pytest.mark.parametrize("key", list(samples.result()))
def test_every_top_level_key_is_required(key):
    document = samples.result()
    del document[key]
    assert key in first_fault("result-2", document)[1]


def load(tmp_path, text):
    path = tmp_path / "result.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return results.load(path)


def refused(tmp_path, text):
    with pytest.raises(FabricmarkError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert "result.json" in message and "; " in message and "\n" not in message
    return message


@pytest.mark.parametrize(
    "text, cause",
    [
        ("", "empty"),
        ("{", "not valid JSON"),
        (json.dumps(samples.result())[:-40], "not valid JSON"),
        ("[]", "not a fabricmark-result file"),
        ("[" * 100000, "nested too deeply"),
        ('{"schema": NaN}', "not finite"),
        ('{"schema": 1e999}', "not finite"),
        ('{"schema": ' + "9" * 5000 + "}", "too large"),
        ('{"schema": "fabricmark-result/3"}', "newer version"),
        ('{"schema": "fabricmark-result/0"}', "no version fabricmark-result/0"),
        ('{"schema": "fabricmark-calibration/3"}', "not a fabricmark-result file"),
        ('{"schema": "fabricmark-result/x"}', "no version fabricmark-result/x"),
        ('{"schema": "fabricmark-result/1"}', "required property"),
        ('{"schema": "fabricmark-result/2"}', "required property"),
    ],
)
def test_damaged_files_have_a_clear_cause(tmp_path, text, cause):
    assert cause in refused(tmp_path, text)


def test_bytes_that_are_not_text(tmp_path):
    path = tmp_path / "result.json"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(FabricmarkError, match="not valid JSON"):
        results.load(path)


def test_values_are_worked_out_from_the_slowest_rank(tmp_path):
    result = load(tmp_path, json.dumps(samples.result(ranks=2)))
    triad = next(entry for entry in result.measurements if entry.axes == {"operation": "triad"})
    assert results.values(triad)[0] == pytest.approx(2 * 3 * 4 * samples.SIZE / 0.0101 / 1e9)
    assert triad.best == pytest.approx(max(results.values(triad)))


@pytest.mark.parametrize("key", ["best", "median", "mean", "minimum", "maximum"])
def test_a_figure_that_its_samples_contradict_is_refused(tmp_path, key):
    document = samples.result()
    document["measurements"][3][key] *= 1.001
    message = refused(tmp_path, json.dumps(document))
    assert f"bandwidth triad: {key} is given as" in message


def test_samples_have_to_fit_the_ranks(tmp_path):
    document = samples.result(ranks=2)
    document["measurements"][0]["samples"]["per_rank"][1].pop()
    assert "different numbers" in refused(tmp_path, json.dumps(document))
    document = samples.result(ranks=2)
    document["measurements"][0] = samples.measurement("copy")
    assert "samples of 1 ranks" in refused(tmp_path, json.dumps(document))


def test_a_latency_is_its_own_value(tmp_path):
    document = samples.result()
    times = [3e-6, 2e-6, 4e-6]
    document["measurements"] = [
        {**samples.measurement(), "name": "latency", "unit": "us", "better": "lower", "work": None}
        | {"best": 2.0, "median": 3.0, "mean": 3.0, "minimum": 2.0, "maximum": 4.0}
        | {"samples": {"kind": "measured", "unit": "s", "per_rank": [times]}}
    ]
    assert results.values(load(tmp_path, json.dumps(document)).measurements[0]) == pytest.approx([3, 2, 4])
    document["measurements"][0]["best"] = 4.0
    assert "best" in refused(tmp_path, json.dumps(document))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=6,
)


def places(node, path=()):
    """Paths of all nodes of a document."""
    yield path
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def of_all_kinds():
    """A document with everything that a measurement can have."""
    document = samples.result(operations=("copy",))
    document["measurements"] += [
        samples.measurement("triad", kind="modelled"),
        samples.with_inner(((1e-6, 3e-6, 2e-6), (4e-6, 2e-6, 3e-6))),
    ]
    return document


DOCUMENTS = [of_all_kinds(), samples.of_version_1(samples.result(operations=("copy",)))]
PLACES = [(number, path) for number, one in enumerate(DOCUMENTS) for path in places(one) if path]


def load_or_refuse(tmp_path, text):
    """Never anything but a result or our own error."""
    try:
        result = load(tmp_path, text)
    except FabricmarkError as error:
        assert "\n" not in str(error)
        str(error).encode("utf-8")
    else:
        assert result.verdict() in ("valid", "INVALID", "incomplete", "not checked")


@FUZZ
@given(st.text() | st.builds(json.dumps, JSON_VALUES))
def test_random_text_is_refused_cleanly(tmp_path, text):
    load_or_refuse(tmp_path, text)


@FUZZ
@given(st.sampled_from(PLACES), JSON_VALUES, st.booleans())
def test_mutated_results_are_refused_cleanly(tmp_path, place, value, remove):
    number, path = place
    document = copy.deepcopy(DOCUMENTS[number])
    node = document
    for step in path[:-1]:
        node = node[step]
    if remove:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    load_or_refuse(tmp_path, json.dumps(document))


@FUZZ
@given(st.integers(0, 2000), st.integers(0, 60), st.text(max_size=5))
def test_damaged_text_is_refused_cleanly(tmp_path, start, length, insertion):
    text = json.dumps(of_all_kinds())
    load_or_refuse(tmp_path, text[:start] + insertion + text[start + length :])
