"""Every configuration that Meyer 2024 prints, Tables 3.4, 3.8 and 4.6, by --system and --bitstream-id.

The tables stand here as they are printed. Each row resolves to its values within the constraints of
kernel.toml, and its program runs with it: on the dry-run device, which computes nothing.
"""

import json

import pytest
from fabricmark import results
from fabricmark.base import kernels
from fabricmark.report import run_tables
from fabricmark.systems import export
from stream_program import PROGRAM, Stream

NAMES = {
    "NUM_REPLICATIONS": "replications", "DATA_TYPE": "data_type", "GLOBAL_MEM_UNROLL": "unroll",
    "VECTOR_COUNT": "vector_width", "DEVICE_BUFFER_SIZE": "buffer_size", "LOG_FFT_SIZE": "log_size",
    "BLOCK_SIZE": "block_size", "GEMM_SIZE": "gemm_size", "CHANNEL_WIDTH": "channel_width",
    "HPCC_FPGA_RA_RNG_COUNT_LOG": "log_rngs", "HPCC_FPGA_RA_RNG_DISTANCE": "rng_distance",
}  # fmt: skip
# Printed as logarithms to the base of two.
LOGARITHMS = {
    "RA_DEVICE_BUFFER_SIZE_LOG": "buffer_size", "LOCAL_MEM_BLOCK_LOG": "block_size",
    "REGISTER_BLOCK_LOG": "register_block",
}  # fmt: skip

# Benchmark -> parameter -> value in each column of BOARDS.
SINGLE = ("520n_single", "520n_mx_single", "u280_ddr_single", "u280_hbm_single", "pac_d5005_single")
TABLE_3_4 = {
    "stream": """
        NUM_REPLICATIONS 4 32 2 32 1
        DATA_TYPE float float float float float
        GLOBAL_MEM_UNROLL 1 1 1 1 1
        VECTOR_COUNT 16 8 16 16 16
        DEVICE_BUFFER_SIZE 4096 4096 16384 2048 1""",
    "random_access": """
        NUM_REPLICATIONS 4 32 2 32 1
        DEVICE_BUFFER_SIZE 1 1 1024 1024 1024""",
    "fft": """
        NUM_REPLICATIONS 2 16 1 15 1
        LOG_FFT_SIZE 17 7 9 5 17""",
    "gemm": """
        NUM_REPLICATIONS 5 4 3 3 5
        DATA_TYPE float float float float float
        GLOBAL_MEM_UNROLL 16 8 16 16 16
        BLOCK_SIZE 512 256 256 256 512
        GEMM_SIZE 8 8 8 8 8""",
}
TYPES = ("half", "float", "double")
TABLE_3_8 = {  # 520N: half, float, double; U280 HBM2: half, float, double
    "stream": """
        NUM_REPLICATIONS - 4 4 32 32 32
        DATA_TYPE - float double half float double
        GLOBAL_MEM_UNROLL - 1 1 32 1 8
        VECTOR_COUNT - 16 8 1 16 1
        DEVICE_BUFFER_SIZE - 65536 32768 65536 2048 16384""",
    "gemm": """
        NUM_REPLICATIONS 2 5 2 3 3 6
        DATA_TYPE half float double half float double
        GLOBAL_MEM_UNROLL 32 16 8 32 16 8
        BLOCK_SIZE 512 512 512 512 256 128
        GEMM_SIZE 4 8 4 8 8 4""",
}
TABLE_4_6 = {  # 520N over its channels, 520N and U280 over PCI Express
    "stream": """
        NUM_REPLICATIONS 4 4 2
        DATA_TYPE float float float
        GLOBAL_MEM_UNROLL 1 1 1
        VECTOR_COUNT 16 16 16
        DEVICE_BUFFER_SIZE 32768 32768 16384""",
    "random_access": """
        NUM_REPLICATIONS 4 4 2
        RA_DEVICE_BUFFER_SIZE_LOG 0 0 10
        HPCC_FPGA_RA_RNG_COUNT_LOG 5 5 3
        HPCC_FPGA_RA_RNG_DISTANCE 5 5 1""",
    "fft": """
        NUM_REPLICATIONS 2 2 1
        LOG_FFT_SIZE 17 17 9""",
    "gemm": """
        NUM_REPLICATIONS 5 5 3
        DATA_TYPE float float float
        GLOBAL_MEM_UNROLL 8 8 8
        BLOCK_SIZE 512 512 256
        GEMM_SIZE 8 8 8""",
    "b_eff": """
        NUM_REPLICATIONS 2 - -
        CHANNEL_WIDTH 8 - -""",
    "ptrans": """
        NUM_REPLICATIONS 4 4 2
        DATA_TYPE float float float
        CHANNEL_WIDTH 8 16 16
        BLOCK_SIZE 512 512 256""",
    "hpl": """
        NUM_REPLICATIONS 5 5 2
        DATA_TYPE float float float
        LOCAL_MEM_BLOCK_LOG 9 9 8
        REGISTER_BLOCK_LOG 3 3 3""",
}
# Benchmarks of which each path of the messages has a bitstream.
WAYS = {"ptrans": "ptrans_{}", "hpl": "hpl_{}"}


