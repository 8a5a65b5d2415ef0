"""`fabricmark-describe`: what kernel.toml says, told to Python once and as the programs would."""

import json
import os
import random
import subprocess

import pytest
import samples
from conftest import DESCRIBE, REPOSITORY
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream
from fabricmark.predict import options, points
from fabricmark.systems import System, export
from stream_program import devices, on_a_device

pytestmark = pytest.mark.programs
RESOLVED = DESCRIBE.with_name("resolved_options")
NAMES = sorted(path.parent.name for path in (REPOSITORY / "kernels").glob("*/kernel.toml"))
SETTINGS = 1000
CLASSES = ("cpu", "gpu", "fpga", "emulator")
USUAL = {"cpu": (12, 2048), "gpu": (12, 16384), "fpga": (12, 65536), "emulator": (6, 16)}


def asked(text, *words):
    return subprocess.run([DESCRIBE, *words], input=text, capture_output=True, text=True, check=False)


def written(place, text=samples.KERNEL_TOML):
    place.kernel_toml.write_text(text)
    return kernels.kernel("stream")


def refused(call, *words):
    with pytest.raises(FabricmarkError) as caught:
        call(*words)
    assert "\n" not in str(caught.value) and "; " in str(caught.value)
    return str(caught.value)


def test_it_needs_neither_opencl_nor_mpi():
    def libraries(program):
        return subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout

    assert not {"libOpenCL", "libmpi"} & {name.partition(".")[0] for name in libraries(DESCRIBE).split()}
    assert "libOpenCL" in libraries(DESCRIBE.with_name("fm_stream"))


def test_a_kernel_toml(place):
    kernel = written(place)
    assert (kernel.benchmark, list(kernel.variants)) == ("stream", ["base"])
    assert list(kernel.parameters) == ["vector_width", "buffer_size", "replications"]
    assert kernel.parameters["vector_width"].allowed() == ["1", "2", "4", "8", "16"]
    buffer, copies = kernel.parameters["buffer_size"], kernel.parameters["replications"]
    assert (buffer.option, buffer.allowed()) == ("--buffer-size", ["1 to 65536"])
    assert sorted(copies.defaults()) == ["cpu: cores", "emulator: 2", "fpga: banks", "gpu: 1"]
    assert (buffer.scope, buffer.dimensions, buffer.rounded_to) == ("per-rank", 1, "")
    scaled = 'default = 4\nscope = "total"\ndimensions = 2\nrounded_to = "buffer_size"'
    width = written(place, samples.KERNEL_TOML.replace("default = 4", scaled)).parameters["vector_width"]
    assert (width.scope, width.dimensions, width.rounded_to) == ("total", 2, "buffer_size")
    assert "line 1 is not TOML" in refused(written, place, "benchmark = ")
    assert "p = 3" not in refused(written, place, samples.KERNEL_TOML.replace("= 4", "= 3", 1))


def test_what_is_built_and_started():
    request = kernels.wanted("gemm", "cpu", {"size": "2^10", "data_type": "double"}, 3, banks=2)
    (found,) = kernels.ask([request])
    assert (found["variant"], found["banks"], found["parameters"]["replications"]) == ("base", 2, 3)
    assert found["definitions"]["DATA_TYPE"] == "double" and found["definitions"]["FM_CPU"] == "1"
    kinds = {one["name"]: one["kind"] for entry in found["entry_points"] for one in entry["arguments"]}
    assert (kinds["a"], kinds["alpha"]) == ("buffer", "double")


def test_formulas_that_have_names_are_written_out():
    known = kernels.kernel("gemm").quantities
    assert known["block_edge"] == "ceil(size / block_size)"
    assert known["block_row_share"] == (
        "floor(((ceil(size / block_size)) + replications - 1 - replica) / replications)"
    )
    assert kernels.kernel("stream").quantities == {}


def test_the_time_of_kernels():
    costs = kernels.costs("gemm")
    load, multiply, add = costs["base"]["multiply"]
    assert [one.phase for one in (load, multiply, add)] == ["load", "multiply", "add to C"]
    assert multiply.cycles == "((block_size / gemm_size)^3) / kernel_hz"
    assert multiply.repeat == "block_rows * blocks^2"
    assert multiply.seconds == "cycles * (block_rows * blocks^2)"
    assert multiply.memory == load.cycles == add.cycles == "0"
    assert load.memory.endswith(" / memory_hz") and load.system == {"memory_hz": "kernel_hz"}
    assert costs["throughput"] == {}
    (loop,) = kernels.costs("fft")["base"]["fft"]
    assert loop.seconds == f"max(cycles, memory) / pipeline_efficiency * ({loop.repeat})"
    assert loop.system == {"bank_bytes_per_second": "", "kernel_hz": "", "pipeline_efficiency": "1"}


