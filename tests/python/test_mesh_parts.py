"""Partitions beside printed ones: core, border and neighbours of the parts (Meyer 2024, tables A.1, A.2)."""

import csv
import math
from dataclasses import dataclass

import numpy
import pytest
from fabricmark.mesh import tool
from meshes import ABACO, TABLES

pytestmark = pytest.mark.programs
ABACO_ELEMENTS = 1696
SHARE = 0.8  # of the rows that have to hold
TOLERANCE = 1.1


@dataclass(frozen=True)
class Row:
    """Of a mesh of `elements` in `parts`: E_core and S of the part with the largest border, N_max."""

    elements: int
    parts: int
    core: int
    border: int
    neighbours: int


def printed():
    """The rows of the tables that are given, each once; those of one part say nothing of a partition."""
    found = {}
    with TABLES.open() as file:
        for line in csv.DictReader(file):
            if line["place"].startswith("Table A") and line["split"] == "given" and int(line["devices"]) > 1:
                elements = int(line["parameters"].rpartition("e_total=")[2])
                key = (line["place"], elements, int(line["devices"]))
                found.setdefault(key, {})[line["metric"]] = int(line["value"])
    return [
        Row(elements, parts, row["e_core"], row["e_send_plus_e_recv"], row["n_max"])
        for (_, elements, parts), row in found.items()
    ]


def abaco(place, elements):
    """The bight of Abaco with so many elements: bisected as far as that takes, then subdivided."""
    times = 1
    while elements % (4 * times**2) == 0 and elements // (4 * times**2) >= ABACO_ELEMENTS:
        times *= 2
    coarse, fine = place.folder / "coarse.14", place.folder / f"{elements}.14"
    tool.ask("refine", ABACO, coarse, "--elements", elements // times**2)
    assert tool.ask("refine", coarse, fine, "--times", times)["quality"]["elements"] == elements
    return fine


def of_parts(elements, parts):
    """The row that a partition makes, of what the tool or `counted` says of its parts."""
    worst = max(parts, key=lambda part: part["e_send_plus_e_recv"])
    most = max(part["neighbours"] for part in parts)
    return Row(elements, len(parts), worst["e_core"], worst["e_send_plus_e_recv"], most)


def counted(arrays, part_of):
    """The same as the tool says of parts, counted in another way."""
    sides = numpy.sort(numpy.concatenate([arrays.elements[:, (i, (i + 1) % 3)] for i in range(3)]), axis=1)
    owners = numpy.tile(numpy.arange(len(part_of)), 3)
    order = numpy.lexsort(sides.T)
    sides, owners = sides[order], owners[order]
    same = (sides[1:] == sides[:-1]).all(axis=1)
    pairs = numpy.stack([owners[1:][same], owners[:-1][same]], axis=1)
    lonely = numpy.concatenate([[True], ~same]) & numpy.concatenate([~same, [True]])
    crossing = pairs[part_of[pairs[:, 0]] != part_of[pairs[:, 1]]]
    border = numpy.zeros(len(part_of), dtype=bool)
    border[crossing.ravel()] = True
    beside = {tuple(pair) for pair in part_of[numpy.concatenate([crossing, crossing[:, ::-1]])].tolist()}
    return [
        {
            "elements": int((part_of == part).sum()),
            "e_core": int((~border & (part_of == part)).sum()),
            "e_send_plus_e_recv": int((border & (part_of == part)).sum()),
            "d_ext": int((part_of[owners[lonely]] == part).sum()),
            "neighbours": sum(one == part for one, _ in beside),
        }
        for part in range(int(part_of.max()) + 1)
    ]


def shares(rows, made):
    """The share of rows in which each holds. E_core is read in both directions: more of it is better."""
    checks = {
        "S": lambda row, ours: ours.border <= TOLERANCE * row.border,
        "E_core, at least": lambda row, ours: ours.core >= row.core / TOLERANCE,
        "E_core, at most": lambda row, ours: ours.core <= TOLERANCE * row.core,
        "N_max": lambda row, ours: ours.neighbours <= row.neighbours,
    }
    return {
        name: sum(holds(row, ours) for row, ours in zip(rows, made, strict=True)) / len(rows)
        for name, holds in checks.items()
    }


def compare(place, rows):
    made = []
    for row in rows:
        answer = tool.ask("partition", abaco(place, row.elements), "--parts", row.parts)
        made.append(of_parts(row.elements, answer["parts"]))
        print(f"{row} printed, {made[-1]}")
    found = shares(rows, made)
    print(found)
    assert min(found.values()) >= SHARE, found


@pytest.mark.skipif(not (ABACO.exists() and TABLES.exists()), reason="mesh and tables are not here")
def test_partitions_of_the_smaller_meshes_are_as_good_as_the_printed_ones(place):
    rows = [row for row in printed() if row.elements <= 27136]
    assert len(rows) >= 10
    compare(place, rows)


@pytest.mark.full
@pytest.mark.skipif(not (ABACO.exists() and TABLES.exists()), reason="mesh and tables are not here")
def test_partitions_of_all_meshes_are_as_good_as_the_printed_ones(place):
    rows = printed()
    assert len(rows) >= 20
    compare(place, rows)


@pytest.mark.parametrize("parts", [2, 5, 12])
def test_what_is_said_of_parts_is_what_they_are(place, parts):
    arrays, _ = tool.arrays("bay:3000")
    where = place.folder / "part_of.npy"
    answer = tool.ask("partition", "bay:3000", "--parts", parts, "--output", where)
    assert answer["parts"] == counted(arrays, numpy.load(where))


def is_compact(row):
    """A border not much longer than those printed, about 2.2 to 3 times the root of a part's elements."""
    return row.border <= 3.5 * math.sqrt(row.elements / row.parts) and row.neighbours <= 8


def test_partitions_of_the_bay_are_compact_and_others_are_found_out(place):
    arrays, _ = tool.arrays("bay:6784")
    for parts in (4, 8, 16):
        answer = tool.ask("partition", "bay:6784", "--parts", parts)
        good = of_parts(6784, answer["parts"])
        assert is_compact(good)
        assert max(part["elements"] for part in answer["parts"]) <= 1.01 * 6784 / parts
        scattered = of_parts(6784, counted(arrays, numpy.arange(6784) % parts))
        assert not is_compact(scattered)
        found = shares([good], [scattered])
        assert found["S"] == found["E_core, at least"] == 0
