"""Inputs that are valid in form, with other values: read and used, or refused in one line of what is wrong.

A fuzz of letters ends at the first refusal. These change values into others that a reader of the form takes,
so that what comes behind it is tried: at least half have to get there, which each test counts.
"""

import json
import random
import subprocess
import tomllib

import pytest
from conftest import MESH_TOOL, REPOSITORY
from fabricmark.base import kernels, paths, toml_file
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.measure import campaign, launch, launchers, tune
from fabricmark.mesh import formats, packages
from meshes import GMSH_2, GMSH_4

RUNS = 120


def one_line(error):
    text = str(error)
    assert "\n" not in text and "; " in text and len(text) < 600, text
    text.encode("utf-8")


# Campaigns ------------------------------------------------------------------------------------------------


def in_toml(value):
    if isinstance(value, list):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {in_toml(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


def value_of(dice, parameter):
    """One that its form allows: of its type, in its range or just outside."""
    if parameter.values:
        return dice.choice(list(parameter.values))
    if parameter.type == "string":
        return dice.choice(["bay:100", "rectangle:4x4", "x"])
    low, high = parameter.range or (0, 1 << 40)
    inside = [low, high, (low + high) // 2, *(one for one in (3, 64, 1000, 1 << 20) if low <= one <= high)]
    number = dice.choice(inside if dice.random() < 0.95 else [low - 1, high + 1, 3.5])
    return int(number) if parameter.type == "int" and abs(number) < 1 << 62 else float(number)


def campaign_text(dice):
    """Runs of the suite's benchmarks with some of their parameters, and places and options that may clash."""
    lines = [f'name = "{dice.choice(["a", "A-1", "x.y_z"])}"']
    if dice.random() < 0.3:
        lines.append(f"{dice.choice(['repetitions', 'warmup'])} = {dice.randint(1, 50)}")
    places = {
        "ranks": lambda: dice.choice([1, [1, 2], [4, 2.0]]),
        "mpi": lambda: dice.choice([2, [2, 4], 64]),
        "hosts": lambda: dice.sample(["n1", "n2", "n3", "n1.lan"], 2),
        "ranks_per_host": lambda: dice.randint(1, 4),
        "device": lambda: dice.choice([0, "cpu", [0, "0", 1], 99]),
        "platform": lambda: dice.choice(["dry-run", 0, ["Portable", 7]]),
        "runtime": lambda: dice.choice(["system", ["system", "intel-cpu"], "nothing"]),
        "min_time": lambda: dice.choice([0, 0.5, 1e6]),
    }
    for _ in range(dice.randint(1, 3)):
        known = kernels.kernel(dice.choice(NAMES))
        lines += ["[[runs]]", f'benchmark = "{known.benchmark}"']
        several = {name for name in places if dice.random() < 0.06}
        lines += [f"{name} = {in_toml(places[name]())}" for name in sorted(several)]
        chosen = dice.sample(sorted(known.parameters), min(3, len(known.parameters)))
        options = {name: value_of(dice, known.parameters[name]) for name in chosen[:1]}
        if dice.random() < 0.2:
            options |= {"variant": dice.choice(["base", "base", "throughput", "dataflow"])}
        if dice.random() < 0.1:
            options |= {
                dice.choice(["timeout", "inject_delay", "memory", "kernel_file"]): dice.choice([1, "a.cl"])
            }
        lines.append(f"options = {in_toml(options)}")
        matrix = {
            name: list(
                {str(one): one for one in (value_of(dice, known.parameters[name]) for _ in range(2))}.values()
            )
            for name in (chosen if dice.random() < 0.1 else chosen[1:])
        }
        lines.append(f"matrix = {in_toml(matrix)}" if matrix else "")
    return "\n".join(lines) + "\n"


NAMES = sorted(path.parent.name for path in (REPOSITORY / "kernels").glob("*/kernel.toml"))


@pytest.mark.programs
def test_campaigns(tmp_path, monkeypatch):
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    kernels.answers([{"benchmark": name} for name in NAMES])
    path, behind, accepted, dice = tmp_path / "c.toml", 0, 0, random.Random(19)
    for _ in range(RUNS):
        text = campaign_text(dice)
        tomllib.loads(text)
        path.write_text(text)
        try:
            toml_file.load(path, "campaign-1")
            behind += 1
            points = campaign.load(path).points
        except FabricmarkError as error:
            one_line(error)
            continue
        accepted += 1
        for point in points[:20]:
            job = point.job("system", tmp_path)
            launcher = launchers.require(ENVIRONMENT) if job.mpi is not None else None
            command = launch.command_line(job, tmp_path / point.file_name, launcher)
            assert all(word.isprintable() for word in command), text
    assert behind >= RUNS // 2 and accepted >= RUNS // 10, (behind, accepted)


ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


# Files of `fabricmark tune` -------------------------------------------------------------------------------

TUNING = {
    "schema": "fabricmark-tuning/2",
    "created": "2026-11-20T10:00:00Z",
    "transport": "host",
    "host": {"cpu": "a processor"},
    "device": {"name": "a device", "driver": "1.0"},
    "ranks": {"kind": "threads", "count": 2},
    "pattern": "exchange",
    "sizes": [
        {"bytes": 1 << i, "protocol": "whole", "seconds": {"whole": 1e-6, "mapped": 2e-6}} for i in range(6)
    ],
}
TEXTS = [
    "",
    "whole",
    "mapped",
    "none",
    "\u202e",
    "é",
    "a" * 300,
    "%s{}",
    "[bold]x",
    "\x1b[2J",
    "threads",
    "mpi",
]


def leaves(node, place=()):
    """The places of all values of a document."""
    if isinstance(node, dict | list):
        for key, one in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(one, (*place, key))
    else:
        yield place


def change(dice, document):
    """One to three values into others of the same type, a list into another order or length."""
    for _ in range(dice.randint(1, 3)):
        *above, key = dice.choice(list(leaves(document)))
        node = document
        for one in above:
            node = node[one]
        old = node[key]
        if isinstance(old, bool):
            node[key] = not old
        elif isinstance(old, int):
            node[key] = dice.choice([1, 2, old + 1, old * 2, 7, 1 << 20, 1 << 40, 10**18])
        elif isinstance(old, float):
            node[key] = dice.choice([1e-300, 1e300, old * 1e3, 5e-324, 1, 0.5])
        else:
            node[key] = dice.choice(TEXTS) if dice.random() < 0.7 else old[::-1]
    if dice.random() < 0.3:
        dice.shuffle(document["sizes"])
    if dice.random() < 0.3:
        document["sizes"] = document["sizes"][: dice.randint(1, 4)] * dice.randint(1, 40)
    return document


def test_files_of_tune(tmp_path, capsys):
    path, behind, dice = tmp_path / "t.json", 0, random.Random(19)
    for _ in range(RUNS):
        documents = [change(dice, json.loads(json.dumps(TUNING))) for _ in range(2)]
        path.write_text(json.dumps(documents if dice.random() < 0.5 else documents[0]))
        try:
            found = tune.read(path)
        except FabricmarkError as error:
            one_line(error)
            continue
        behind += 1
        assert not any(first_fault("tuning-2", one) for one in found)
        tune.show(found)
        shown = capsys.readouterr().out
        assert "\x1b[2J" not in shown and "\u202e" not in shown
    assert behind >= RUNS // 2, behind


# Meshes ---------------------------------------------------------------------------------------------------


def other_numbers(dice, text, changes):
    """A text with some of its numbers changed into others that its form allows."""
    lines = text.splitlines()
    for _ in range(changes):
        place = dice.choice([i for i, line in enumerate(lines) if line[:1].isdigit() or line[:1] == "-"])
        words = lines[place].split()
        which = dice.randrange(len(words))
        if words[which].lstrip("-").isdigit():
            words[which] = str(max(int(words[which]) + dice.choice([-2, -1, 1, 2]), dice.choice([0, 1])))
        elif words[which].replace(".", "", 1).lstrip("-").isdigit():
            words[which] = dice.choice(
                ["0", "-5", "1e30", "1e-30", "90.5", "-12001", "0.001", "1e400", "180"]
            )
        lines[place] = " ".join(words)
    return "\n".join(lines) + "\n"


@pytest.mark.programs
@pytest.mark.parametrize("text", [GMSH_2, GMSH_4], ids=["2.2", "4.1"])
def test_meshes_of_gmsh(place, tmp_path, monkeypatch, text):
    """Into UGRID NetCDF and fort.14; what the conversion makes is read again."""
    monkeypatch.setattr(paths, "runtimes", lambda: REPOSITORY / ".runtimes")
    try:
        loaded = {name: packages.load(name) for name in packages.PACKAGES}
    except FabricmarkError as error:
        pytest.skip(f"not installed here: {error}")
    source, behind, made, dice = tmp_path / "m.msh", 0, 0, random.Random(19)
    for number in range(RUNS // 2):
        source.write_text(other_numbers(dice, text, dice.randint(0, 2)))
        target = tmp_path / f"m{number}.{'nc' if number % 4 == 0 else '14'}"
        try:
            formats._read_gmsh(source)
            behind += 1
            answer = formats.convert(str(source), target, dice.choice([None, None, 5.0, 1e30]))
        except FabricmarkError as error:
            one_line(error)
            assert not target.exists()
            continue
        made += 1
        assert 0 < answer["quality"]["largest_depth_m"] <= 12000
        if target.suffix == ".nc":
            with loaded["netCDF4"].Dataset(target) as data:
                assert data["depth"][:].max() <= 12000
        else:
            words = [MESH_TOOL, "check", target, "--projection", "none"]
            assert subprocess.run(words, capture_output=True, check=False).returncode == 0
    assert behind >= RUNS // 4 and made >= RUNS // 20, (behind, made)
