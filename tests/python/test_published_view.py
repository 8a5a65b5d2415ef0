"""`fabricmark run --system`: published values beside the modelled ones of the run."""

import pytest
from fabricmark.measure import published_view
from fabricmark.results import published
from simulated_runs import exported, program

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

CHANNELS = ("--transport", "channels", "--timing-only", "--ranks", 4)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    system = exported(folder)

    def document(name, *words):
        done = program(folder, name).run(*CHANNELS, "--system", system, *words)
        assert done.code == 0, done.errors
        return done.document

    return document


def test_values_of_the_same_run_stand_beside_each_other(run):
    found = list(published_view.beside(run("b_eff"), "noctua1"))
    assert {one.message_bytes for one in found} == {None, *(2**power for power in range(21))}
    assert all(0.9 < one.modelled / one.published < 1.1 for one in found)
    assert {one.unit for one in found} == {"GB/s"}
    (one,) = published_view.beside(run("hpl", "--size", 49152), "noctua1")
    assert (one.published, one.unit) == (3377.08, "GFLOP/s")
    assert one.cells[5].endswith(" %") and one.source.startswith("2_fpga/")


def test_a_published_time_stands_as_the_rate_of_its_work(run):
    """PTRANS's rows are times; Meyer 2024, Table 4.8 prints what they make on so many boards."""
    document = run("ptrans", "--size", 65536)
    found = list(published_view.beside(document, "noctua1"))
    assert found and {(one.metric, one.message_bytes, one.unit) for one in found} == {
        ("bandwidth", None, "GB/s")
    }
    assert all(0.9 < one.modelled / one.published < 1.1 for one in found)
    seconds = {
        row.value
        for row in published.load()
        if (row.benchmark, row.system, row.transport, row.devices, row.metric)
        == ("ptrans", "noctua1", "channels", 4, "calc_time")
    }
    times = [4 * 65536**2 / (one.published * 1e9) for one in found]
    assert all(any(time == pytest.approx(one) for one in seconds) for time in times)
    for one in document["measurements"]:
        one["work"] = None
    assert not list(published_view.beside(document, "noctua1"))


def test_another_size_system_or_number_of_devices_has_none(run):
    document = run("hpl", "--size", 49152)
    assert not list(published_view.beside(document, "hacc"))
    document["environment"]["ranks"]["count"] = 9
    assert not list(published_view.beside(document, "noctua1"))
    assert not list(published_view.beside(run("hpl", "--size", 1024), "noctua1"))


def test_wall_times_have_none_beside_them(run):
    document = run("hpl", "--size", 49152)
    for one in document["measurements"]:
        one["kind"] = "emulated"
    assert not list(published_view.beside(document, "noctua1"))