def test_the_bitstream_of_a_system(tmp_path, of_the_repository):
    file = tmp_path / "system.json"
    file.write_text(export.text("noctua1"))
    wanted = "520n_multi/gemm"
    (found,) = kernels.ask([kernels.wanted("gemm", "fpga", {}, system=str(file), bitstream_id=wanted)])
    assert (found["banks"], found["parameters"]["block_size"]) == (4, 512)
    unknown = kernels.wanted("gemm", "fpga", {}, system=str(file), bitstream_id="none/such")
    assert "no bitstream 'none/such' of gemm; use --bitstream-id" in refused(kernels.ask, [unknown])


@pytest.mark.parametrize("device_class", USUAL)
def test_a_batch_of_fft_keeps_its_points(device_class):
    log_size, batch = USUAL[device_class]
    for given in (None, 3, log_size + 3, 30):
        settings = {} if given is None else {"log_size": given}
        (found,) = kernels.ask([kernels.wanted("fft", device_class, settings, 2, variant="throughput")])
        chosen = found["parameters"]
        assert chosen["log_size"] == (given or log_size)
        assert chosen["batch"] == max(1, batch * 2.0 ** (log_size - chosen["log_size"]))


@pytest.mark.parametrize(
    "request_, cause",
    [
        ([], "a request is no object"),
        ({"benchmark": 3}, "a request's benchmark is of another type"),
        ({"benchmark": "steam"}, "cannot read the kernel description"),
        ({"benchmark": "../kernels/fft"}, "there is no benchmark"),
        ({"benchmark": "fft", "clas": "cpu"}, "a request has no clas"),
        ({"benchmark": "fft", "class": "tpu"}, "there is no device class 'tpu'; use cpu, gpu"),
        ({"benchmark": "fft", "class": "cpu", "cores": "2"}, "cores is of another type"),
        ({"benchmark": "fft", "class": "cpu"}, "replications: its default 'cores' needs the cores"),
        ({"benchmark": "fft", "settings": {"size": "2"}}, "fft has no parameter 'size'; use one of scope"),
        ({"benchmark": "fft", "settings": {"batch": 2}}, "settings is of another type"),
    ],
)
def test_a_wrong_request_does_not_keep_others_from_their_answer(request_, cause):
    done = asked(json.dumps({"requests": [request_, {"benchmark": "fft"}]}))
    wrong, right = json.loads(done.stdout)["answers"]
    assert right["benchmark"] == "fft" and wrong["error"]["code"] == 2
    assert cause in refused(kernels.refused, wrong)


def test_what_is_no_character_is_escaped():
    assert r"log_size = '\udcff'" in refused(kernels.ask, [kernels.settings("fft", {"log_size": "\udcff"})])
    request = kernels.wanted("fft", "cpu", {}, 1, system="\udcff")
    assert r"cannot read the system file '\udcff'" in refused(kernels.ask, [request])


@pytest.mark.parametrize("text", ["", "[]", '{"requests": 1}', '{"requests": [', "\xff"])
def test_no_requests(text):
    done = asked(text)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "fabricmark-describe: error: standard input has no list of requests; see docs/describe.md\n"
    )


def test_its_options():
    assert asked("", "--version").stdout.startswith("fabricmark-describe 0.")
    assert "requests" in asked("", "--help").stdout
    assert asked("", "--size").stderr == "fabricmark-describe: error: unknown option '--size'; see --help\n"


def test_without_the_program(place, one_error_line):
    (place.programs / DESCRIBE.name).unlink()
    line = one_error_line(place.run("list"), 3)
    assert "fabricmark-describe is not built; run `make build`" in line


