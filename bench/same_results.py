"""Whether two builds give the same: digests of results and modelled times over every transport.

    bench/same_results.py OLD/build/release NEW/build/release [--ranks 4] [--system noctua2]

Each benchmark that exchanges messages runs over every transport of its kernel.toml, with each mode and
issuer, once with data and once for its time alone. Compared are exit code, error, modelled measurements,
verdicts and digests of results. Exit code: 1 where something differs.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from fabricmark.base import kernels
from fabricmark.systems import export

# Problems that are small, and what the times of larger ones are asked with; of FFT there are none alone.
SMALL = {
    "b_eff": (("--largest", "8"), ("--largest", "20")),
    "ptrans": (("--size", "128", "--block-size", "16"), ("--size", "1024", "--block-size", "64")),
    "hpl": (("--size", "128", "--block-size", "32"), ("--size", "1024", "--block-size", "64")),
    "fft": (("--log-size", "12", "--scope", "distributed", "--vector-bytes", "16"), ()),
    "shallow_water": (("--mesh", "bay:300", "--steps", "20"), ("--mesh", "bay:2000", "--steps", "20")),
}
# Of a system with several, over the hosts.
BITSTREAMS = {
    "ptrans": "520n_multi/ptrans_host",
    "hpl": "520n_multi/hpl_host",
    "shallow_water": "u280_hbm_shallow_water/host",
}
DRAWS = ("fm_shallow_water",)  # what part of a run is timed by itself, so that times of runs with data differ
AXES = ("issuer", "mode")
DIGEST = re.compile(r"\b[0-9a-f]{16}\b")
SECONDS = 240


def cases(ranks: int, system: Path) -> Iterator[tuple[str, ...]]:
    """Command lines: the program's name, and its options."""
    for benchmark, (small, large) in SMALL.items():
        parameters = kernels.kernel(benchmark).parameters
        of_boards = {name: parameters[name].values for name in AXES}
        for transport in parameters["transport"].values:
            with_ranks = (f"fm_{benchmark}", "--ranks", str(ranks), "--transport", transport)
            described = (*with_ranks, "--system", str(system))
            yield (*with_ranks, *small)
            for values in itertools.product(*of_boards.values()):
                pairs = zip(of_boards, values, strict=True)
                words = [word for name, value in pairs for word in (f"--{name}", str(value))]
                yield (*described, *words, *small)
                if large:
                    yield (*described, *words, *large, "--timing-only")
            if transport == "host" and benchmark in BITSTREAMS:
                yield (*described, "--bitstream-id", BITSTREAMS[benchmark], *small)


def outcome(build: Path, case: tuple[str, ...]) -> Mapping:
    """What has to be the same."""
    command = [str(build / "bin" / case[0]), *case[1:], "--repetitions", "1", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    found: dict[str, object] = {"code": done.returncode}
    if done.returncode > 1:
        return found | {"error": done.stderr.strip().splitlines()[-1:]}
    document = json.loads(done.stdout)
    modelled = [one for one in document["measurements"] if one.get("kind") == "modelled"]
    notes = " ".join(document.get("notes", []))
    if case[0] in DRAWS and "--timing-only" not in case:
        modelled = []
    return found | {
        "times": modelled,
        "verdicts": [(one["name"], one["status"], one["checked"]) for one in document["verdicts"]],
        "digests": DIGEST.findall(notes),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--system", default="noctua2", help="a name of `fabricmark systems list`")
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder) / "system.json"
        system.write_text(export.text(asked.system, "fitted"))
        for case in cases(asked.ranks, system):
            old, new = outcome(asked.old, case), outcome(asked.new, case)
            kind = "refused alike" if old["code"] == 2 else "modelled" if old.get("times") else "computed"
            counts[kind if old == new else "DIFFERENT"] += 1
            if old != new:
                print(
                    " ".join(case),
                    f"  old: {str(old)[:500]}",
                    f"  new: {str(new)[:500]}",
                    sep="\n",
                    flush=True,
                )
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return int(counts["DIFFERENT"] > 0)


if __name__ == "__main__":
    sys.exit(main())
