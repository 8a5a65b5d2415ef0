"""`systems new`: the files of this machine, and the report that takes its values from them."""

import dataclasses
import json
import re
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
import samples
from fabricmark import results, systems
from fabricmark.base import kernels, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import launchers, short_runs
from fabricmark.systems import calibration, export, local_machine, text

EMULATOR = {**samples.DEVICE, "name": "emulated board", "class": "emulator", "emulated": True}


@pytest.fixture
def machine(place, monkeypatch):
    """A stand-in repository without an MPI launcher, whose host has a name."""
    monkeypatch.setattr(launchers, "find", lambda environment: None)
    monkeypatch.setattr("socket.gethostname", lambda: "vm 1")
    place.systems = place.folder / "systems"
    size = (
        f'\n[parameters.size]\ntype = "int"\ndefault = {samples.SIZE}\nstage = "run"\nmeaning = "elements"\n'
    )
    place.kernel_toml.write_text(samples.KERNEL_TOML + size)
    return place


def measured(machine, *words, **variables):
    """The system file after `systems new`."""
    done = machine.run("systems", "new", *words, **variables)
    assert done.returncode == 0, done.stderr
    return next(machine.systems.glob("*.toml"))


def modelled(machine, operation="triad", document=None):
    """The report's prediction of a run, in words: the value, or - ."""
    machine.write("one.json", document or samples.result())
    shown = machine.run("report", "results", "--full")
    lines = [re.split(" {2,}", line.strip()) for line in shown.stdout.splitlines()]
    row = next(line for line in lines if line[0] == operation)
    headings = next(line for line in lines if line[0] == "operation")
    found = row[headings.index("modelled")] if "modelled" in headings else "-"
    return found, shown.stdout + shown.stderr


def test_the_file_is_a_system(machine):
    file = measured(machine)
    assert file.name == "vm-1.toml"
    system = systems.load(file)
    assert system.board.name == "sample-cpu" and system.board.get("processor.cores") == 2
    assert (system.board.flops("float"), system.board.flops("double")) == (200e9, 100e9)
    assert system.board.updates_per_second == ((2.0**20, 8e8), (2.0**28, 1e8))
    limits = samples.calibration()  # l_k and l_m of eq. 5.1 in Meyer 2024
    assert (
        system.board.get("host.invocation_latency")
        == system.board["host.launch_latency"]
        == limits["launch_seconds"]
    )
    assert system.board.get("memory.copy_latency") == limits["device_copy"]["seconds"]
    assert system.board.get("memory.copy_bandwidth") == limits["device_copy"]["bytes_per_second"]
    base = system.bitstream("stream", "none")
    # What is built alone: neither the size of a short run nor what is no parameter of kernel.toml.
    assert base.parameters == {"vector_width": 16, "buffer_size": 4096}
    assert base.variant == "base" and 0.1 < base.measured["efficiency"] < 1.2
    assert base.measured["to_device_bytes_per_second"] > 1e9
    # Every value says that it was measured, when and by which run.
    assert system.sourced
    for one in system.sourced:
        assert re.match(
            r"measured 2026-11-21T01:02Z on \S+( by fm_calibrate|: (2 x )?fm_stream --variant)",
            one.source,
        )
    assert machine.run("systems", "check", file).returncode == 0
    assert base.error_bars["bandwidth"].shares[0] > 0 and "bandwidth_over_link" in base.error_bars
    machine.write("one.json", samples.result())
    assert " ± " in machine.run("report", "results", "--full").stdout


def test_the_runs_are_at_other_sizes_than_the_defaults(machine):
    measured(machine)
    sizes = [words[words.index("--size") + 1] for words in (one["words"] for one in machine.started())]
    assert len(sizes) >= 3 and str(samples.SIZE) not in sizes
    ranks = [
        words[words.index("--ranks") + 1]
        for words in (one["words"] for one in machine.started())
        if "--ranks" in words
    ]
    assert ranks == ["2"] * short_runs.PASSES


