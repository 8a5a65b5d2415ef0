"""ANUGA, an independent solver of the shallow-water equations (PyPI: anuga), on the arrays of a mesh.

    PYTHON_WITH_ANUGA bench/anuga_shallow_water.py FOLDER --hours 96 --stations anuga.csv
    PYTHON_WITH_ANUGA bench/anuga_shallow_water.py FOLDER --steps 200 --algorithm DE1

FOLDER holds what `fabricmark-mesh arrays` writes. Physics as in the tide case of fm_shallow_water: tides of
the bight of Abaco at the sea, friction C_f |U| U / H^2 and Coriolis. Without --hours its speed is told, in
a basin with walls, so that ANUGA stays in compiled code. Prints one line of JSON: elements, steps, seconds,
cell steps a second.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path

GRAVITY = 9.81
FRICTION = 0.009
CORIOLIS = 3.19e-5
RAMP_SECONDS = 2 * 86400.0
DEGREE = math.pi / 180
# Amplitude [m], phase, angular frequency [1/s] of O1, K1, N2, M2 and S2 (fort_bahamas.15 and .17).
TIDES = (
    (0.075, 194.806 * DEGREE, 6.7597751162e-5),
    (0.095, 206.265 * DEGREE, 7.2921165921e-5),
    (0.1, 340 * DEGREE, 1.37879713787e-4),
    (0.395, 0.0, 1.40518917083e-4),
    (0.06, 42.9718 * DEGREE, 1.45444119418e-4),
)
# Of the bight of Abaco: x, y [m].
STATIONS = [(38666.66, 49333.32), (56097.79, 9612.94), (41262.60, 29775.73), (59594.66, 41149.62)]
SEA = 2
WARM_STEPS = 10


def elevation(seconds: float) -> float:
    """Of the sea [m]: the tides, growing from rest."""
    ramp = math.tanh(2 * seconds / RAMP_SECONDS)
    return ramp * sum(a * math.cos(omega * seconds - phase) for a, phase, omega in TIDES)


def boundary_tags(elements, nodes, kinds) -> dict[tuple[int, int], str]:
    """{(element, ANUGA's edge): tag}. ANUGA's edge i lies opposite of its vertex i."""
    kind_of = {tuple(sorted(pair)): kind for pair, kind in zip(nodes.tolist(), kinds.tolist(), strict=True)}
    tags = {}
    for element, (a, b, c) in enumerate(elements.tolist()):
        for edge, pair in enumerate(((b, c), (a, c), (a, b))):
            kind = kind_of.get(tuple(sorted(pair)))
            if kind is not None:
                tags[element, edge] = "sea" if kind == SEA else "land"
    return tags


def make_domain(anuga, folder: Path, algorithm: str):
    """The domain at rest, with the sea's boundary and land."""
    import numpy

    x, y, depth, elements, nodes, kinds = (
        numpy.load(folder / f"{name}.npy")
        for name in ("x", "y", "depth", "elements", "boundary_nodes", "boundary_kinds")
    )
    domain = anuga.Domain(
        numpy.column_stack([x, y]), elements.astype(int), boundary=boundary_tags(elements, nodes, kinds)
    )
    domain.set_flow_algorithm(algorithm)
    domain.set_store(False)
    domain.set_quantity("elevation", numeric=-depth[elements], location="vertices")
    domain.set_quantity("stage", 0.0)
    land = anuga.Reflective_boundary(domain)
    sea = anuga.Transmissive_momentum_set_stage_boundary(domain, elevation)
    domain.set_boundary({"land": land, "sea": sea})
    return domain


def add_forcing(domain) -> None:
    """Friction C_f |U| U / H^2 in ANUGA's semi-implicit part, and Coriolis; no Manning."""
    import numpy

    def forcing(domain) -> None:
        values = {name: domain.quantities[name] for name in ("stage", "elevation", "xmomentum", "ymomentum")}
        stage, bed, u, v = (quantity.centroid_values for quantity in values.values())
        height = numpy.maximum(stage - bed, 0.25)
        rate = FRICTION * numpy.hypot(u, v) / height**2
        values["xmomentum"].semi_implicit_update[:] -= rate * u
        values["ymomentum"].semi_implicit_update[:] -= rate * v
        values["xmomentum"].explicit_update[:] += CORIOLIS * v
        values["ymomentum"].explicit_update[:] -= CORIOLIS * u

    domain.set_quantity("friction", 0.0)
    domain.forcing_terms = [forcing]


def find_elements(domain, stations) -> list[int]:
    """The element that each station lies in."""
    import numpy

    corners = domain.get_vertex_coordinates(absolute=True).reshape(-1, 3, 2)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]

    def left_of(start, end, point):
        side, to = end - start, numpy.asarray(point) - start
        return side[:, 0] * to[:, 1] - side[:, 1] * to[:, 0] >= 0

    found = []
    for station in stations:
        inside = left_of(a, b, station) & left_of(b, c, station) & left_of(c, a, station)
        if not inside.any():
            raise SystemExit(f"the station {station} lies outside of the mesh; name another with --station")
        found.append(int(inside.argmax()))
    return found


def record(domain, where: list[int], stations, seconds: float, interval: float, out: Path) -> int:
    """Run to `seconds`, and write a row for each station at each interval. How many steps that took."""
    steps = 0
    with out.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["time_s", "station", "x_m", "y_m", "xi_m", "u_m_per_s", "v_m_per_s"])
        for now in domain.evolve(yieldstep=interval, finaltime=seconds):
            stage, bed, u, v = (
                domain.quantities[name].centroid_values[where]
                for name in ("stage", "elevation", "xmomentum", "ymomentum")
            )
            height = stage - bed
            steps += domain.number_of_steps  # since the last time that it came here
            for i, (x, y) in enumerate(stations):
                rows.writerow([now, i + 1, x, y, stage[i], u[i] / height[i], v[i] / height[i]])
    return steps


