"""The program that models what it measures: both times go into one result file, each under its own name."""

import pytest
import samples
from fabricmark import results
from stream_program import PROGRAM, Stream, devices

KERNEL_TOML = """
benchmark = "simulated"
summary = "A part that is measured and modelled"
[variants.base]
file = "base.cl"
entry_points = ["nothing"]
"""
PARAMETERS = {"microseconds": 100, "first_rank": 0, "skipped": 999}
PLACES = 4

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def modelled(tmp_path_factory):
    """How to start the program, on a machine with a device and with a kernel of its own."""
    folder = tmp_path_factory.mktemp("modelled")
    made = Stream(folder, PROGRAM.with_name("modelled_program"))
    if not made.program.exists():
        pytest.skip("modelled_program is not built")
    kernel = folder / "kernels" / "simulated"
    kernel.mkdir(parents=True)
    (kernel / "base.cl").write_text("__kernel void nothing(void) {}\n")
    parameters = [
        f'[parameters.{name}]\ntype = "int"\ndefault = {value}\nstage = "run"\nmeaning = "of the test"\n'
        for name, value in PARAMETERS.items()
    ]
    (kernel / "kernel.toml").write_text(KERNEL_TOML + "\n".join(parameters))
    made.environment["FABRICMARK_KERNELS"] = str(folder / "kernels")
    devices(made)
    return made


def kinds(done):
    """{(name, kind): measurement} of a result file, which the reader has checked."""
    return {(entry["name"], entry["kind"]): entry for entry in done.document["measurements"]}


def test_measured_and_modelled_times_of_one_part_stand_side_by_side(modelled):
    done = modelled.valid("--ranks", "2", "--repetitions", "3", "--first-rank", "1")
    assert done.document["schema"] == "fabricmark-result/2"
    wall = "emulated" if done.document["environment"]["device"]["emulated"] else "measured"
    found = kinds(done)
    assert list(found) == [("time", wall), ("time", "modelled"), ("bandwidth", "modelled")]
    assert all(entry["samples"]["kind"] == kind for (_, kind), entry in found.items())
    # The second rank simulates twice the 100 us in each place, the first one nothing.
    modelled_time = found["time", "modelled"]
    assert modelled_time["samples"]["per_rank"][0] == [0.0] * 3
    assert modelled_time["samples"]["per_rank"][1] == pytest.approx([200e-6] * 3)
    assert modelled_time["best"] == pytest.approx(200)
    assert found["bandwidth", "modelled"]["best"] == pytest.approx(2 * 1e6 / 200e-6 / 1e9)
    assert found["time", wall]["samples"]["per_rank"] != modelled_time["samples"]["per_rank"]
    assert f"{wall} and modelled" in done.output and " kind " in done.output


def test_every_reader_takes_the_file(modelled, place):
    done = modelled.valid("--repetitions", "3")
    for name in ("a", "b"):
        place.write(f"{name}.json", done.document)
    report = place.run("report", "results/a.json", "--full")
    assert report.returncode == 0 and "modelled: computed." in report.stdout
    compared = place.run("compare", "--base", "results/a.json", "--new", "results/b.json")
    assert compared.returncode == 0 and compared.stdout.count("modelled") == 2, compared.stdout
    old = results.load(place.write("old.json", samples.of_version_1(done.document))).document
    assert old == {**done.document, "notes": list(done.document["notes"])}


@pytest.mark.parametrize("words", [("--microseconds", "0"), ("--skipped", "1"), ("--first-rank", "1")])
def test_a_modelled_metric_without_modelled_time_is_an_error(modelled, words):
    done = modelled.run(*words, "--repetitions", "2")
    (line,) = done.errors.splitlines()
    assert (
        "error: 'time' is a modelled metric, but nothing was simulated" in line
        and "; advance the simulated clock" in line
    )
    assert (done.code, done.document) == (3, None)


def test_single_times_are_kept_on_request(modelled):
    done = modelled.valid("--ranks", "2", "--repetitions", "3", "--inner-samples")
    wall, *others = done.document["measurements"]
    assert [[len(times) for times in rank] for rank in wall["samples"]["inner"]] == [[PLACES] * 3] * 2
    assert 0 <= wall["percentiles"]["p50"] <= wall["percentiles"]["largest"]
    assert all("percentiles" not in entry and "inner" not in entry["samples"] for entry in others)