def test_a_doubled_efficiency_moves_the_prediction(machine):
    file = measured(machine)
    before, _ = modelled(machine)
    for part in (file.parent / "bitstreams").glob("*.toml"):
        found = re.findall(r"\nefficiency = (\S+)", part.read_text())
        assert found
        part.write_text(
            re.sub(
                r"\nefficiency = (\S+)", lambda one: f"\nefficiency = {float(one[1]) / 2}", part.read_text()
            )
        )
    after, shown = modelled(machine)
    assert float(after) == pytest.approx(float(before) / 2, rel=0.05)
    assert "-5" in shown  # the error of the model


@pytest.mark.parametrize("change", ["cpu", "name", "driver"])
def test_another_machines_file_is_not_taken(machine, change):
    measured(machine)
    document = samples.result()
    if change == "cpu":
        document["environment"]["host"]["cpu"] = "another CPU"
    else:
        document["environment"]["device"][change] = "another"
    value, shown = modelled(machine, document=document)
    assert value == "-" and "run `fabricmark systems new`" in shown


def test_the_newest_file_counts(machine):
    measured(machine, "one")
    measured(
        machine,
        "two",
        FAKE_CALIBRATION=json.dumps({**samples.calibration(), "device_copy_bytes_per_second": 1e9}),
    )
    found = local_machine.find(samples.CPU, "sample-cpu", "1.0")
    assert found.path.stem == "two" and not found.faults


def test_a_damaged_file_is_named(machine):
    file = measured(machine)
    part = next((file.parent / "bitstreams").glob("*.toml"))
    part.write_text(part.read_text().replace("GB/s", "GByte/s"))
    value, shown = modelled(machine)
    assert "warning:" in shown and part.name in shown.replace("\n", "")
    assert value == "49.75"  # of the calibration
    file.write_text("name = ")
    _, shown = modelled(machine)
    assert file.name in shown.replace("\n", "")


def test_known_until_it_is_asked_for_again(machine):
    file = measured(machine)
    count = len(machine.started())
    done = machine.run("systems", "new")
    assert f"sample-cpu (system) is known: {file}" in done.stdout
    assert len(machine.started()) == count
    before = {part.name for kind in ("boards", "bitstreams") for part in (file.parent / kind).iterdir()}
    measured(machine, "--again")
    after = {part.name for kind in ("boards", "bitstreams") for part in (file.parent / kind).iterdir()}
    assert len(machine.started()) == 2 * count
    assert len(after) == len(before) == 1 and after != before  # the old parts are gone
    systems.load(file)


def test_a_second_device_joins_the_first(machine):
    measured(machine)
    other = {**samples.DEVICE, "name": "other-cpu", "device_index": 1}
    calibration = json.dumps(samples.calibration(other))
    file = measured(machine, FAKE_DEVICES=json.dumps([samples.DEVICE, other]), FAKE_CALIBRATION=calibration)
    assert len(systems.load(file).boards) == 2
    for name in ("sample-cpu", "other-cpu"):
        assert local_machine.find(samples.CPU, name, "1.0").system.board.name == name


def test_an_interrupted_measurement_leaves_the_old_file(machine, monkeypatch):
    file = measured(machine)
    old = file.read_text()
    real = paths.write_atomically

    def fails(path, content):
        if path.parent.name == "bitstreams":
            raise FabricmarkError(f"cannot write {path}: No space left", "choose a writable place")
        real(path, content)

    monkeypatch.setattr(paths, "write_atomically", fails)
    assert machine.run("systems", "new", "--again").returncode == 2
    assert file.read_text() == old
    assert systems.load(file).bitstreams


def test_output_and_name(machine):
    done = machine.run("systems", "new", "mine", "--output", machine.folder / "there" / "x.toml")
    assert done.returncode == 0 and "there/x.toml" in done.stdout.replace("\n", "")
    assert systems.load(machine.folder / "there" / "x.toml").bitstreams
    assert not machine.systems.exists()


