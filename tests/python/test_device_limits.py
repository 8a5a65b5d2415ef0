"""Defaults on devices of every size: few units and many, little local memory, work-groups of one work-item.

Programs and their variants are found by listing; a new one is tried as well.
"""

import itertools
import json
import re

import pytest
from conftest import REPOSITORY
from fabricmark.base import kernels
from stream_program import PROGRAM, Stream, only_error

pytestmark = pytest.mark.programs
LIMITED = REPOSITORY / "build" / "release" / "tests" / "unit" / "liblimited_opencl.so"
NAMES = sorted(path.parent.name for path in (REPOSITORY / "kernels").glob("*/kernel.toml"))
CLASSES = ("cpu", "gpu", "fpga", "emulator")
UNITS = (1, 2, 64, 65, 128, 384)
USUAL = {"local_bytes": 32768, "work_items": 1024}
DEVICES = [
    *({"cores": units, **USUAL} for units in UNITS),
    {"cores": 2, "local_bytes": 1024, "work_items": 1024},
    {"cores": 65, "local_bytes": 32768, "work_items": 1},
    {"cores": 384, "local_bytes": 1024, "work_items": 1},
]
# What a device refuses whatever its size is, by the words of the reason.
NEVER = ("kernels that start by themselves",)
FPGA_LIKE = ("fpga", "emulator")  # whose kernels are built, so that each copy takes some of the chip


@pytest.fixture(scope="module")
def asked():
    """{(benchmark, variant, class, place in DEVICES): answer}; one start of the program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        variants = [(name, variant) for name in NAMES for variant in kernels.kernel(name).variants]
        keys = [
            (name, variant, device_class, place)
            for (name, variant), device_class in itertools.product(variants, CLASSES)
            for place in range(len(DEVICES))
        ]
        requests = [
            {"benchmark": name, "variant": variant, "class": device_class, **DEVICES[place], "settings": {}}
            for name, variant, device_class, place in keys
        ]
        return dict(zip(keys, kernels.answers(requests), strict=True))


def test_every_default_is_one_that_the_device_can_run(asked):
    refused = {
        key: answer["error"]["cause"]
        for key, answer in asked.items()
        if "error" in answer and not any(word in answer["error"]["cause"] for word in NEVER)
    }
    assert refused == {}
    assert len(asked) >= len(NAMES) * len(CLASSES) * len(DEVICES)


def test_all_units_of_a_processor_get_a_kernel(asked):
    """No number of today's processors is cut short: a device that is used in part has a wrong rate."""
    for name in ("stream", "gemm", "fft", "hpl", "ptrans"):
        for place, units in enumerate(UNITS):
            assert asked[name, "base", "cpu", place]["parameters"]["replications"] == units, name
    for place, copies in enumerate((1, 2, 64, 64, 128, 256)):  # powers of two
        assert asked["random_access", "base", "cpu", place]["parameters"]["replications"] == copies


def test_work_groups_fit(asked):
    small = len(DEVICES) - 1
    for (name, variant, device_class, place), answer in asked.items():
        if place != small or device_class != "gpu" or "error" in answer:
            continue
        found = answer["parameters"]
        own = (name, variant)
        assert variant != "throughput" or found.get("work_group_size", 1) == 1, own
        assert variant != "throughput" or found.get("group_side", 1) == 1, own
        if own == ("ptrans", "throughput"):
            assert found["tile_size"] * found["tile_rows"] == 1


def test_what_the_user_says_is_refused_and_not_changed():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        request = {
            "benchmark": "gemm",
            "variant": "throughput",
            "class": "gpu",
            "cores": 8,
            "work_items": 64,
            "settings": {"group_side": "16"},
        }
        (answer,) = kernels.answers([request])
        assert "group_side = 16 makes work-groups that take 256 work-items" in answer["error"]["cause"]
        assert "--group-side" in answer["error"]["remedy"] and answer["error"]["code"] == 2


