"""Tables of sizes in a report: bytes, time, bandwidth, limit and #wrong, as OSU and nccl-tests have them."""

import re

import log_samples
import pytest
import samples
from fabricmark.report import sizes
from fabricmark.results import load


def table(place, *words):
    """{heading: cells} of the table of sizes, and all that was printed."""
    done = place.run("report", "results", "--sizes", *words, COLUMNS="200")
    lines = done.stdout.splitlines()
    head = next(number for number, line in enumerate(lines) if line.endswith(sizes.WRONG))
    names = re.split(r"  +", lines[head].strip())
    rows = []
    for line in lines[head + 1 :]:
        if len(re.split(r"  +", line.strip())) != len(names):
            break
        rows.append(re.split(r"  +", line.strip()))
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}, done.stdout


def of_sizes(document, name="bw", sizes_of=(1, 2, 4, 8), seconds=1e-6):
    """A result with one bandwidth for each size."""
    document["measurements"] = [
        samples.metric(
            "bandwidth", {"message_bytes": size}, "GB/s", ((seconds, 2 * seconds),), "higher", size
        )
        for size in sizes_of
    ]
    document["run"].update(program=f"fm_{name}", benchmark=name)
    document["repetitions"]["count"] = 2
    return document


def test_bytes_time_bandwidth_limit_and_wrong(calibrated):
    calibrated.write("one.json", samples.b_eff())
    found, _ = table(calibrated)
    result = load(calibrated.results / "one.json")
    rates = {one.axes["message_bytes"]: one.best for one in result.measurements if one.name == "bandwidth"}
    times = {
        one.axes["message_bytes"]: one.best
        for one in result.measurements
        if one.name == "latency" and one.axes["operation"] == "exchange"
    }
    exchanges = [row for row in zip(*found.values(), strict=True) if row[0] == "exchange"]
    assert [row[1] for row in exchanges] == [str(size) for size in sorted(rates)]
    shown = dict(zip(found, zip(*exchanges, strict=True), strict=True))
    for size, rate, time, limit in zip(
        sorted(rates), shown["bandwidth [GB/s]"], shown["time [us]"], shown["limit [GB/s]"], strict=True
    ):
        assert float(rate) == pytest.approx(rates[size], rel=1e-3)
        assert float(time) == pytest.approx(times[size], rel=1e-3)
        assert float(limit) > 0
    assert set(shown["#wrong"]) == {"0"}


@pytest.mark.parametrize(("status", "said"), [("passed", "0"), ("failed", "?"), ("skipped", "N/A")])
def test_wrong_values_are_told_or_that_nothing_was_checked(place, status, said):
    place.write("one.json", of_sizes(samples.result(status=status)))
    found, text = table(place)
    assert found["#wrong"] == [said] * 4
    assert ("failed: array a" in text) == (status == "failed")


def test_of_a_bandwidth_alone_the_time_is_bytes_over_it(place):
    place.write("one.json", of_sizes(samples.result(), seconds=1e-3))
    found, text = table(place)
    assert found["bytes"] == ["1", "2", "4", "8"]
    assert [float(one) for one in found["time [us]"]] == [1e3] * 4
    assert [float(one) for one in found["bandwidth [GB/s]"]] == [1e-6, 2e-6, 4e-6, 8e-6]
    assert "#wrong: values that are not" in " ".join(text.split())


def test_few_sizes_and_none_have_no_table(place):
    place.write("one.json", of_sizes(samples.result(), sizes_of=(1, 2)))
    place.write("two.json", samples.result())
    assert sizes.WRONG not in place.run("report", "results", "--sizes").stdout


def test_sizes_are_shown_where_they_are_asked_for(place):
    place.write("one.json", of_sizes(samples.result()))
    assert sizes.WRONG not in place.run("report", "results", "--full").stdout


def test_logs_of_others_have_them_too(place):
    place.write("osu.txt", log_samples.LATENCY)
    found, _ = table(place)
    assert len(found["bytes"]) >= 3 and set(found["#wrong"]) == {"N/A"}


def test_a_long_table_says_how_much_is_left_out(place):
    place.write("one.json", of_sizes(samples.result(), sizes_of=range(1, sizes.MOST_LINES + 8)))
    text = place.run("report", "results", "--sizes").stdout
    assert "and 7 more sizes: --csv FILE has all" in text


def test_lines_are_in_the_order_of_their_sizes(place):
    result = load(place.write("one.json", of_sizes(samples.result(), sizes_of=(8, 1, 4, 2))))
    made = sizes.lines((one, None) for one in result.measurements)
    assert [one.size for one in made] == [1, 2, 4, 8] and made[0].limit == (None, None)