@pytest.mark.parametrize(
    "words, variables, code, cause",
    [
        ([], {"FAKE_DEVICES": "[]"}, 3, "no OpenCL device found"),
        ([], {"FAKE_DEVICES": json.dumps([EMULATOR])}, 2, "emulated board is an emulator"),
        ([], {"FAKE_EXIT": "3", "FAKE_SILENT": "1"}, 3, "no short run on sample-cpu was valid"),
        ([], {"FAKE_EXIT": "1"}, 3, "no short run on sample-cpu was valid"),
        ([], {"FAKE_KIND": "emulated"}, 3, "no short run on sample-cpu was valid"),
        ([], {"FAKE_CALIBRATION": "{}"}, 3, "calibration of sample-cpu failed"),
        (["../x"], {}, 2, "no name of a system"),
        (["--runtime", "nothing"], {}, 2, "there is no runtime"),
        (["--output", "/proc/x/y.toml"], {}, 2, "cannot write /proc/x"),
    ],
)
def test_what_cannot_be_measured(machine, one_error_line, words, variables, code, cause):
    assert cause in one_error_line(machine.run("systems", "new", *words, **variables), code)
    assert not machine.systems.exists()


def test_a_program_that_is_not_built(machine, one_error_line):
    (machine.programs / "fm_calibrate").unlink()
    assert "is not built; run `make build`" in one_error_line(machine.run("systems", "new"), 3)


def test_quick_measures_what_runs_by_default(machine):
    file = measured(machine, "--quick")
    runs = [one["words"] for one in machine.started()]
    assert runs and all(words[words.index("--variant") + 1] == "base" for words in runs)
    assert all(
        tuple(words[words.index(short_runs.QUICK[0]) :][: len(short_runs.QUICK)]) == short_runs.QUICK
        for words in runs
    )
    assert systems.load(file).bitstreams
    machine.write("one.json", samples.result())
    assert "model not calibrated" not in machine.run("report", "results", "--full").stdout
    machine.write("one.json", samples.result(variant="throughput"))
    assert "model not calibrated for this kernel" in machine.run("report", "results", "--full").stdout
    value, _ = modelled(machine, document=samples.result(variant="throughput"))
    assert value == "-" and modelled(machine)[0] != "-", "a limit is no prediction"


def test_a_kernel_that_a_known_device_lacks_is_measured(machine):
    """As after an update, by which another kernel runs by default."""
    file = measured(machine, "--quick")
    (part,) = (file.parent / "bitstreams").glob("*.toml")
    complete = part.read_text()
    other = complete.replace("stream-base", "stream-throughput").replace('"base"', '"throughput"')
    part.write_text(other)
    count = len(machine.started())
    done = machine.run("systems", "new", "--quick")
    assert "measuring what it lacks: stream" in done.stdout and done.returncode == 0, done.stderr
    assert len(machine.started()) == 2 * count
    found = systems.load(file).bitstreams
    assert [(one.name, one.variant) for one in found] == [
        ("stream-throughput", "throughput"),
        ("stream-base", "base"),
    ]
    assert found[1].measured == found[0].measured
    assert "lacks" not in machine.run("systems", "new", "--quick").stdout
    assert len(machine.started()) == 2 * count
    part.write_text(other)
    failing = machine.run("systems", "new", "--quick", FAKE_EXIT="1")
    assert failing.returncode == 0 and "left out" in failing.stdout and part.read_text() == other


def test_quick_takes_limits_that_were_just_measured(machine):
    path = calibration.file_for(samples.calibration())
    path.parent.mkdir(parents=True)
    for age, measurements in ((timedelta(minutes=1), 0), (timedelta(hours=1), 1)):
        then = datetime.now(UTC) - age
        path.write_text(json.dumps({**samples.calibration(), "created": then.isoformat()}))
        measured(machine, "--quick", "--again")
        assert len(machine.started("fm_calibrate")) == measurements


