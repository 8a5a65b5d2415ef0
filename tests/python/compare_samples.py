"""Synthetic results for the tests of comparisons: known ratios, known spread between and within runs."""

import json
from pathlib import Path

import numpy as np
import samples
from fabricmark import results


def started(second):
    """Time of a run, `second` seconds after the first."""
    return f"2026-11-21T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def document(
    random, at=0, factor=1.0, between=0.0, within=0.02, repetitions=10, operations=("triad",), **kind
):
    """A run whose times are `factor` times those of the base; spreads: deviations of logarithms."""
    made = samples.result(operations=(), **kind)
    made["run"]["started"] = started(at)
    made["repetitions"]["count"] = repetitions
    for operation in operations:
        centre = 0.01 * factor * np.exp(between * random.normal())
        times = (centre * np.exp(within * random.normal(size=repetitions))).tolist()  # as JSON has them
        kinds = {"kind": kind["kind"]} if "kind" in kind else {}
        made["measurements"].append(samples.measurement(operation, (tuple(times),), **kinds))
    return made


def latency(random, at=0, factor=1.0, within=0.02):
    """A run with one latency in us, where lower is better."""
    made = document(random, at, factor, within=within)
    measurement = made["measurements"][0]
    micros = [seconds * 1e6 for seconds in measurement["samples"]["per_rank"][0]]
    values = {"best": min(micros), "minimum": min(micros), "maximum": max(micros)}
    values |= {"median": float(np.median(micros)), "mean": float(np.mean(micros))}
    measurement.update(name="latency", unit="us", better="lower", work=None, **values)
    return made


def own_kernel(made, file, digit):
    """Make it a run of the user's own kernel; `digit` stands for its content."""
    made["run"].update(
        {"class": "optimized", "kernel": {"file": file, "digest": 32 * digit, "origin": "file"}}
    )


def load(made, name="made.json"):
    """The result that `results.load` would make of this document, without a file."""
    return results.checked(Path(name), made)


def side(random, runs, factor=1.0, first=0, step=2, make=document, **options):
    """Documents of one side, `step` seconds from run to run."""
    return [make(random, first + step * i, factor, **options) for i in range(runs)]


def loaded(made, name="side"):
    return [load(each, f"{name}-{i}.json") for i, each in enumerate(made)]


def write(folder, made):
    """A folder of result files."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, each in enumerate(made):
        (folder / f"{i:03}.json").write_text(json.dumps(each))
    return folder