def close(domain) -> None:
    """Walls all around, and a hump of water: for each edge of the sea ANUGA calls Python."""
    import numpy

    x, y = domain.get_centroid_coordinates(absolute=True).T
    size = 0.1 * max(x.max() - x.min(), y.max() - y.min())
    hump = 0.3 * numpy.exp(-((x - x.mean()) ** 2 + (y - y.mean()) ** 2) / size**2)
    domain.set_quantity("stage", numeric=hump, location="centroids")
    walls = sys.modules["anuga"].Reflective_boundary(domain)
    domain.set_boundary({"land": walls, "sea": walls})


def timed_steps(domain, steps: int) -> tuple[int, float]:
    """(steps, seconds) of a run of about so many steps, after a few that are not counted."""

    def run(simulated: float) -> int:
        count = 0
        for _ in domain.evolve(yieldstep=simulated, duration=simulated, skip_initial_step=True):
            count += domain.number_of_steps  # since the last time that it came here
        return count

    warm = 1e-3
    while (count := run(warm)) < WARM_STEPS:
        warm *= 4
    started = time.perf_counter()
    count = run(warm * steps / count)
    return count, time.perf_counter() - started


def main() -> None:
    """One run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="arrays of a mesh")
    parser.add_argument("--algorithm", choices=("DE0", "DE1"), default="DE0")
    parser.add_argument("--hours", type=float, help="simulated time, with all forcing")
    parser.add_argument("--steps", type=int, default=100, help="without --hours: steps that are timed")
    parser.add_argument("--interval", type=float, default=600.0, help="seconds between values of stations")
    parser.add_argument("--station", action="append", metavar="X,Y", help="[m]; default: the four of Abaco")
    parser.add_argument("--stations", type=Path, help="the file of stations to be written")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.hours is not None and options.stations is None:
        parser.error("--hours needs --stations, the file to be written")
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    with contextlib.redirect_stdout(io.StringIO()):  # what ANUGA says when it is imported
        import anuga
    stations = [tuple(float(part) for part in text.split(",")) for text in options.station or ()]
    stations = stations or STATIONS
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(sys.stderr):
        domain = make_domain(anuga, options.folder, options.algorithm)
        domain.set_datadir(scratch)
        if options.hours is not None:
            add_forcing(domain)
            where = find_elements(domain, stations)
            started = time.perf_counter()
            steps = record(domain, where, stations, options.hours * 3600, options.interval, options.stations)
            seconds = time.perf_counter() - started
        else:
            close(domain)
            steps, seconds = timed_steps(domain, options.steps)
    cells = domain.number_of_elements
    speed = cells * steps / seconds
    print(json.dumps({"elements": cells, "steps": steps, "seconds": seconds, "cell_steps_per_s": speed}))


if __name__ == "__main__":
    main()