def test_limits_from_before_copies_were_timed_are_measured_again(machine):
    path = calibration.file_for(samples.calibration())
    path.parent.mkdir(parents=True)
    old = {**samples.calibration(), "created": datetime.now(UTC).isoformat()}
    del old["device_copy"]
    path.write_text(json.dumps(old))
    assert calibration.board(calibration.load(path)).get("memory.copy_latency") is None
    system = systems.load(measured(machine, "--quick", "--again"))
    assert len(machine.started("fm_calibrate")) == 1 and system.board.get("memory.copy_latency")


def test_somebody_elses_file_stays(machine, one_error_line):
    machine.systems.mkdir()
    mine = machine.systems / "vm-1.toml"
    mine.write_text('name = "x"\nsummary = "x"\n[[devices]]\nboard = "520n"\n')
    assert "was not written by `systems new`" in one_error_line(machine.run("systems", "new"), 2)
    assert mine.read_text().startswith('name = "x"')


@pytest.mark.parametrize(
    "name",
    [
        'a "quoted\\name"',
        *(pytest.param(one, marks=pytest.mark.full) for one in ("line\nbreak", "\x7f\x1b[2J", "Gerät €")),
    ],
)
def test_any_name_of_a_device_fits_into_a_file(machine, name):
    device = {**samples.DEVICE, "name": name}
    variables = {
        "FAKE_DEVICES": json.dumps([device]),
        "FAKE_CALIBRATION": json.dumps(samples.calibration(device)),
    }
    assert systems.load(measured(machine, **variables)).bitstreams
    assert local_machine.find(samples.CPU, name, "1.0").system is not None


@pytest.mark.parametrize(
    "number, dimension, written",
    [
        (19.2e9, "bytes_per_second", '"19.2 GB/s"'), (2.2e-5, "seconds", '"22 us"'),
        (0.0, "seconds", '"0 s"'), (2.0**29, "bytes", '"536.870912 MB"'),
        (2, "", "2"), (0.25, "number", "0.25"),
    ],
)  # fmt: skip
def test_quantities(number, dimension, written):
    assert text.quantity(number, dimension) == written


@pytest.mark.programs
def test_real_programs(tmp_path, monkeypatch):
    """Real kernels at tiny sizes: they tell values of each, and curves of messages."""
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(tmp_path / "systems"))
    monkeypatch.setenv("FABRICMARK_CACHE", str(tmp_path / "cache"))
    from fabricmark import models
    from fabricmark.models import gemm, ptrans
    from fabricmark.models.b_eff import measured
    from fabricmark.systems import calibration

    found = [one for one in kernels.devices("system") if one["class"] == "cpu" and not one["emulated"]]
    if not found:
        pytest.skip("no CPU device")
    board = calibration.board(
        {**samples.calibration(), "device": {**samples.calibration()["device"], "class": "cpu"}}
    )
    monkeypatch.setattr(kernels, "benchmark_names", lambda: ["gemm", "ptrans", "b_eff"])
    for model in (gemm, ptrans):
        monkeypatch.setattr(model, "short_runs", lambda defaults: [{"size": 256}, {"size": 512}])
    few = [{"transport": "cpu", "largest": 4}, {"transport": "host", "chunk_bytes": 0, "largest": 4}]
    monkeypatch.setattr(models.find("b_eff"), "short_runs", lambda defaults: few)
    monkeypatch.setattr(short_runs, "REPETITIONS", 1)
    said = []
    made = short_runs.measure("system", found[0], board, False, said.append, passes=1)
    assert [curve.devices for curve, _ in made.curves] == [1, 2], said
    names = {one.name for one, _ in made.bitstreams}
    assert {"gemm-base-1r", "ptrans-base", "ptrans-throughput", "b_eff-base-1r", "b_eff-base-2r"} <= names, (
        said
    )
    assert all(one.measured for one, _ in made.bitstreams)
    messages = next(one for one, _ in made.bitstreams if one.name == "b_eff-base-1r")
    assert measured.LINES[0] + "_start_seconds" in messages.measured
    built = {"replications": 2, "channel_width": 8, "internal_channels": True}  # of its kernels over channels
    assert messages.parameters == {"ranks": 1, **built}, "nothing else is built"
    a_program_takes_them(tmp_path, made.bitstreams)


