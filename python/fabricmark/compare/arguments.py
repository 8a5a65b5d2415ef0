"""What the commands `compare` and `ab` read from their command lines."""

import math
from collections.abc import Sequence
from pathlib import Path

from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.compare import resampling
from fabricmark.compare.comparison import Settings
from fabricmark.results import Result, logs

USE = "write `fabricmark compare --base A... --new B...` or `fabricmark compare FOLDER_A FOLDER_B`"
NEVER_IGNORED = ("kind", "unit", "better", "benchmark", "name", "axes")


def sides(words: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Places of the base and of the new side. Raises FabricmarkError (2) for anything else."""
    found: dict[str, list[Path]] = {"--base": [], "--new": []}
    plain: list[Path] = []
    target = plain
    for word in words:
        option, equals, value = word.partition("=")
        if option in found:
            target = found[option]
            target += [Path(value)] if equals else []
        elif word.startswith("-"):
            raise FabricmarkError(f"there is no option {option}", USE)
        else:
            target.append(Path(word))
    base, new = found["--base"], found["--new"]
    if len(plain) == 2 and not base and not new:
        return [plain[0]], [plain[1]]
    if plain or not base or not new:
        raise FabricmarkError("it is not clear which runs are base and which are new", USE)
    return base, new


def load(places: Sequence[Path]) -> list[Result]:
    """All results of a side. Raises FabricmarkError (2) for a damaged file: a gate must not skip one."""
    return [logs.load(file) for file in logs.find_files(places)]


def load_sides(words: Sequence[str]) -> tuple[list[Result], list[Result]]:
    """Both sides; raises FabricmarkError (2), also when a file is on both."""
    base, new = sides(words)
    loaded = (load(base), load(new))
    twice = {result.path.resolve() for result in loaded[0]} & {result.path.resolve() for result in loaded[1]}
    if twice:
        raise FabricmarkError(f"{min(twice)} is on both sides", "compare different runs")
    return loaded


def share(text: str, option: str) -> float:
    """`5%` or `0.05` as 0.05. Raises FabricmarkError (2) outside 0 to 100 %."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise FabricmarkError(f"{option} {text!r} is not a share above 0", "write 5% or 0.05")
    return value


def settings(threshold: float, statistic: str, ignore: str, seed: int) -> Settings:
    """`statistic`: a way to sum up a run; `ignore`: as `ignored` has it. Raises FabricmarkError (2)."""
    check_known(statistic, resampling.LEVELS, f"there is no statistic {statistic!r}")
    return Settings(threshold, statistic, ignored(ignore), seed=seed)


def ignored(text: str) -> list[str]:
    """Names of --ignore. Raises FabricmarkError (2) for what is never ignored."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name in NEVER_IGNORED:
            raise FabricmarkError(f"--ignore {name}: metrics of different {name} have no ratio", "drop it")
    return names
