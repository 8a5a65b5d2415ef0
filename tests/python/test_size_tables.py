"""Times by size of exported systems: the tables say what the models say."""

from dataclasses import replace

import numpy as np
import pytest
from fabricmark import systems
from fabricmark.models import _network, _transfers
from fabricmark.systems import size_tables

SIZES = np.unique(np.concatenate([np.arange(300), np.geomspace(1, 1e9, 700), 2.0 ** np.arange(30)]))
DIRECTIONS = (_transfers.TO_DEVICE, _transfers.FROM_DEVICE)


def read(table, sizes=SIZES):
    """As the programs do."""
    place = np.searchsorted(table["bytes"], sizes, side="right") - 1
    first, seconds, a_byte = (np.array(table[name])[place] for name in table if name != "devices")
    return seconds + (sizes - first) * a_byte


@pytest.mark.parametrize("name", systems.names())
def test_tables_of_copies(name):
    board = systems.load(name).board
    copies = size_tables.copies(board)
    for direction, found in copies.items():
        array = _network.array_copy_seconds(direction, SIZES, board, staged=False)
        assert read(found["array"]) == pytest.approx(array, rel=1e-9)
        for kind, neighbours in (("message", False), ("message_beside_others", True)):
            message = _network.copy_seconds(direction, SIZES, board, neighbours)
            assert read(found[kind]) == pytest.approx(message, rel=1e-9)
    assert set(copies) == set(DIRECTIONS) or board.get("host.write_bandwidth") is None


@pytest.mark.parametrize("name", systems.names())
def test_tables_of_messages(name):
    system = systems.load(name)
    for transport, tables in size_tables.messages(system).items():
        for devices in sorted({1, 2, 3, 4, 16, system.most_devices} & set(range(system.most_devices + 1))):
            found = [one for one in tables if one["devices"] <= devices][-1]
            network, nodes = system.networks[transport], system.nodes(devices)
            exchange = _network.exchange_seconds(SIZES, network, devices, nodes)
            assert read(found) == pytest.approx(exchange / 2, rel=5e-4), (transport, devices)


def test_the_fixed_ways_of_a_driver():
    """Below 16 bytes word by word, not in less than the time of 8; from a page of 64 on it waits longer."""
    changes = {
        "write_bandwidth": 8.0, "write_latency": 1.0, "page": 64, "page_latency": 5.0, "programmed_below": 16,
        "programmed_latency": 2.0, "programmed_bandwidth": 4.0, "staging_bandwidth": None,
        "programmed_at_once": None,
    }  # fmt: skip
    board = systems.load("noctua1").board.having({f"host.{name}": value for name, value in changes.items()})
    table = size_tables.copies(board)[_transfers.TO_DEVICE]["message"]
    assert table["bytes"] == [0, 8, 16, 64]
    assert table["seconds"] == pytest.approx([2, 2, 1 + 16 / 8, 6 + 64 / 8])
    assert table["seconds_per_byte"] == pytest.approx([0, 1 / 4, 1 / 8, 1 / 8])
    at_once = board.having({"host.programmed_at_once": 4})
    table = size_tables.copies(at_once)[_transfers.TO_DEVICE]["message"]
    assert table["bytes"] == [0, 4, 16, 64]
    assert table["seconds"] == pytest.approx([2, 2, 1 + 16 / 8, 6 + 64 / 8])
    assert table["seconds_per_byte"] == pytest.approx([0, 1 / 4, 1 / 8, 1 / 8])


def test_where_nothing_says_the_rate_there_is_no_table():
    system = systems.load("noctua1")
    without = system.board.having({"host.write_bandwidth": None})
    assert list(size_tables.copies(without)) == [_transfers.FROM_DEVICE]
    hosts = replace(system.networks["host"], curves=()).having({"links.bandwidth": None})
    assert size_tables.messages(replace(system, networks={"host": hosts})) == {}