@pytest.mark.parametrize("there", [0, 80, 89, 90, 91])
def test_matrix_units_are_taken_where_they_multiply_the_type(there):
    """With the tiles that their kernels are written for, and only what the device has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        types = [("gemm", one) for one in ("half", "float", "double", "mixed")]
        types += [("hpl", one) for one in ("float", "double", "mixed")]
        requests = [
            {
                "benchmark": benchmark,
                "variant": "throughput",
                "class": "gpu",
                "cores": 132,
                "work_items": 1024,
                "local_bytes": 49152,
                "matrix_units": there,
                "settings": {"data_type": data_type},
            }
            for benchmark, data_type in types
        ]
        for (benchmark, data_type), answer in zip(types, kernels.answers(requests), strict=True):
            found = answer["parameters"]
            has_them = data_type in ("double", "mixed") and there > 0
            usual = there if there > 89 else there // 10 * 10
            assert found["matrix_units"] == (usual if has_them else 0), (benchmark, data_type)
            if has_them:
                part = {"double": 8, "mixed": 16 if benchmark == "hpl" else 32}[data_type]
                assert found["depth_block"] == part  # in hpl of the kernels for floats beside
                assert (found["group_side"], found["tile_rows"], found["tile_vectors"]) == (16, 8, 8)


@pytest.mark.parametrize("name", ["gemm", "hpl"])
def test_matrix_units_that_are_not_there_are_refused(tmp_path, name):
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{name}"))
    words = ("--variant", "throughput", "--data-type", "double", "--matrix-units", 80, "--group-side", 16)
    tile = ("--tile-rows", 8, "--tile-vectors", 8, "--platform", "dry-run")
    line = only_error(
        program.start(*words, *tile, variables={"FABRICMARK_DRY_RUN": "gpu,local=49152"}), codes=(2,)
    )
    assert "has no matrix units of compute capability 80" in line and "--matrix-units 0" in line


FACTS = {
    "a large processor": "cpu,units=384",
    "a small GPU": "gpu,units=65,local=1024,work-items=1",
}
# Sizes of a moment, as all messages are exchanged; everything else is a default.
SMALL = {
    "stream": ("--size", 10000),
    "random_access": ("--log-size", 12),
    "fft": ("--log-size", 6),
    "gemm": ("--size", 512),
    "ptrans": ("--size", 512),
    "hpl": ("--size", 512),
    "b_eff": ("--largest", 12),
    "host_transfer": ("--largest", 14, "--link-gb-per-s", 10),
}
# Whose kernels nobody can stand in for.
NOT_ON_DRY_RUN = ("shallow_water", "lbm", "tsunami")


@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_ON_DRY_RUN])
def test_programs_run_to_their_end_on_such_devices(tmp_path, name, facts):
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{name}"))
    words = (*SMALL.get(name, ()), "--platform", "dry-run", "--repetitions", 1, "--warmup", 0)
    variant = ("--variant", "throughput") if "gpu" in FACTS[facts] and name != "b_eff" else ()
    done = program.run(*words, *variant, variables={"FABRICMARK_DRY_RUN": FACTS[facts]})
    assert done.code == 0, done.errors
    assert done.document["environment"]["device"]["class"] == FACTS[facts].split(",")[0]


def test_unknown_facts_are_refused(tmp_path):
    program = Stream(tmp_path)
    for facts in ("tpu", "units", "cores=2", ""):
        line = only_error(
            program.start("--platform", "dry-run", variables={"FABRICMARK_DRY_RUN": facts or ","}), codes=(2,)
        )
        assert "FABRICMARK_DRY_RUN says" in line


@pytest.fixture(scope="module")
def limited(stream):
    if not LIMITED.exists():
        pytest.skip("liblimited_opencl.so is not built")

    def run(name, facts, *words):
        program = Stream(stream.folder, stream.program.with_name(f"fm_{name}"))
        program.environment = {**program.environment, "LD_PRELOAD": str(LIMITED), "FABRICMARK_LIMITED": facts}
        return program.run(*words, "--repetitions", 1, "--warmup", 0)

    return run


@pytest.mark.parametrize("mode", ["", "sw_emu", "hw_emu", "noop"])
def test_a_board_that_its_runtime_emulates_is_marked_so(stream, mode):
    """XRT calls it by the name of the real one under XCL_EMULATION_MODE."""
    if not LIMITED.exists():
        pytest.skip("liblimited_opencl.so is not built")
    file = stream.new_file()
    variables = {"LD_PRELOAD": str(LIMITED), "FABRICMARK_LIMITED": "xilinx", "XCL_EMULATION_MODE": mode}
    done = stream.start("--list-devices", "--platform", "Xilinx", "--json", file, variables=variables)
    assert done.code == 0, done.errors
    found = json.loads(file.read_text())["devices"]
    assert found and all(one["class"] == "fpga" and one["emulated"] == bool(mode) for one in found)


def test_a_program_that_its_runtime_ends_has_no_success(limited):
    """XRT calls exit(0) when it loses a board that it emulates."""
    done = limited("stream", "ends", "--size", 1000)
    assert "a library ended the program before its work was done" in only_error(done, codes=(3,))
    assert done.document is None


TINY = "gpu,units=2,local=1024,work-items=1"


@pytest.mark.parametrize(
    "name, words",
    [
        ("gemm", ("--variant", "throughput", "--size", 70)),
        ("hpl", ("--variant", "throughput", "--size", 256)),
        pytest.param("gemm", ("--data-type", "double", "--size", 70), marks=pytest.mark.full),
        ("ptrans", ("--variant", "throughput", "--size", 128, "--block-size", 64)),
        ("fft", ("--variant", "throughput", "--log-size", 6, "--batch", 4)),
        ("random_access", ("--log-size", 10, "--log-work-items", 4)),
        ("shallow_water", ("--mesh", "bay:1000", "--steps", 12)),
        ("lbm", ("--columns", 130, "--rows", 17, "--steps", 12)),
    ],
)
def test_kernels_run_where_there_is_least_of_everything(limited, name, words):
    """A runtime that keeps to these limits computes what it should."""
    done = limited(name, TINY, *words)
    assert done.code == 0, done.errors


def test_kernels_that_take_fewer_work_items_than_the_device_get_them(limited):
    done = limited("stream", "gpu,units=2,kernel=64", "--size", 100000)
    assert done.code == 0, done.errors
    assert any("work-groups of 64 work-items instead of 256" in note for note in done.document["notes"])
    done = limited("gemm", "gpu,units=2,kernel=64,work-items=1024", "--size", 64)
    assert done.code == 0, done.errors  # which asks for what its source requires


@pytest.mark.parametrize("name", ["stream", "random_access"])
def test_a_processor_of_many_units_runs_with_its_defaults(tmp_path, name):
    """65 and more threads on however many cores there are."""
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{name}"))
    words = {"stream": ("--size", "2^20"), "random_access": ("--log-size", 14)}[name]
    done = program.run(*words, "--repetitions", 1, "--warmup", 0, variables={"POCL_MAX_PTHREAD_COUNT": "65"})
    if done.code == 3:
        pytest.skip("no OpenCL device")
    assert done.code == 0, done.errors
    if "Portable" in done.document["environment"]["device"]["platform"]:
        assert done.document["parameters"]["replications"] == (65 if name == "stream" else 64)


def test_no_kernel_for_gpus_is_without_arguments():
    """What NVIDIA's compiler (driver 580) says of arguments that are not there, its assembler refuses."""
    files = [*REPOSITORY.glob("kernels/*/throughput*"), *REPOSITORY.glob("kernels/*/base.cl")]
    files += REPOSITORY.glob("src/**/*.cpp")
    kernel = re.compile(r"__kernel\b[^;{]*?\bvoid\s+(\w+)\s*\(([^)]*)\)")
    found = [(path, *one) for path in files for one in kernel.findall(path.read_text(encoding="utf-8"))]
    assert len(found) > 40
    assert not [one for one in found if one[2].strip() in ("", "void")]
