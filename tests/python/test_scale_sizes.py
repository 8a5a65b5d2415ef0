"""`fabricmark scale` with sizes that are more than a number of elements: logarithms, batches, matrices."""

import pytest
from stream_program import ONE_WAY
from test_scale import sizes, summary

LOGARITHM = """
[parameters.log_size]
type = "int"
range = [3, 40]
default = 20
stage = "run"
meaning = "logarithm of the elements, on every rank"
"""
BATCH = LOGARITHM.replace("log_size", "batch").replace("3, 40", "1, 4096").replace("20", "64")


def settings(place, option):
    return [word for entry in place.started() for word in entry["words"] if word.startswith(f"--{option}=")]


def test_of_a_logarithm_the_power_is_divided(place, one_error_line):
    place.kernel_toml.write_text(place.kernel_toml.read_text() + LOGARITHM)
    words = ["scale", "stream", "--in-process"]
    assert place.run(*words, "--devices", "1,2,8", "--mode", "strong").returncode == 0
    assert settings(place, "log-size") == ["--log-size=20", "--log-size=19", "--log-size=17"]
    assert place.run(*words, "--devices", "1,4", "--parameter-is", "total").returncode == 0
    assert settings(place, "log-size")[3:] == ["--log-size=20", "--log-size=22"]
    line = one_error_line(place.run(*words, "--devices", "1,3", "--mode", "strong"), 2)
    assert "log_size is a logarithm, and 3 ranks are no power of two; use --devices like 1,2,4,8" in line
    wide = ["--devices", "1,4", "--mode", "strong", "--", "--log-size", "4"]
    assert "log_size = 2 (--log-size) cannot be used" in one_error_line(place.run(*words, *wide), 2)


def test_a_batch_is_divided_before_the_size_of_what_is_in_it(place):
    place.kernel_toml.write_text(place.kernel_toml.read_text() + LOGARITHM + BATCH)
    done = place.run("scale", "stream", "--in-process", "--devices", "1,4", "--mode", "strong")
    assert done.returncode == 0, done.stderr
    assert settings(place, "batch") == ["--batch=64", "--batch=16"]
    assert settings(place, "log-size") == []


def test_a_default_follows_from_what_is_given(place):
    follows = BATCH.replace("default = 64", 'default = "max(1, 2^(20 - log_size))"')
    place.kernel_toml.write_text(place.kernel_toml.read_text() + LOGARITHM + follows)
    words = ["scale", "stream", "--in-process", "--devices", "1,4", "--mode", "strong"]
    done = place.run(*words, "--", "--log-size", "10")
    assert done.returncode == 0, done.stderr
    assert settings(place, "batch") == ["--batch=1024", "--batch=256"]


MATRIX = """
[parameters.size]
type = "int"
range = [1, 1048576]
default = { cpu = 4096, fpga = 8192 }
stage = "run"
scope = "total"
dimensions = 2
rounded_to = "buffer_size"
meaning = "width of the matrix of all ranks"
"""


@pytest.fixture(name="matrix")
def matrix_place(place):
    """The stand-in repository, whose benchmark has one matrix over all ranks, in blocks of buffer_size."""
    place.kernel_toml.write_text(place.kernel_toml.read_text() + MATRIX)
    return place


def test_a_matrix_grows_with_the_root_of_the_ranks(matrix):
    done = matrix.run("scale", "stream", "--devices", "1,2,4,9", "--in-process", "--", "--buffer-size", "256")
    assert done.returncode == 0, done.stderr
    # 4096 sqrt(2) = 5792.6 lies between 22 and 23 blocks.
    assert sizes(matrix) == [(1, 4096), (2, 23 * 256), (4, 8192), (9, 12288)]
    triad = next(entry for entry in summary(matrix)[1]["series"] if entry["operation"] == "triad")
    assert triad["values"] == [4096, 5888, 8192, 12288]


def test_a_matrix_stays_the_same_in_strong_scaling(matrix):
    done = matrix.run("scale", "stream", "--devices", "1,2,4", "--mode", "strong", "--in-process")
    assert done.returncode == 0, done.stderr
    assert sizes(matrix) == [(1, None), (2, None), (4, None)]
    words = ["--devices", "1,4", "--mode", "both", "--in-process", "--", "--size", "1000"]
    matrix.run("scale", "stream", *words)
    assert sizes(matrix)[3:] == [(1, 1000), (4, 2000), (4, 1000)]


def test_a_matrix_of_each_rank(matrix):
    words = ["--devices", "1,2,4", "--mode", "strong", "--parameter-is", "per-rank", "--in-process"]
    done = matrix.run("scale", "stream", *words, "--", "--size", "4096", "--buffer-size=64")
    assert done.returncode == 0, done.stderr
    assert sizes(matrix) == [(1, 4096), (2, 45 * 64), (4, 2048)]
    matrix.run("scale", "stream", *words[:-1], "--in-process", "--", "--size", "3", "--buffer-size=4")
    assert sizes(matrix)[3:] == [(1, 3), (2, 4), (4, 4)]  # a block at least


def test_whole_blocks_of_the_default(matrix, one_error_line):
    done = matrix.run("scale", "stream", "--devices", "1,2", "--in-process", "--", "--size", "8192")
    assert done.returncode == 0, done.stderr
    assert sizes(matrix) == [(1, 8192), (2, 12288)]  # 11585 is nearest to three blocks of 4096
    words = ["--devices", "1,2", "--in-process", "--", "--buffer-size", "many"]
    line = one_error_line(matrix.run("scale", "stream", *words), 2)
    assert "buffer_size = 'many' (--buffer-size) cannot be used" in line
    words = ["--devices", "1,65536", "--in-process", "--", "--size", "2^20"]
    line = one_error_line(matrix.run("scale", "stream", *words), 2)
    assert "weak scaling on 65536 ranks: size = 268435456 (--size) cannot be used" in line


@pytest.mark.programs
@pytest.mark.parametrize("benchmark", ["hpl", "ptrans"])
def test_matrices_of_the_real_programs(with_programs, benchmark):
    words = ["--devices", "1,2,4", "--mode", "both", "--in-process", "--", "--size", "256"]
    words += ["--block-size", "64", "--variant", "throughput", "--repetitions", "2", *ONE_WAY]
    done = with_programs.run("scale", benchmark, *words)
    assert done.returncode == 0, done.stderr
    _, document = summary(with_programs)
    values = {entry["mode"]: entry["values"] for entry in document["series"] if entry["ranks"] == [1, 2, 4]}
    assert values == {"weak": [256, 384, 512], "strong": [256, 256, 256]}
    # The exchange is there from two ranks on only.
    rates = [entry for entry in document["series"] if entry["better"] == "higher" and entry["ranks"][0] == 1]
    assert all(entry["speed_up"][0] == 1 for entry in rates) and rates
