"""lbmpy (PyPI: lbmpy), an independent generator of lattice Boltzmann kernels: its flow under a moving lid.

    PYTHON_WITH_LBMPY bench/lbmpy_cavity.py --columns 4096 --rows 4096 --threads 1 --steps 20 --repetitions 3
    PYTHON_WITH_LBMPY bench/lbmpy_cavity.py --columns 64 --rows 64 --steps 500 --fields FOLDER

D2Q9 with a single relaxation time in float, walls half-way between cells, as `fm_lbm --case cavity` has it.
Prints one line of JSON: cell steps a second, best of the repetitions. --fields leaves u.npy and v.npy.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path


def prefer_own_headers() -> None:
    """Its kernels are compiled against the NumPy that runs them: Debian's headers of NumPy 1 may lie beside
    Python's own, which come first on its command line."""
    import numpy
    from pystencils.jit.cpu.compiler_info import CompilerInfo

    usual, first = CompilerInfo.get_default, f"-I{numpy.get_include()}"

    def own(**more):
        found = usual(**more)
        return dataclasses.replace(found, extra_cxxflags=[first, *found.extra_cxxflags])

    CompilerInfo.get_default = staticmethod(own)


def make(columns: int, rows: int, omega: float, speed: float, threads: int):
    """(data handling, a step): populations at rest, and what moves them on."""
    import numpy
    import pystencils
    from lbmpy import LBMConfig, LBMOptimisation, LBStencil, Method, Stencil
    from lbmpy.boundaries import UBB, NoSlip
    from lbmpy.boundaries.boundaryhandling import LatticeBoltzmannBoundaryHandling
    from lbmpy.creationfunctions import create_lb_method, create_lb_update_rule
    from lbmpy.macroscopic_value_kernels import macroscopic_values_setter
    from pystencils.slicing import slice_from_direction

    stencil = LBStencil(Stencil.D2Q9)
    data = pystencils.create_data_handling((columns, rows), periodicity=False, default_layout="fzyx")
    kinds = {"dtype": numpy.float32, "alignment": 64}
    source = data.add_array("source", values_per_cell=9, **kinds)
    moved = data.add_array("moved", values_per_cell=9, **kinds)
    config = LBMConfig(
        stencil=stencil, method=Method.SRT, relaxation_rate=omega, compressible=True, zero_centered=True
    )
    optimisation = LBMOptimisation(symbolic_field=source, symbolic_temporary_field=moved)
    method = create_lb_method(lbm_config=config)
    target = pystencils.Target.available_vector_cpu_targets()[-1]  # the widest, as py-cpuinfo says
    built = pystencils.CreateKernelConfig(target=target, default_dtype="float32")
    built.cpu.openmp.enable = threads > 1
    built.cpu.openmp.num_threads = threads
    built.cpu.vectorize.enable = True
    built.cpu.vectorize.assume_inner_stride_one = True
    update = create_lb_update_rule(lb_method=method, lbm_config=config, lbm_optimisation=optimisation)
    kernel = pystencils.create_kernel(update, config=built).compile()
    walls = LatticeBoltzmannBoundaryHandling(method, data, "source", default_dtype="float32")
    walls.set_boundary(UBB((speed, 0), data_type="float32"), slice_from_direction("N", 2))
    for direction in ("W", "E", "S"):  # what lies in the corners does not move
        walls.set_boundary(NoSlip(), slice_from_direction(direction, 2))
    at_rest = macroscopic_values_setter(method, density=1.0, velocity=(0, 0), pdfs=source.center_vector)
    plain = pystencils.CreateKernelConfig(default_dtype="float32")
    data.run_kernel(pystencils.create_kernel(at_rest, config=plain).compile())

    def step() -> None:
        walls()
        data.run_kernel(kernel)
        data.swap("source", "moved")

    return data, method, step


def velocities(data, method):
    """Of all cells, rows first."""
    import numpy

    populations = data.gather_array("source")
    along, across = (
        sum(direction[axis] * populations[..., i] for i, direction in enumerate(method.stencil))
        for axis in (0, 1)
    )
    density = 1 + populations.sum(axis=-1)
    return (numpy.ascontiguousarray((one / density).T) for one in (along, across))


def main() -> None:
    options = argparse.ArgumentParser()
    for name in ("columns", "rows"):
        options.add_argument(f"--{name}", type=int, required=True)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--steps", type=int, default=20)
    options.add_argument("--repetitions", type=int, default=0)
    options.add_argument("--omega", type=float, default=1.0)
    options.add_argument("--speed", type=float, default=0.1)
    options.add_argument("--fields", type=Path)
    words = options.parse_args()
    prefer_own_headers()
    data, method, step = make(words.columns, words.rows, words.omega, words.speed, words.threads)
    best = float("inf")
    for _ in range(words.repetitions + 1):  # the first one warms up
        began = time.perf_counter()
        for _ in range(words.steps):
            step()
        best = min(best, time.perf_counter() - began)
    if words.fields:
        import numpy

        words.fields.mkdir(parents=True, exist_ok=True)
        for name, values in zip(("u", "v"), velocities(data, method), strict=True):
            numpy.save(words.fields / f"{name}.npy", values)
    print(json.dumps({"cell_steps_per_s": words.columns * words.rows * words.steps / best}))


if __name__ == "__main__":
    main()
