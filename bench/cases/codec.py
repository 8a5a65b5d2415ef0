"""Compression of fields beside fpzip, zfp, pcodec and blosc2, on one core: ratios of the lengths and GB/s.

Fields are those that the programs of the suite make. Only when named: the peers are installed for it, and the
flow round a cylinder takes minutes to develop.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy
import peer_packages
from common import OwnRuns, Row, Settings, program, run_program
from fabricmark.grids import netcdf
from pairs import Contender, interleave, ratio

ONLY_WHEN_NAMED = True
PACKAGES = ("blosc2==4.14.1", "fpzip==1.2.5", "numpy==2.4.6", "pcodec==1.1.0", "zfpy==1.0.1.post0")
SCRIPT = Path(__file__).resolve().parent.parent / "codec_peers.py"
REPETITIONS = 5
WEIGHTS = [4 / 9, *[1 / 9] * 4, *[1 / 36] * 4]
LANES = (1, 2, 4)
RATIO_BARS = {"1d": (2.6, 2.25, 2.0), "2d": (3.4, 3.0, 2.6)}
RATE_BARS = {"1d": 1.5, "2d": 0.8}  # GB/s
FPZIP_BAR = 4.0
RELIEF = Path("/usr/share/ferret-vis/data/etopo5.cdf")
ONCE = ("--warmup", "0", "--repetitions", "1")
Field = tuple[Path, int, int]  # file, channels, columns


def flow(folder: Path, case: str, columns: int, rows: int, steps: int, full: bool) -> Field:
    """Cells of ten words. `full`: populations as they are, not less those at rest."""
    shape = ("--columns", str(columns), "--rows", str(rows), "--steps", str(steps))
    run_program([program("fm_lbm"), "--case", case, *shape, *ONCE, "--fields", str(folder)])
    cells = numpy.load(folder / "cells.npy")
    if full:
        cells[:, :9] += numpy.array(WEIGHTS, numpy.float32)
    return _written(folder / f"{case}-{full}.bin", cells), 10, columns


def waves(folder: Path) -> Field:
    """Elevation and depth, as a cell of two words."""
    run_program([program("fm_tsunami"), "--steps", "600", *ONCE, "--fields", str(folder)])
    fields = [numpy.load(folder / f"{name}.npy") for name in ("elevation", "depth")]
    return _written(folder / "waves.bin", numpy.stack(fields, axis=-1)), 2, fields[0].shape[1]


def relief(folder: Path) -> dict[str, Field]:
    """Heights of the Earth in whole metres, where Debian's ferret-datasets is installed; else nothing."""
    if not RELIEF.exists():
        print(f"bench: without {RELIEF.name}, which is of Debian's ferret-datasets", file=sys.stderr)
        return {}
    with netcdf.opened(RELIEF) as variables:
        heights = netcdf.numbers(RELIEF, variables["ROSE"])
    return {"etopo5": (_written(folder / "relief.bin", heights), 1, heights.shape[1])}


def _written(path: Path, cells: numpy.ndarray) -> Path:
    cells.astype(numpy.float32).tofile(path)
    return path


def own(field: Field, repetitions: int = REPETITIONS) -> dict[str, dict[str, float]]:
    words = [str(word) for word in (*field, repetitions)]
    return json.loads(run_program([program("bench_codec"), *words]))


def peers(field: Field, repetitions: int = REPETITIONS) -> dict[str, dict[str, float]]:
    """By name; none where they cannot be installed."""
    found = peer_packages.python("codec-peers", *PACKAGES)
    if found is None:
        print("bench: the peers cannot be installed; they are left out", file=sys.stderr)
        return {}
    words = [str(word) for word in (*field, repetitions)]
    return json.loads(run_program([str(found), str(SCRIPT), *words]))


def own_runs(_runtime: str) -> OwnRuns:
    """Bytes a second of each predictor, on Taylor and Green's vortices."""

    def rates() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as scratch:
            found = own(flow(Path(scratch), "taylor_green", 512, 512, 200, True))
        return {f"{name}, {way}": one[way] for name, one in found.items() for way in ("encode", "decode")}

    return {"compression": rates}


def shown(what: str, found: dict[str, dict[str, float]]) -> list[Row]:
    """Ratios and rates without a bar."""
    return [
        Row(f"{what}, {name}: ratio", one["ratio"],
            f"{one['encode'] / 1e9:.2f} and {one['decode'] / 1e9:.2f} GB/s", "", True, counts=False)
        for name, one in found.items()
    ]  # fmt: skip


def with_bars(what: str, field: Field, settings: Settings) -> list[Row]:
    """Ratios of all lanes, rates of one lane, and the rate beside fpzip's interleaved."""
    runs = [own(field) for _ in range(settings.pairs)]
    rows = []
    for predictor, bars in RATIO_BARS.items():
        for lanes, bar in zip(LANES, bars, strict=True):
            value = runs[0][f"{predictor} {lanes}"]["ratio"]
            rows.append(Row(f"{what}, {predictor}, n = {lanes}: ratio", value, "", f">= {bar}", value >= bar))
        for way in ("encode", "decode"):
            rates = [run[f"{predictor} 1"][way] / 1e9 for run in runs]
            middle, bar = statistics.median(rates), RATE_BARS[predictor]
            spread = f"{min(rates):.2f} to {max(rates):.2f}, {settings.pairs} runs"
            rows.append(Row(f"{what}, {predictor}: {way}, GB/s", middle, spread, f">= {bar}", middle >= bar))
    if peers(field, 1):
        rows += beside_fpzip(what, field, settings)
    return rows


def beside_fpzip(what: str, field: Field, settings: Settings) -> list[Row]:
    """The rates of 2d, whose ratio must be within 5 % of fpzip's, over fpzip's."""
    rows = []
    of_fpzip, of_2d = peers(field, 1)["fpzip"]["ratio"], own(field, 1)["2d 1"]["ratio"]
    least = 0.95 * of_fpzip
    rows.append(
        Row(f"{what}, 2d: ratio beside fpzip's {of_fpzip:.3f}", of_2d, "", f">= {least:.3f}", of_2d >= least)
    )
    for way in ("encode", "decode"):
        ours = Contender("2d", lambda way=way: own(field)["2d 1"][way])
        theirs = Contender("fpzip", lambda way=way: peers(field, 2)["fpzip"][way])
        interleave([ours, theirs], settings.pairs)
        found = ratio(ours, theirs)
        spread = f"{found.smallest:.2f} to {found.largest:.2f}, {settings.pairs} pairs"
        bar = f">= {FPZIP_BAR:g}"
        rows.append(Row(f"{what}, 2d / fpzip: {way}", found.median, spread, bar, found.median >= FPZIP_BAR))
    return rows


def compare(settings: Settings) -> list[Row]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        # So many steps that the sound of the start has left.
        street = flow(folder, "cylinder", 720, 240, 160000, True)
        rows = with_bars("cylinder", street, settings)
        fields = {
            "cylinder": street,
            "cylinder, less those at rest": (_less(street[0]), 10, 720),
            "Taylor-Green": flow(folder, "taylor_green", 512, 512, 2000, True),
            "tsunami": waves(folder),
            **relief(folder),
        }
        for name, field in fields.items():
            rows += shown(name, own(field)) + shown(name, peers(field))
    return rows


def _less(path: Path) -> Path:
    cells = numpy.load(path.with_name("cells.npy"))
    return _written(path.with_name("less.bin"), cells)
