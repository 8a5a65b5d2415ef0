"""`make bench`: this project against its peers on this machine, interleaved, as ratios with their spread.

With `--against BUILD` against another build of itself, for instance that of the commit before.

Exit code: 0 when every bar was reached, 1 when one was missed, 2 for bad use.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import against
from common import Row, Settings
from fabricmark.base import runtimes
from rich.console import Console
from rich.table import Table


def case_names() -> list[str]:
    """The modules of bench/cases."""
    folder = Path(__file__).resolve().parent / "cases"
    return sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(case_names())}; default: the quick ones")
    parser.add_argument("--pairs", type=int, default=7, help="rounds of every comparison")
    parser.add_argument(
        "--against", type=Path, metavar="BUILD", help="another build of this project, interleaved"
    )
    parser.add_argument("--runtime", action="append", help="OpenCL runtime; may be repeated")
    options = parser.parse_args()
    unknown = set(options.cases) - set(case_names())
    if unknown:
        parser.error(
            f"no comparison is called {', '.join(sorted(unknown))}; there are {', '.join(case_names())}"
        )
    return options


def print_rows(rows: list[Row]) -> None:
    table = Table(title=f"{platform.node()}, {platform.processor() or platform.machine()}")
    for heading in ("comparison", "median", "spread", "bar", ""):
        table.add_column(heading)
    for row in rows:
        verdict = ("reached" if row.reached else "MISSED") if row.counts else "-"
        table.add_row(row.what, f"{row.value:.3f}", row.spread, row.bar, verdict)
    Console(width=140).print(table)


def main() -> int:
    options = parse()
    chosen = options.runtime or [name for name in runtimes.installed_names() if name != "fpga-emulator"]
    settings = Settings(pairs=options.pairs, runtimes=chosen)
    cases = {name: importlib.import_module(f"cases.{name}") for name in options.cases or case_names()}
    cases = {
        name: case
        for name, case in cases.items()
        if name in options.cases or not getattr(case, "ONLY_WHEN_NAMED", False)
    }
    if options.against:
        rows = against.compare(cases, settings, options.against.resolve())
    else:
        rows = [row for case in cases.values() for row in case.compare(settings)]
    print_rows(rows)
    return 0 if all(row.reached for row in rows if row.counts) else 1


if __name__ == "__main__":
    sys.exit(main())