def columns(table, benchmark):
    """The values of each column by the names of kernel.toml; empty for a column without any."""
    found = {}
    for line in table[benchmark].split("\n")[1:]:
        name, *values = line.split()
        for number, value in enumerate(values):
            column = found.setdefault(number, {})
            if value == "-":
                continue
            if name in LOGARITHMS:
                column[LOGARITHMS[name]] = 2 ** int(value)
            else:
                column[NAMES[name]] = int(value) if value.isdigit() else value
    return found


def rows():
    """(file, name of the bitstream, benchmark, values), of all tables."""
    for benchmark in TABLE_3_4:
        for number, values in columns(TABLE_3_4, benchmark).items():
            yield SINGLE[number], benchmark, benchmark, values
    for benchmark in TABLE_3_8:
        for number, values in columns(TABLE_3_8, benchmark).items():
            kind = TYPES[number % len(TYPES)]
            same = benchmark == "gemm" and kind == "float"  # as in Table 3.4
            name = benchmark if same else f"{benchmark}_{kind}"
            yield ("520n_single", "u280_hbm_single")[number // len(TYPES)], name, benchmark, values
    for benchmark in TABLE_4_6:
        for number, values in columns(TABLE_4_6, benchmark).items():
            way = ("channels", "host", "host")[number]
            name = WAYS.get(benchmark, benchmark).format(way)
            yield ("520n_multi", "520n_multi", "u280_ddr_multi")[number], name, benchmark, values


PRINTED = [(f"{file}/{name}", benchmark, values) for file, name, benchmark, values in rows() if values]
ROWS = {name: (benchmark, values) for name, benchmark, values in PRINTED}
SYSTEMS = {"520n_multi": "noctua1", "u280_ddr_multi": "hacc"}  # else the board by itself
SMALL = {
    "stream": ("--size", 2**22), "random_access": ("--log-size", 16), "fft": ("--batch", 32),
    "gemm": ("--size", 1024), "ptrans": ("--size", 1024), "hpl": ("--size", 2048), "b_eff": ("--largest", 8),
}  # fmt: skip

pytestmark = [pytest.mark.usefixtures("of_the_repository")]


@pytest.fixture(name="file", scope="module")
def file_of_a_system(tmp_path_factory):
    folder, written = tmp_path_factory.mktemp("systems"), {}

    def of(name):
        system = SYSTEMS.get(name, name.removesuffix("_single"))
        if system not in written:
            written[system] = folder / f"{system}.json"
            written[system].write_text(export.text(system))
        return written[system]

    return of


def request(file, name):
    benchmark, _ = ROWS[name]
    system = str(file(name.partition("/")[0]))
    return kernels.wanted(benchmark, "fpga", {}, system=system, bitstream_id=name)


def test_the_tables_are_all_there():
    assert len(PRINTED) == 20 + 11 + 19
    assert len(ROWS) == 20 + 9 + 15, "gemm in float is Table 3.4's; both ways of the 520N share four designs"
    assert all(ROWS[name] == (benchmark, values) for name, benchmark, values in PRINTED)
    assert ROWS["u280_hbm_single/stream_half"][1]["unroll"] == 32
    assert ROWS["520n_multi/hpl_host"][1] == {
        "replications": 5, "data_type": "float", "block_size": 512, "register_block": 8,
    }  # fmt: skip


def test_every_row_resolves_to_what_is_printed(file):
    answers = kernels.answers([request(file, name) for name in ROWS])
    for (name, (_, values)), answer in zip(ROWS.items(), answers, strict=True):
        found = kernels.refused(answer, name)["parameters"]
        assert values.items() <= found.items(), name


def test_a_row_beyond_a_constraint_is_refused(file, tmp_path):
    system = json.loads(file("520n_multi").read_text())
    for one in system["bitstreams"]:
        if one["id"] == "520n_multi/gemm":
            one["parameters"]["unroll"] = 7
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(system))
    wanted = {**request(file, "520n_multi/gemm"), "system": str(changed)}
    assert "block_size % unroll == 0 does not hold" in kernels.answers([wanted])[0]["error"]["cause"]


@pytest.mark.programs
@pytest.mark.parametrize("name", ROWS)
def test_every_row_runs(file, name, tmp_path):
    benchmark, values = ROWS[name]
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{benchmark}"))
    words = ("--system", file(name.partition("/")[0]), "--bitstream-id", name, "--platform", "dry-run")
    done = program.run(*words, *SMALL[benchmark], "--repetitions", 1, "--warmup", 0)
    assert done.code == 0, done.errors
    assert values.items() <= done.document["parameters"].items()
    design = done.document["run"]["design"]
    assert design["bitstream"] == name and design["clock_hz"] >= 1e8 and design["resources"]["dsps"] >= 0
    assert ("tools" in design and "shell" in design) == name.partition("/")[0].endswith("_single")
    (line,) = run_tables.designs(results.load(tmp_path / "file1.json"))
    assert line.startswith(f"design: {design['system']}, {name}, for {design['board']}, ")
