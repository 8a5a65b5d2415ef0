#!/usr/bin/env python3
"""clang-tidy over the sources of a build folder, several of one target at once.

Most of the time goes into headers that sources of a folder share: a file that includes up to sixteen of
them takes a third of it. Names in unnamed namespaces of such sources have to differ, as they have for the
release build. `--each` looks at each source by itself, and so finds includes that are missing.
Exit codes: 0 nothing found, 1 findings, 2 bad use.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = 16
# Flags of g++ that clang does not know, what clang says of g++'s own library, and what sources of one file
# hide of each other's names: the compiler warns of those that one hides of its own.
EXTRA = [
    f"--extra-arg=-Wno-{name}" for name in ("unknown-warning-option", "deprecated-declarations", "shadow")
]
OF_GCC = "--param="  # how its compiler works, which clang takes for a mistake
NOISE = re.compile(r"warnings? generated\.$|Processing file")


def wanted(path: Path) -> bool:
    """Whether a source is looked at: the SYCL plugin is compiled where SYCL's headers are."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    return name.startswith("src/") and "/sycl/plugin/" not in name


def commands(build: Path) -> dict[Path, list[str]]:
    """How each source is compiled, without its name; of one in several targets, the first."""
    found: dict[Path, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["directory"], entry["file"])
        words = [word for word in shlex.split(entry["command"]) if not word.startswith(OF_GCC)]
        end = words.index("-o")
        if wanted(path):
            found.setdefault(path, words[:end])
    return found


def is_of_another_cell(path: Path) -> bool:
    """Whether a source chooses by macros what its headers are, which others would get too."""
    return path.read_text(encoding="utf-8", errors="replace").partition("#include")[0].count("#define") > 0


def batches(found: dict[Path, list[str]], each: bool) -> list[list[Path]]:
    """Sources with the same flags in the same folder, the largest batches first; each that is of another cell
    by itself."""
    alike: dict[tuple, list[Path]] = defaultdict(list)
    for path, words in found.items():
        alike[(path if each or is_of_another_cell(path) else path.parent, *words)].append(path)
    made = [
        sorted(paths)[start : start + AT_ONCE]
        for paths in alike.values()
        for start in range(0, len(paths), AT_ONCE)
    ]
    return sorted(made, key=lambda batch: -sum(path.stat().st_size for path in batch))


def write(build: Path, made: list[list[Path]], found: dict[Path, list[str]]) -> list[Path]:
    """A file that includes the sources of each batch, and the commands that compile them."""
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    files, entries = [], []
    for number, batch in enumerate(made):
        file = folder / f"{number}.cpp"
        lines = [f'#include "{path}"  // NOLINT(bugprone-suspicious-include)\n' for path in batch]
        file.write_text("".join(lines), encoding="utf-8")
        files.append(file)
        words = [*found[batch[0]], "-c", str(file)]
        entries.append({"directory": str(build), "arguments": words, "file": str(file)})
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    return files


def findings(file: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["clang-tidy", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", *EXTRA, "-p", file.parent, file],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if not NOISE.search(line)]
    return done.returncode, "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-p", dest="build", type=Path, required=True, help="folder with compile_commands.json"
    )
    parser.add_argument("-j", dest="jobs", type=int, default=1, help="so many at once")
    parser.add_argument("--each", action="store_true", help="each source by itself")
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / "compile_commands.json").exists():
        print(f"tidy: {build} has no compile_commands.json; run cmake --preset lint", file=sys.stderr)
        return 2
    found = commands(build)
    files = write(build, batches(found, options.each), found)
    status = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for code, text in pool.map(findings, files):
            status |= int(code != 0)
            if text:
                print(text, flush=True)
    print(f"tidy: {len(found)} sources in {len(files)} files, {'findings' if status else 'nothing found'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
