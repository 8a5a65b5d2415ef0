"""Kernels for NVIDIA's matrix units, as clang makes PTX of them: without a GPU and NVIDIA's compiler."""

import re
import shutil
import subprocess

import pytest
from stream_program import REPOSITORY

KERNELS = REPOSITORY / "kernels"
# Given for each part of 16 columns (double: 4), of which a part of the matrices has two. HPL has three
# kernels of products for double, one for mixed.
PRODUCTS = {
    ("mixed", 0): 0, ("mixed", 80): 32, ("mixed", 90): 32, ("mixed", 91): 2,
    ("double", 0): 0, ("double", 80): 64, ("double", 90): 32, ("double", 91): 32,
}  # fmt: skip


@pytest.fixture(scope="module")
def clang():
    """One that makes PTX."""
    for name in ("clang-15", "clang", "clang-16"):
        if shutil.which(name):
            targets = subprocess.run([name, "--print-targets"], capture_output=True, text=True, check=True)
            if "nvptx64" in targets.stdout:
                return name
    return pytest.skip("no clang that makes PTX")


def ptx(clang, folder, benchmark, data_type, matrix_units):
    depth = {"gemm": 32, "hpl": 16}[benchmark]
    tile = ("GROUP_SIDE=16", "TILE_ROWS=8", "TILE_VECTORS=8", f"DEPTH_BLOCK={depth}", "BLOCK_SIZE=256")
    chosen = (f"DATA_TYPE={data_type}", f"MATRIX_UNITS={matrix_units}", "__NV_CL_C_VERSION=1")
    command = [
        clang, "-x", "cl", "-cl-std=CL1.2", "-fasm", "-target", "nvptx64--nvidiacl", "-march=sm_80",
        "-O2", "-w",
        "-Xclang", "-finclude-default-header", "-I", str(KERNELS), *(f"-D{one}" for one in tile + chosen),
        "-S", "-o", str(folder / "kernel.ptx"), str(KERNELS / benchmark / "throughput.cl"),
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return (folder / "kernel.ptx").read_text()


@pytest.mark.parametrize("benchmark", ["gemm", "hpl"])
@pytest.mark.parametrize(("data_type", "units"), PRODUCTS)
def test_products_are_those_of_the_units(clang, tmp_path, benchmark, data_type, units):
    """Hopper's instructions each on a line of comment of their own, with all sums of a work-item."""
    lines = ptx(clang, tmp_path, benchmark, data_type, units).splitlines()
    of_hopper = [line.strip() for line in lines if "wgmma" in line]
    assert all(line.startswith("//@90a wgmma.") and line.endswith(";") for line in of_hopper)
    products = [line for line in of_hopper if "mma_async" in line]
    for line in products:
        assert len(set(re.findall(r"%f\d+", line))) == 64 and len(set(re.findall(r"%rd\d+", line))) == 2
    asynchronous = [line for line in of_hopper if line not in products]
    assert len(asynchronous) == (3 if products else 0)  # fence, commit and wait, in a loop
    kernels = 3 if (benchmark, data_type) == ("hpl", "double") else 1
    assert len(products) + sum("mma.sync" in line for line in lines) == kernels * PRODUCTS[data_type, units]
