"""Whether two builds give the same: digests of results and modelled times over every transport.

    bench/same_results.py OLD/build/release NEW/build/release [--ranks 4] [--system noctua2]

Each benchmark that exchanges messages runs over every transport of its kernel.toml, with each mode and
issuer and each of the system's bitstreams, once with data and once for its time alone. Compared are exit
code, error, modelled measurements, verdicts and digests of results; what both refuse is counted by its
reason, as it is not compared. Exit code: 1 where something differs.

--old-export: the system for OLD, from its own `fabricmark systems export`, where its format has changed
since. Then exit codes and modelled times alone are compared, to 0.1 %.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
DRAWS = ("fm_shallow_water",)  # what part of a run is timed by itself, so that times of runs with data differ
AXES = ("issuer", "mode")
DIGEST = re.compile(r"\b[0-9a-f]{16}\b")
SECONDS = 240
NEAR = 1e-3  # of times of builds that do not read the same system
SYSTEM = "SYSTEM"  # stands for the file


def cases(ranks: int, bitstreams: Sequence[Mapping]) -> Iterator[tuple[str, ...]]:
    """Command lines: the program's name, and its options."""
    for benchmark, (small, large) in SMALL.items():
        parameters = kernels.kernel(benchmark).parameters
        of_boards = {name: parameters[name].values for name in AXES}
        own = [one["id"] for one in bitstreams if one["benchmark"] == benchmark]
        chosen = [("--bitstream-id", one) for one in own] if len(own) > 1 else [()]
        for transport in parameters["transport"].values:
            with_ranks = (f"fm_{benchmark}", "--ranks", str(ranks), "--transport", transport)
            yield (*with_ranks, *small)
            for bitstream, *values in itertools.product(chosen, *of_boards.values()):
                pairs = zip(of_boards, values, strict=True)
                words = [word for name, value in pairs for word in (f"--{name}", str(value))]
                described = (*with_ranks, "--system", SYSTEM, *bitstream, *words)
                yield (*described, *small)
                if large:
                    yield (*described, *large, "--timing-only")


def outcome(build: Path, case: tuple[str, ...], system: Path) -> Mapping:
    """What has to be the same."""
    words = [str(system) if word == SYSTEM else word for word in case[1:]]
    command = [str(build / "bin" / case[0]), *words, "--repetitions", "1", "--json", "-"]
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


def times(found: Mapping) -> dict[str, float]:
    return {f"{one['name']} {sorted(one['axes'].items())}": one["best"] for one in found.get("times", [])}


def is_near(old: Mapping, new: Mapping) -> bool:
    """Whether both ended alike, with times that are the same but for NEAR."""
    before, now = times(old), times(new)
    return (
        old["code"] == new["code"]
        and before.keys() == now.keys()
        and all(abs(now[name] - one) <= NEAR * abs(one) for name, one in before.items())
    )


def reason(found: Mapping) -> str:
    """Why a case was refused, without what is its own."""
    (line,) = found["error"] or ("",)
    return "refused alike: " + re.sub(r"'[^']*'", "...", line).partition("error: ")[2][:70]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--system", default="noctua2", help="a name of `fabricmark systems list`")
    parser.add_argument("--old-export", type=Path, help="the exported system for OLD")
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder) / "system.json"
        system.write_text(export.text(asked.system, "fitted"))
        for case in cases(asked.ranks, json.loads(system.read_text())["bitstreams"]):
            old = outcome(asked.old, case, asked.old_export or system)
            new = outcome(asked.new, case, system)
            same = is_near(old, new) if asked.old_export else old == new
            if same and old["code"] > 1:
                counts[reason(new)] += 1
            else:
                counts["DIFFERENT" if not same else "modelled" if old.get("times") else "computed"] += 1
            if not same:
                print(
                    " ".join(case),
                    f"  old: {str(old)[:500]}",
                    f"  new: {str(new)[:500]}",
                    sep="\n",
                    flush=True,
                )
    for kind, count in counts.most_common():
        print(f"{count:5} {kind}")
    return int(counts["DIFFERENT"] > 0)


if __name__ == "__main__":
    sys.exit(main())
