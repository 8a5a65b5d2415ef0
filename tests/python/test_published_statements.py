"""data/published/statements.csv: what Meyer 2024 says of latencies and rates between boards holds here."""

import csv
import io
import json
import os
import subprocess
import sys
import tomllib

import pytest
from fabricmark.systems import export
from stream_program import PROGRAM as STREAM
from stream_program import REPOSITORY

PROGRAM = STREAM.with_name("fm_collective")
FILE = REPOSITORY / "data" / "published" / "statements.csv"
ROWS = {row["id"]: row for row in csv.DictReader(io.StringIO(FILE.read_text()))}
COLUMNS = ["id", "place", "transport", "path", "issuer", "mode", "message_bytes", "metric", "relation",
           "value", "unit", "statement"]  # fmt: skip
ABOUT = 0.05  # of what is printed with two digits
SIZES = [64 * 2**power for power in range(15)]
BOARDS = ("u280_ddr", "u280_hbm")
PATHS = {"direct": "pair", "switch": "switch"}
TRANSPORTS = ("accl-udp", "accl-tcp")
INVOCATIONS = 2  # of kernels, before and behind a message (section 5.1.2)


def holds(row, found):
    value = float(row["value"])
    return {
        "<": found < value,
        "<=": found <= value,
        ">": found > value,
        ">=": found >= value,
        "=": abs(found - value) <= ABOUT * value,
    }[row["relation"]]


@pytest.fixture(scope="module")
def noctua2(tmp_path_factory):
    file = tmp_path_factory.mktemp("system") / "noctua2.json"
    file.write_text(export.text("noctua2"))
    return file


@pytest.fixture(scope="module")
def engine(noctua2, tmp_path_factory):
    """Latencies [us] by bytes, of one kind of message between two boards."""
    if not PROGRAM.exists():
        pytest.skip("fm_collective is not built")
    folder = tmp_path_factory.mktemp("runs")
    known = {}

    def latencies(transport, path, issuer, mode, sizes):
        asked = (transport, path, issuer, mode, sizes)
        if asked not in known:
            file = folder / f"{len(known)}.json"
            operation = "stream_put" if mode == "streaming" else "send"
            kind = ("--transport", transport, "--topology", PATHS[path], "--issuer", issuer, "--mode", mode)
            words = [PROGRAM, operation, *kind, "--sizes", sizes, "--system", noctua2, "--json", file]
            subprocess.run(words, check=True, capture_output=True, timeout=60)
            found = json.loads(file.read_text())["measurements"]
            known[asked] = {
                one["axes"]["message_bytes"]: one["best"] for one in found if one["name"] == "latency"
            }
        return known[asked]

    return latencies


@pytest.fixture(scope="module")
def over_the_host(tmp_path_factory):
    """Latencies [us] by board and bytes: a kernel, read, message, write, a kernel (section 5.1.2)."""
    system = tomllib.loads((REPOSITORY / "systems" / "noctua2.toml").read_text())
    folder = tmp_path_factory.mktemp("predicted")
    found = {}
    for board in BOARDS:
        (device,) = (one for one in system["devices"] if one["board"] == board)
        text, unit = device["host"]["invocation_latency"]["value"].split()
        assert unit == "us"
        file = folder / f"{board}.csv"
        code = "from fabricmark.cli import app; app(prog_name='fabricmark')"
        words = ["predict", "b_eff", "--system", "noctua2", "--board", board, "--devices", "2", "--transport",
                 "host", "--csv", str(file)]  # fmt: skip
        environment = {**os.environ, "FABRICMARK_ROOT": str(REPOSITORY)}
        subprocess.run([sys.executable, "-c", code, *words], check=True, env=environment, capture_output=True)
        with file.open() as lines:
            found[board] = {
                int(one["message_bytes"]): float(one["value"]) + INVOCATIONS * float(text)
                for one in csv.DictReader(lines)
                if one["name"] == "latency" and one["operation"] == "exchange"
            }
    return found


def rate(engine, row):
    """GB/s of long messages: of the second half of the longest."""
    words = (row["transport"], row["path"], row["issuer"], row["mode"])
    seconds = engine(*words, "2MiB:8MiB")
    half, whole = sorted(seconds)[-2:]
    return (whole - half) / (seconds[whole] - seconds[half]) * 1e-3


def latency(engine, row):
    words = (row["transport"], row["issuer"], row["mode"])
    of_path = {
        path: engine(words[0], path, *words[1:], row["message_bytes"])[int(row["message_bytes"])]
        for path in PATHS
    }
    if row["path"] == "switch less direct":
        return of_path["switch"] - of_path["direct"]
    return of_path[row["path"]]


def test_the_file_has_what_is_compared():
    assert list(next(csv.reader(io.StringIO(FILE.read_text())))) == COLUMNS
    assert len(ROWS) == len(FILE.read_text().splitlines()) - 1
    assert {row["transport"] for row in ROWS.values()} == {"host", *TRANSPORTS}
    assert all(row["place"].startswith("section 5.1") and row["statement"] for row in ROWS.values())


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["transport"] != "host"])
def test_engines_are_as_fast_as_is_said(engine, name):
    row = ROWS[name]
    found = rate(engine, row) if row["metric"] == "bandwidth" else latency(engine, row)
    assert holds(row, found), found
    # It would be seen if it were not so.
    assert not holds(row, found * 4) or not holds(row, found / 4)


@pytest.mark.parametrize("board", BOARDS)
def test_the_way_over_the_host_is_as_slow_as_is_said(over_the_host, board):
    row = ROWS["c000-10"]
    found = over_the_host[board][int(row["message_bytes"])]
    assert holds(row, found), found
    assert not holds(row, found - INVOCATIONS * 30)


def faster_over_the_host(host, engine):
    """Sizes at which an engine takes no less than the path over the host."""
    found = []
    for transport in TRANSPORTS:
        for issuer in ("host", "logic"):
            for mode in ("buffered", "streaming"):
                taken = engine(transport, "direct", issuer, mode, "64:1MiB")
                assert sorted(taken) == SIZES
                found += [size for size in SIZES if taken[size] >= host[size]]
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_the_way_over_the_host_is_the_slowest_at_every_size(over_the_host, engine, board):
    first, last = map(int, ROWS["q000-01"]["message_bytes"].split("-"))
    assert (first, last) == (SIZES[0], SIZES[-1])
    host = over_the_host[board]
    assert faster_over_the_host(host, engine) == []
    # Where copies and kernels took no time it would not be.
    assert 64 in faster_over_the_host({size: host[size] - host[64] + 2 for size in SIZES}, engine)