def test_a_program_that_takes_too_long(tmp_path, monkeypatch):
    fake = tmp_path / DESCRIBE.name
    fake.write_text("#!/bin/sh\nexec sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setattr(kernels.paths, "describe", lambda: fake)
    monkeypatch.setattr(kernels, "LONGEST_SECONDS", 0.2)
    said = refused(kernels.ask, [{"benchmark": "stream", "class": "cpu", "cores": 77}])
    assert "has not answered 1 requests in 0.2 s; ask for fewer points, devices or bytes" in said


@pytest.mark.parametrize("body", ["sys.exit(9)", "print('{}')", "print('{\"answers\": []}')"])
def test_a_program_that_does_not_answer(place, one_error_line, body):
    (place.programs / DESCRIBE.name).unlink()
    place.add_program(place.programs / DESCRIBE.name, body)
    assert "fabricmark-describe" in one_error_line(place.run("list"), 3)


def test_a_command_starts_it_a_few_times(place):
    """However many points and benchmarks there are."""
    started = place.folder / "starts"
    (place.programs / DESCRIBE.name).unlink()
    body = f"open({str(started)!r}, 'a').write('.')\nimport os\nos.execv({str(DESCRIBE)!r}, sys.argv)"
    place.add_program(place.programs / DESCRIBE.name, body)
    for name in ("kernels", "systems", "data"):
        if name == "kernels":
            place.kernel_toml.unlink()
            place.kernel_toml.parent.rmdir()
            (place.root / name).rmdir()
        (place.root / name).symlink_to(REPOSITORY / name)
    clock = "bitstream.clock=200MHz:300MHz:2MHz"
    sweeps = ["--sweep", "size=512:16384", "--sweep", clock, "--set", "unroll=8"]
    kernels._answers.clear()
    done = place.run("predict", "gemm", "--system", "noctua1", *sweeps, FABRICMARK_SYSTEMS=os.devnull)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 300
    assert len(started.read_text()) <= 6


def text_of(source, parameter):
    """A value as somebody may write it; most are allowed."""
    if source.random() < 0.1:
        return source.choice(
            ["", "--", "--size", "1.5", "x", "true", "2^", "2^62", "2^63", "9" * 20, "-1", "0x10"]
        )
    if parameter.values:
        return kernels.text(source.choice(parameter.values))
    if parameter.type == "bool":
        return source.choice(["true", "false"])
    if parameter.type == "string":
        return source.choice(["pageable", "1,4", "both", "anything else"])
    low, high = parameter.range or (0, 2**40)
    if parameter.type == "float":
        return str(source.choice([low, high, (low + high) / 2, high + 1, source.uniform(low, high)]))
    number = source.choice(
        [low, high, source.randint(low, high), source.randint(low, min(high, low + 64)), high + 1]
    )
    power = source.randint(0, 40)
    return source.choice([str(number), str(number), f"2^{power}", f"{min(number, 9999)}Ki"])


def random_requests(name):
    """SETTINGS of a benchmark, the same ones each time."""
    source = random.Random(f"settings of {name}")
    kernel = kernels.kernel(name)
    found = []
    for _ in range(SETTINGS):
        chosen = [one for one in kernel.parameters.values() if source.random() < 2 / len(kernel.parameters)]
        settings = {one.name: text_of(source, one) for one in chosen}
        variant = source.choice(["", "", *kernel.variants, "fast"])
        more = {"banks": source.choice([1, 2, 4, 32]), "variant": variant}
        found.append(kernels.wanted(name, source.choice(CLASSES), settings, source.randint(1, 65), **more))
    return found


def command_line(request):
    """The words of a program's command line that ask for the same."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in request["settings"].items()]
    # Words without a value take the next one for it, and the last ones are found out before all others.
    return [*words, *([f"--variant={request['variant']}"] if "variant" in request else []), "--warmup=1"]


def as_said(answer):
    """An answer as `resolved_options` says it."""
    if "error" in answer:
        return {"error": f"{answer['error']['cause']}; {answer['error']['remedy']}"}
    return {"variant": answer["variant"], "parameters": answer["parameters"]}


@pytest.mark.parametrize("name", NAMES)
def test_describe_and_programs_agree(name):
    """On the same settings, given as requests and as command lines, errors among them."""
    requests = random_requests(name)
    found = [as_said(one) for one in kernels.answers(requests)]
    keys = ("benchmark", "class", "cores", "banks")
    lines = [{**{key: one[key] for key in keys}, "words": command_line(one)} for one in requests]
    environment = {**os.environ, "FABRICMARK_KERNELS": str(REPOSITORY / "kernels")}
    done = subprocess.run(
        [RESOLVED], input=json.dumps(lines), env=environment, capture_output=True, text=True, check=True
    )
    for request, one, other in zip(requests, found, json.loads(done.stdout), strict=True):
        assert one == other, request
    valid = [one for one in found if "error" not in one]
    assert SETTINGS / 10 < len(valid) < SETTINGS, "the settings say too little"
    for name_, parameter in kernels.kernel(name).parameters.items():  # as `fabricmark list` shows it
        values = [one["parameters"][name_] for one in valid]
        assert not parameter.values or set(values) <= set(parameter.values)
        assert not parameter.range or parameter.range[0] <= min(values) <= max(values) <= parameter.range[1]


@pytest.mark.parametrize("count", [SETTINGS // 4, pytest.param(SETTINGS, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", NAMES)
def test_predict_agrees(name, count):
    """It takes the same values, each by itself and all together, and refuses the same."""
    requests = [
        {key: value for key, value in one.items() if key != "variant"}
        for one in random_requests(name)[:count]
    ]
    preset = points.models.traits(name).preset
    whole = [
        {**one, "settings": {**{key: str(value) for key, value in preset.items()}, **one["settings"]}}
        for one in requests
    ]
    each = [kernels.settings(name, {key: text}) for one in requests for key, text in one["settings"].items()]
    kernels.answers(each)  # one start for all of them
    answers = kernels.answers(whole)
    plans = [plan_of(request, answer) for request, answer in zip(requests, answers, strict=True)]
    kernels.answers([one.asked for one in plans if not isinstance(one, str)])
    for request, plan, answer in zip(requests, plans, answers, strict=True):
        found = plan if isinstance(plan, str) else as_said(*kernels.answers([plan.asked]))
        if "error" in answer:
            refusal = found if isinstance(found, str) else found["error"]
            # Of which another one may be named first; a default of more cores than replications is one, too.
            several = len(request["settings"]) > 1 or "(default)" in as_said(answer)["error"]
            assert several or refusal == as_said(answer)["error"], request
        else:
            run = points._grown(request_of(request, answer), plan, found)
            assert {**answer["parameters"], **plan.stated, "variant": answer["variant"]} == run, request
            assert all(answer["parameters"][key] == value for key, value in plan.given.items())


def request_of(request, answer):
    board = Board("b", request["class"]).having(
        {"memory.banks": request["banks"], "memory.bank_bandwidth": 1e9, "processor.cores": request["cores"]}
    )
    # Which an FPGA needs; over some transports there is one kind of kernel only.
    is_of_kernels = request["settings"].get("transport", "").startswith(("accl", "channels"))
    variant = answer.get("variant", "dataflow" if is_of_kernels else "base")
    bitstream = Bitstream("b", request["benchmark"], "b", variant, "none", {})
    is_fpga = request["class"] == "fpga"
    parts = {"b/b": ()} if is_fpga else {}  # its values by FILE/NAME, as systems have them
    system = System("s", "", board, "b", 1, 1, {}, (bitstream,) if is_fpga else (), parts=parts)
    return points.PredictionRequest(request["benchmark"], system, "none", points.WEAK)


def plan_of(request, answer):
    """What `fabricmark predict` makes of the settings before it asks, or the error that it ends with."""
    words = list(request["settings"].items())
    try:
        numbers = options.numbers(request["benchmark"], words)
        return points._plan(
            request_of(request, answer), 1, dict(zip(request["settings"], numbers, strict=True))
        )
    except FabricmarkError as error:
        return str(error)


# What a run refuses, and what it takes.
RUNS = [
    ("stream", {"size": "much"}, None),
    ("stream", {"unroll": "0"}, None),
    ("gemm", {"block_size": "250"}, None),
    ("gemm", {"size": ""}, None),
    ("fft", {"log_size": "18"}, None),
    ("fft", {"log_size": "2^2", "batch": "2Ki"}, "base"),
    ("stream", {"size": "2^12", "vector_width": "4"}, "base"),
    ("gemm", {"size": "64", "block_size": "32"}, "throughput"),
]


@pytest.mark.parametrize("name, settings, variant", RUNS, ids=[f"{one[0]}-{one[1]}" for one in RUNS])
def test_a_run_agrees(tmp_path_factory, name, settings, variant):
    program = on_a_device(tmp_path_factory, name)
    request = {"benchmark": name, "settings": settings, **({"variant": variant} if variant else {})}
    words = [*command_line(request), "--repetitions=1"]
    device = devices(program)[0]
    asked_ = kernels.wanted(name, device["class"], settings, device["compute_units"], variant=variant)
    (answer,) = kernels.answers([asked_])
    done = program.run(*words)
    if variant is None:
        assert (done.code, done.errors) == (2, f"fm_{name}: error: {as_said(answer)['error']}\n")
    else:
        found = {"variant": done.document["run"]["variant"], "parameters": done.document["parameters"]}
        del found["parameters"]["memory"]  # an option of every program
        assert as_said(answer) == found
