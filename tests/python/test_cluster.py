"""The same runs on many nodes: slow nodes and links are named, and what is slow by chance is not."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
import samples
import site_samples
from fabricmark.sites import cluster, heatmap
from fabricmark.sites.check import Settings
from fabricmark.sites.nights import Night, Series

NODES = tuple(f"n{i}" for i in range(1, 17))
PAIRS = [(one, two) for place, one in enumerate(NODES) for two in NODES[place + 1 :]]
LOOK = Settings(false_alarms=0.01)


def night_of(random, slow=None, metrics=4, spread=0.01, pairs=True):
    """Metrics of nodes and of pairs; `slow`: shares that nodes or pairs have lost, by name."""
    slow = slow or {}
    night = Night("look")
    for metric in range(metrics):
        for node in NODES:
            series = Series(f"m{metric}", node, "stream", f"stream {metric}", "GB/s", "higher")
            night.values[series] = 50 * (1 - slow.get(node, 0)) * np.exp(spread * random.normal())
        for one, two in PAIRS if pairs else ():
            kept = np.prod([1 - slow.get(name, 0) for name in (one, two, f"{one}+{two}")])
            series = Series(f"p{metric}", f"{one}+{two}", "b_eff", f"b_eff {metric}", "us", "lower")
            night.values[series] = 5 / kept * np.exp(spread * random.normal())
    return night


def slow_of(found):
    return {one.name for one in found.slow}


def test_a_slow_node_and_a_slow_link_are_named_apart():
    slow = {"n5": 0.08, "n2+n9": 0.12}
    found = cluster.view(night_of(np.random.default_rng(1), slow), LOOK)
    assert slow_of(found) == {"n5", "n2+n9"} and found.exit_code == 1
    node = next(one for one in found.slow if one.name == "n5" and one.value)
    link = next(one for one in found.slow if one.is_link)
    assert node.interval[0] < 0.08 < node.interval[1] and link.interval[0] < 0.12 < link.interval[1]
    assert len(found.nodes) == 16 and len(found.pairs) == 120 and found.metrics == 8


def test_by_chance_nothing_is_slow():
    """0.01 a look: of 30 looks one may have something, of which the probability is a fourth."""
    looks = [cluster.view(night_of(np.random.default_rng(seed), metrics=2), LOOK) for seed in range(30)]
    assert sum(bool(one.slow) for one in looks) <= 2


def test_the_stated_loss_is_found():
    random = np.random.default_rng(3)
    stated = max(one.found for one in cluster.view(night_of(random, pairs=False), LOOK).places)
    hits = [
        "n7" in slow_of(cluster.view(night_of(random, {"n7": stated}, pairs=False), LOOK)) for _ in range(20)
    ]
    assert stated < 0.1 and all(hits)


def test_several_slow_nodes_do_not_hide_each_other():
    slow = {"n1": 0.2, "n2": 0.2, "n3": 0.1}
    assert slow_of(cluster.view(night_of(np.random.default_rng(5), slow), LOOK)) == set(slow)


def test_parts_of_nodes_and_links_are_told_apart():
    nodes = [0.0, 0.1, -0.05, 0.0, 0.02, -0.02]
    pairs = np.array([(one, two) for one in range(6) for two in range(one + 1, 6)])
    values = 3.0 + np.array([nodes[one] + nodes[two] for one, two in pairs])
    values[4] -= 0.5
    parts, rest = cluster.polished(values, pairs, 6)
    assert np.allclose(parts, nodes, atol=1e-6)
    assert rest[4] == pytest.approx(-0.5) and np.allclose(np.delete(rest, 4), 0, atol=1e-6)


def test_few_nodes_have_no_peers():
    night = night_of(np.random.default_rng(1), {"n1": 0.5}, pairs=False)
    night.values = {one: value for one, value in night.values.items() if one.node in ("n1", "n2")}
    found = cluster.view(night, LOOK)
    assert not found.places and found.exit_code == 0


# The command and its picture -----------------------------------------------------------------------------


@pytest.fixture
def look(place):
    """Six nodes, each alone and each pair; n3 is slow, and the link between n1 and n2."""
    nodes = [f"n{i}" for i in range(1, 7)]
    site_samples.write_look(place.folder / "look", nodes, {"n3": 1.4, "n1+n2": 1.3})
    return place


def test_slow_ones_are_shown_with_how_far_and_how_sure(look):
    done = look.run("cluster", "look")
    assert done.returncode == 1, done.stderr
    rows = done.stdout.splitlines()
    assert rows[-1].startswith("slow nodes 1 of 6 (n3), slow links 1 of 15 (n1+n2), broken 0; 2 metrics; ")
    assert any("n3" in row and "looks" in row and "28." in row for row in rows)


def test_a_metric_may_be_chosen(look, one_error_line):
    done = look.run("cluster", "look", "--metric", "bandwidth triad")
    assert done.returncode == 1 and "stream bandwidth triad" in done.stdout
    one_error_line(look.run("cluster", "look", "--metric", "nothing"), 2)
    assert look.run("cluster", "look", "--tolerance", "60%").returncode == 0


def test_the_heat_map_has_a_cell_for_each_pair(look):
    assert look.run("cluster", "look", "--svg", "map.svg").returncode == 1
    root = ElementTree.parse(look.folder / "map.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    titles = [
        one.find(f"{space}title").text
        for one in root.iter(f"{space}rect")
        if one.find(f"{space}title") is not None
    ]
    assert len(titles) == 36 and "n1 and n2: +2" in " ".join(titles)
    outlined = [
        one.find(f"{space}title").text for one in root.iter(f"{space}rect") if one.get("class") == "w"
    ]
    assert len(outlined) == 2 + 2 * 5 and all(
        "n3" in one or "n1 and n2" in one or "n2 and n1" in one for one in outlined
    )


def test_names_in_the_heat_map_are_no_markup():
    drawn = heatmap.draw("<b>", ["<i>", "n2"], {("<i>", "n2"): 0.1, ("n2", "<i>"): 0.1}, set())
    ElementTree.fromstring(drawn)
    assert "<b>" not in drawn and "<i>" not in drawn


def test_without_pairs_there_is_no_heat_map(place, one_error_line):
    site_samples.write_night(place.folder / "look", 0)
    one_error_line(place.run("cluster", "look", "--svg", "map.svg"), 2)
    assert not (place.folder / "map.svg").exists()


def test_what_disturbed_a_slow_node_is_said(place):
    nodes = [f"n{i}" for i in range(1, 9)]
    site_samples.write_look(place.folder / "look", nodes, slow={"n2": 1.5})
    for node in ("n1", "n2"):
        file = place.folder / f"look/{node}.json"
        noise = {"host": node, "seconds": 4.0, "stolen": 0.2}
        file.write_text(json.dumps({**json.loads(file.read_text()), "noise": noise}))
    said = place.run("cluster", "look").stdout
    assert "disturbed: stream on n2: other virtual machines took 20 %" in said and "on n1:" not in said


def test_what_is_broken_is_named(look):
    wrong = samples.result(status="failed")
    (look.folder / "look/wrong.json").write_text(json.dumps(wrong))
    done = look.run("cluster", "look")
    assert done.returncode == 1 and "broken: stream on here: results are wrong" in done.stdout
    assert "broken 1" in done.stdout.splitlines()[-1]
