"""Several systems side by side, and what people ask of a prediction next."""

import csv
import io

import pytest
from fabricmark import systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import certainty, measured, points, view
from fabricmark.predict.points import Case


def case_of(benchmark, system, transport="none", counts=(1,), **more):
    request = points.PredictionRequest(benchmark, systems.load(system), transport, points.WEAK, **more)
    found, about = points.predict(request, counts, {})
    return Case(request, found, certainty.certainty_of(request, found, system), about)


def test_systems_and_transports_side_by_side(predict, tmp_path):
    file = tmp_path / "found.csv"
    words = ["hpl", "--system", "noctua1,cygnus", "--transport", "channels,host", "--devices", "1,4"]
    done = predict(*words, "--csv", file, "--plot", tmp_path / "found.svg")
    assert done.returncode == 0, done.stderr
    assert "hpl on 4 systems or networks" in done.stdout and "efficiency" in done.stdout
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert {(row["system"], row["transport"]) for row in rows} == {
        (system, transport) for system in ("noctua1", "cygnus") for transport in ("channels", "host")
    }
    alone = predict("hpl", "--system", "noctua1", "--transport", "host", "--devices", "4", "--csv", file)
    assert alone.returncode == 0
    (one,) = [row for row in csv.DictReader(io.StringIO(file.read_text())) if row["operation"] == "lu"]
    assert one["value"] in {row["value"] for row in rows if row["system"] == "noctua1"}


def test_names_that_stand_twice_are_refused(predict, one_error_line):
    line = one_error_line(predict("hpl", "--system", "noctua1,noctua1"), 2)
    assert "stands twice; name each once" in line


def test_efficiency_is_that_of_a_device():
    case = case_of("hpl", "noctua1", "channels", (1, 16))
    one, many = case.points
    assert case.efficiency(one) == 1
    assert case.efficiency(many) == pytest.approx(many.headline.value / 16 / one.headline.value)


def test_sensitivity_names_what_moves_the_prediction_most():
    case = case_of("gemm", "noctua1")
    line = view.sensitivity(case)
    assert line.index("bitstream.clock") < line.index("board.memory.clock")
    more = view.headline(case.request, case.points[0], {"bitstream.clock": 1.1 * 272.5e6})
    assert f"bitstream.clock +{100 * (more / case.points[0].headline.value - 1):.1f} %" in line


def test_the_fewest_devices_that_reach_a_value():
    case = case_of("hpl", "cygnus", "channels", (1, 25, 36))
    _, few, enough = (point.headline.value for point in case.points)
    assert few < 20e3 < enough
    assert f"a square of 36 devices reach {enough:.0f} GFLOP/s" in view.reach(case, "20 TFLOP/s", False)
    assert "is not reached: 64 devices" in view.reach(case, "1 PFLOP/s".replace("1 P", "1000 T"), False)
    gemm = case_of("gemm", "noctua1")
    wanted = 17 * gemm.points[0].headline.value
    assert "17 devices" in view.reach(gemm, f"{wanted * 0.999:.6g} GFLOP/s", False)
    assert "18 devices" in view.reach(gemm, f"{wanted * 1.001:.6g} GFLOP/s", False)
    with pytest.raises(FabricmarkError, match="no amount of GFLOP/s"):
        view.reach(gemm, "20 GB/s", False)


def test_how_much_of_a_value_is_enough():
    case = case_of("hpl", "noctua1", "channels", (16,))
    request = case.request
    line = view.enough(case, "bitstream.fitted.panel_efficiency")
    assert "brings less than 1 %" in line
    with pytest.raises(FabricmarkError, match="reads no such value; use one of"):
        view.enough(case, "network.self_bandwidth")
    closed = points.settings.without_curves(request.system)
    slow = case_of("hpl", "noctua1", "channels", (16,))
    slow = Case(points.PredictionRequest("hpl", closed, "channels", points.WEAK), slow.points, slow.known)
    rate = float(view.enough(slow, "network.links.bandwidth").split("from ")[1].split(" GB/s")[0])
    far, near, little = (
        view.headline(slow.request, slow.points[0], {"network.links.bandwidth": by * rate * 1e9})
        for by in (1000, 1.01, 0.5)
    )
    assert near > 0.989 * far > little


def test_more_devices_than_the_system_has(predict, one_error_line):
    words = ["b_eff", "--system", "noctua1", "--devices", "32,64"]
    assert "use at most 32, or --beyond" in one_error_line(predict(*words), 2)
    done = predict(*words, "--beyond")
    assert done.returncode == 0
    assert "64*" in done.stdout and "32*" not in done.stdout
    assert "noctua1 has 32 devices (* more than that)" in done.stdout
    widths = {line.split()[0]: float(line.split("%")[0].split()[-1]) for line in done.stdout.splitlines()
              if line.strip().startswith(("32 ", "64*"))}  # fmt: skip
    assert widths["64*"] > widths["32"]


def test_power_and_performance_per_watt():
    line = view.power(case_of("stream", "u280_hbm"))
    assert "Table 3.11" in line and "41.44 W on average, 59.98 W at most" in line
    assert "MHz" not in line  # the design that was measured
    assert "of a design at 160.4 MHz, this one has 272.5 MHz" in view.power(case_of("gemm", "noctua1"))
    assert view.power(case_of("fft", "noctua1")) == ""
    changed = case_of("gemm", "noctua1", overrides={"bitstream.clock": 2e8})
    assert view.power(changed) == ""


def test_published_values_beside_a_line():
    case = case_of("hpl", "noctua1", "channels", (1, 4, 16))
    found = measured.points(case)
    assert {devices for devices, _ in found} == {1, 4, 16}
    by_devices = {one.devices: one.headline.value for one in case.points}
    assert all(abs(value / by_devices[devices] - 1) < 0.1 for devices, value in found)
    assert measured.points(case_of("b_eff", "leaf_spine", "channels")) == []