def a_program_takes_them(folder, bitstreams):
    """What is written of a machine can be given to a program, which has a size of its own."""
    texts = {
        "bitstreams/b.toml": text.bitstreams("b", "of a test", bitstreams),
        "boards/b.toml": 'name = "b"\nclass = "cpu"\nsource = "a test"\n'
        '[memory]\nbanks = 1\nbank_bandwidth = "2 GB/s"\n',
        "b.toml": 'name = "b"\nsummary = "b"\n[[devices]]\nboard = "b"\nsource = "a test"\n'
        'per_node = 1\nmost = 1\nbitstreams = ["b"]\n',
    }
    for name, content in texts.items():
        paths.write_atomically(folder / "made" / name, content)
    exported, result = folder / "made" / "b.json", folder / "made" / "result.json"
    exported.write_text(export.text(folder / "made" / "b.toml"))
    command = [
        paths.program("gemm"),
        "--system",
        exported,
        "--bitstream-id",
        "b/gemm-base-1r",
        "--size",
        "320",
    ]
    done = subprocess.run(
        [*command, "--repetitions", "1", "--json", result], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert results.load(result).document["parameters"]["size"] == 320
    made = next(one for one, _ in bitstreams if one.name == "gemm-base-1r").parameters
    made = {name: value for name, value in made.items() if name != "ranks"}
    assert made and made.items() <= results.load(result).document["parameters"].items()


def test_figures_are_those_of_all_passes(machine, monkeypatch):
    """A second pass in which the machine is slower moves them, and one that fails is left out and said."""
    loaded, real = [], results.load

    def second_pass(what):
        def load(path):
            loaded.append(real(path))
            return loaded[-1] if len(loaded) <= runs else what(loaded[-1])

        return load

    def slower(result):
        halved = [dataclasses.replace(one, best=one.best / 2) for one in result.measurements]
        return dataclasses.replace(result, measurements=halved)

    def modelled_too(result):
        twins = [dataclasses.replace(one, kind="modelled", best=one.best * 9) for one in result.measurements]
        return dataclasses.replace(result, measurements=[*twins, *result.measurements])

    def fails(result):
        raise FabricmarkError("broken", "try again")

    def efficiency(name, *words):
        loaded.clear()
        file = measured(machine, name, "--again", *words)
        return systems.load(file.parent / f"{name}.toml").bitstream("stream", "none").measured["efficiency"]

    runs = 10**6
    monkeypatch.setattr(short_runs.results, "load", second_pass(slower))
    once = efficiency("once", "--passes", "1")
    runs = len(loaded)
    assert runs >= 3
    assert 0.5 * once < efficiency("slower") < 0.95 * once
    assert len(loaded) == 2 * runs
    monkeypatch.setattr(short_runs.results, "load", second_pass(modelled_too))
    assert efficiency("modelled") == pytest.approx(once), "only measured times describe this machine"
    monkeypatch.setattr(short_runs.results, "load", second_pass(fails))
    assert efficiency("failing") == pytest.approx(once)
    done = machine.run("systems", "new", "again", "--again")
    assert done.stdout.count("left out") == 2 * runs, "now all fail"


@pytest.mark.parametrize("passes", ["0", "many"])
def test_a_wrong_number_of_passes(machine, passes):
    done = machine.run("systems", "new", "--passes", passes)
    assert done.returncode == 2 and "passes" in done.stderr
