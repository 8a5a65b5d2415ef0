"""Nights of a site, made up: values with a known spread, losses and outliers; and folders of result files."""

import json

import compare_samples
import numpy as np
import samples
from fabricmark.sites import evidence

METRICS, NODES, NIGHTS, BASE, LOOKED = 40, 8, 200, 60, 3
QUIETEST, LOUDEST = 0.003, 0.015  # deviation between nights
OUTLIERS = 1 / 2000  # of all values, between 5 and 15 % too slow
LOSSES = (0.05, 0.05, 0.05, 0.10)


def years(random, spreads, before):
    """Logarithms (series x nights) of so many metrics on NODES nodes, with outliers."""
    shape = (len(spreads) * NODES, before + NIGHTS)
    values = random.normal(size=shape) * np.repeat(spreads, NODES)[:, None]
    is_outlier = random.random(shape) < OUTLIERS
    return values - is_outlier * random.uniform(0.05, 0.15, shape)


def alarms(values, rate, looked=LOOKED, base=BASE, smallest=0.02):
    """For each series and night whether a check against the median of `base` nights calls it slower."""
    groups = np.repeat(np.arange(len(values) // NODES), NODES)
    least = np.full(len(values), -np.log1p(-smallest))
    found = np.zeros((len(values), NIGHTS), bool)
    for night in range(NIGHTS):
        first = night + 1
        known = evidence.baseline(values[:, first : first + base], groups)
        rule = evidence.shared(known, least, rate, looked)
        newest = values[:, first + base : first + base + looked]
        found[:, night] = evidence.judge(newest, known, rule, least, -np.log1p(-0.2)).slower
    return found


def night_of(node, at, factor=1.0, random=None, spread=0.0, **kind):
    """A result document of one node: times are `factor` times the usual ones."""
    random = np.random.default_rng(at) if random is None else random
    made = compare_samples.document(random, 0, factor, between=spread, within=0.001, repetitions=3, **kind)
    made["run"]["started"] = f"2026-{at // 28 + 1:02}-{at % 28 + 1:02}T01:00:00Z"
    for place in made["environment"]["ranks"]["placement"]:
        place["host"] = node
    return made


def write_night(folder, at, nodes=("n1", "n2", "n3"), slow=None, spread=0.01, seed=0, **kind):
    """A folder of one night, of which each node has a file; `slow`: factors of the times by node."""
    random = np.random.default_rng([seed, at])
    folder.mkdir(parents=True, exist_ok=True)
    for node in nodes:
        factor = (slow or {}).get(node, 1.0)
        made = night_of(node, at, factor, random, spread, **kind)
        (folder / f"{node}.json").write_text(json.dumps(made))
    return folder


def write_history(folder, nights, **kind):
    """So many nights below one folder; the next one is tonight."""
    for at in range(nights):
        write_night(folder / f"night-{at:03}", at, **kind)
    return folder


def pair_of(one, two, factor, random, spread=0.005):
    """A result document of two ranks, each on a node of its own."""
    made = compare_samples.document(random, 0, factor, between=spread, within=0.001, repetitions=3)
    made["environment"]["ranks"] = {
        "count": 2, "kind": "mpi", "mpi_library": None,
        "placement": [
            {"rank": rank, "host": host, "device_index": 0, "device": "sample-cpu", "compute_units": 2}
            for rank, host in enumerate((one, two))
        ],
    }  # fmt: skip
    (entry,) = made["measurements"]
    times = entry["samples"]["per_rank"][0]
    made["measurements"] = [samples.measurement("triad", (times, times))]
    return made


def write_look(folder, nodes, slow=None, seed=8):
    """Each node alone and each pair of them; `slow`: factors of the times of nodes and pairs, by name."""
    random, slow = np.random.default_rng(seed), slow or {}
    write_night(folder, 0, nodes=nodes, slow=slow, spread=0.005)
    for place, one in enumerate(nodes):
        for two in nodes[place + 1 :]:
            factor = slow.get(f"{one}+{two}", 1.0) * slow.get(one, 1.0) * slow.get(two, 1.0)
            made = pair_of(one, two, factor, random)
            (folder / f"{one}-{two}.json").write_text(json.dumps(made))
    return folder
