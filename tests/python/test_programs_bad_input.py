"""Bad input to the real fm_stream: one line that says what to do, the right exit code everywhere, no hang."""

import json
import shutil

import pytest
from conftest import REPOSITORY
from fabricmark.systems import export
from stream_program import KERNELS, SHORT, Stream, devices, mpirun, one_error, only_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full


class Bad:
    """Words and variables ({folder} holds prepared files), the exit code, and what the message must name."""

    def __init__(self, words, names, code=2, variables=None, mpi=False, compiler_speaks=False):
        self.words, self.names, self.code, self.variables = words, names, code, variables or {}
        self.mpi = mpi  # also in the default tests under mpirun, where a start takes a second
        self.compiler_speaks = compiler_speaks  # a runtime's compiler writes to standard error itself


BAD = {
    "unknown option": Bad(["--nonsense"], "--nonsense", mpi=True),
    "stray word": Bad(["stray"], "stray"),
    "option without its value": Bad(["--size"], "--size"),
    "option in place of a value": Bad(["--json", "--timeline"], "--json", mpi=True),
    "option given twice": Bad(["--size", "1", "--size", "2"], "--size"),
    "size that is no number": Bad(["--size", "many"], "size", mpi=True),
    "size of zero": Bad(["--size", "0"], "size"),
    "negative size": Bad(["--size=-5"], "size"),
    "size with a fraction": Bad(["--size", "1e3"], "size"),
    "empty size": Bad(["--size", ""], "--size"),
    "size beyond the range": Bad(["--size", "2^41"], "size"),
    "size beyond the memory": Bad(["--size", "2^40"], "size", mpi=True),
    "vector width that is not offered": Bad(["--vector-width", "3"], "vector_width"),
    "buffer that does not fit": Bad(["--buffer-size", "100", "--unroll", "3"], "buffer_size", mpi=True),
    "unknown data type": Bad(["--data-type", "quad"], "data_type"),
    "too many replications": Bad(["--replications", "4097"], "replications"),
    "unknown variant": Bad(["--variant", "fast"], "fast", mpi=True),
    "no repetition": Bad(["--repetitions", "0"], "0"),
    "negative warm-up": Bad(["--warmup=-1"], "-1"),
    "time that is no number": Bad(["--min-time", "nan"], "--min-time"),
    "platform that is not there": Bad(["--platform", "nowhere"], "nowhere", mpi=True),
    "empty platform": Bad(["--platform", ""], "--platform"),
    "line break in a name": Bad(["--platform", "no\nwhere"], "no where"),
    "device that is not there": Bad(["--device", "999"], "999"),
    "kernel file that is not there": Bad(["--kernel-file", "{folder}/none.cl"], "none.cl", mpi=True),
    "kernel file that does not compile": Bad(
        ["--kernel-file", "{folder}/broken.cl"], "broken.cl", mpi=True, compiler_speaks=True
    ),
    "kernel file without the entry point": Bad(["--kernel-file", "{folder}/other.cl"], "'stream'"),
    "kernel file with endless lines": Bad(
        ["--kernel-file", "{folder}/long.cl"], "aaaa", compiler_speaks=True
    ),
    "bitstream without a sidecar": Bad(["--bitstream", "{folder}/alone.bin"], "alone.bin.toml", mpi=True),
    "bitstream that is none": Bad(["--bitstream", "{folder}/garbage.bin"], "garbage.bin"),
    "bitstream that is not there": Bad(["--bitstream", "{folder}/gone.bin"], "gone.bin"),
    "sidecar that is not TOML": Bad(["--bitstream", "{folder}/odd.bin"], "odd.bin.toml"),
    "kernel file and bitstream": Bad(["--kernel-file", "a.cl", "--bitstream", "b"], "--kernel-file"),
    "system that is not there": Bad(["--system", "{folder}/none.json"], "none.json", mpi=True),
    "system that is not JSON": Bad(["--system", "{folder}/odd.bin.toml"], "line 1 is not JSON"),
    "system of another version": Bad(["--system", "{folder}/version.json"], "fabricmark-exported-system/1"),
    "system with an unknown parameter": Bad(["--system", "{folder}/lanes.json"], "lanes"),
    "system with several bitstreams": Bad(
        ["--system", "{folder}/several.json"], "--bitstream-id one of 520n_multi/stream, 520n_single/stream"
    ),
    "unknown bitstream of a system": Bad(
        ["--system", "{folder}/several.json", "--bitstream-id", "520n_multi/hpl_host"],
        "no bitstream '520n_multi/hpl_host' of stream; use --bitstream-id with one of 520n_multi/stream, ",
    ),
    "bitstream of no system": Bad(["--bitstream-id", "520n_multi/stream"], "--bitstream-id without --system"),
    "result in place of a folder": Bad(["--json", "{folder}"], "cannot write"),
    "result below a file": Bad(["--json", "{folder}/alone.bin/r.json"], "cannot write", mpi=True),
    "result where only the system writes": Bad(["--json", "/proc/none/r.json"], "/proc/none/r.json"),
    "result without a name": Bad(["--json", ""], "--json"),
    "unknown fault": Bad(["--inject-fault", "bananas"], "bananas"),
    "fault in an unknown array": Bad(["--inject-fault", "element:d"], "'d'", mpi=True),
    "fault on a rank that is not there": Bad(["--inject-fault", "element@7"], "rank 7", mpi=True),
    "fault that nothing looks for": Bad(["--inject-fault", "scale", "--skip-validation"], "--inject-fault"),
    "delay that is no time": Bad(["--inject-delay", "soon"], "soon"),
    "unknown memory": Bad(["--memory", "hbm"], "hbm"),
    "mapping that is no list": Bad([], "FPGA_MAPPING", variables={"FPGA_MAPPING": "x"}, mpi=True),
    "mapping to a device that is not there": Bad([], "FPGA_MAPPING", variables={"FPGA_MAPPING": "0:99"}),
    "no kernels": Bad([], "kernel.toml", variables={"FABRICMARK_KERNELS": "{folder}/nowhere"}),
    "broken kernel.toml": Bad(
        [], "vector_width", variables={"FABRICMARK_KERNELS": "{folder}/kernels"}, mpi=True
    ),
    "no OpenCL platform": Bad(
        [], "no OpenCL device", code=3, variables={"OCL_ICD_VENDORS": "{folder}/empty/"}, mpi=True
    ),
}
# Where one of several ranks has no way to fail: 0:99 names the device of the second rank.
NEEDS_RANKS = {"mapping to a device that is not there"}


def exported_systems():
    """One that has several bitstreams of stream, and two that are wrong."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        several, version, lanes = (export.document("noctua1") for _ in range(3))
    version["schema"] = "fabricmark-exported-system/2"
    lanes["bitstreams"] = lanes["bitstreams"][:1]
    lanes["bitstreams"][0]["parameters"]["lanes"] = 4
    names = ("several.json", "version.json", "lanes.json")
    return dict(zip(names, map(json.dumps, (several, version, lanes)), strict=True))


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    made = Stream(tmp_path_factory.mktemp("bad"))
    devices(made)
    sidecar = "benchmark = 'stream'\nvariant = 'base'\n[parameters]\nbuffer_size = 128\ndata_type = 'float'\n"
    files = {
        "broken.cl": "this is no kernel\n",
        "other.cl": "__kernel void something_else(__global int* x) { *x = 1; }\n",
        "long.cl": "#" + " " * 600000 + '\n#include "' + "a" * 400000 + '"\n',
        "alone.bin": "contents",
        "garbage.bin": "this is no program",
        "garbage.bin.toml": sidecar + "unroll = 1\nvector_width = 16\n",
        "gone.bin.toml": sidecar + "unroll = 1\nvector_width = 16\n",
        "odd.bin": "contents",
        "odd.bin.toml": "benchmark = \n",
        **exported_systems(),
    }
    for name, content in files.items():
        (made.folder / name).write_text(content)
    (made.folder / "empty").mkdir()
    shutil.copytree(KERNELS, made.folder / "kernels")
    spec = made.folder / "kernels" / "stream" / "kernel.toml"
    spec.write_text(spec.read_text().replace("values = [1, 2, 4, 8, 16]", "values = []"))
    return made


def attempt(stream, bad, *more, launcher=()):
    words = [word.format(folder=stream.folder) for word in bad.words]
    variables = {name: value.format(folder=stream.folder) for name, value in bad.variables.items()}
    size = () if any(word.startswith("--size") for word in words) else SHORT
    done = stream.start(*size, *more, *words, launcher=launcher, variables=variables)
    line = (one_error if launcher or bad.compiler_speaks else only_error)(done, codes=(bad.code,))
    assert bad.names in line
    assert len(line) < 500000


def test_there_are_at_least_twenty_kinds_of_bad_input_and_ten_under_mpi():
    assert len(BAD) >= 20
    assert sum(bad.mpi for bad in BAD.values()) >= 10


@pytest.mark.parametrize("name", [name for name in BAD if name not in NEEDS_RANKS])
def test_bad_input_ends_in_one_clear_line(stream, name):
    attempt(stream, BAD[name])


@pytest.mark.parametrize("name", BAD)
def test_bad_input_ends_in_one_clear_line_with_two_ranks_in_a_process(stream, name):
    attempt(stream, BAD[name], "--ranks", "2")


@pytest.mark.parametrize(
    "name", [name if bad.mpi else pytest.param(name, marks=FULL) for name, bad in BAD.items()]
)
def test_bad_input_ends_in_one_clear_line_with_two_ranks_of_mpi(stream, name):
    attempt(stream, BAD[name], launcher=mpirun(2))


def test_ranks_in_a_process_and_of_mpi_exclude_each_other(stream):
    done = stream.start(*SHORT, "--ranks", "2", launcher=mpirun(2))
    assert "--ranks" in one_error(done, codes=(2,))


@pytest.mark.parametrize("ranks", ["0", "1025", "two"])
def test_a_number_of_ranks_that_cannot_be_is_refused(stream, ranks):
    only_error(stream.start(*SHORT, "--ranks", ranks), codes=(2,))


def test_no_bad_input_leaves_a_result_file(stream):
    path = stream.new_file()
    for words in (["--size", "many"], ["--size", "1000", "--inject-fault", "element:d"], ["--nonsense"]):
        assert stream.start(*words, "--json", path).code == 2
        assert not path.exists()
