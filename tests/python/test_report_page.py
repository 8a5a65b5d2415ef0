"""The page and the pictures: complete, self-contained, and harmless whatever stands in the files."""

import json
import re
import struct
from html.parser import HTMLParser

import pages
import pytest
import samples
from fabricmark import models
from fabricmark.base import paths
from fabricmark.report import details, outputs, page, pictures, tables
from fabricmark.report.plots import Plot, Series
from fabricmark.systems import calibration

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> $x_$ & \x1b[2J"


def everything(place):
    """One file of every kind that a report can meet."""
    for ranks in (1, 2, 4):
        document = samples.result(ranks=ranks)
        document["timeline"] = samples.timeline(ranks=ranks)
        place.write(f"stream-{ranks}.json", document)
    for transport in ("cpu", "host"):
        place.write(f"b_eff-{transport}.json", samples.b_eff(transport=transport))
    place.write("host_transfer.json", samples.host_transfer())
    for ranks in (1, 2):
        for maker in (samples.gemm, samples.fft, samples.random_access):
            place.write(f"{maker.__name__}-{ranks}.json", maker(ranks))
    place.write("scaling.json", samples.scaling())
    device = {**samples.DEVICE, "name": HOSTILE}
    document = samples.result(status="failed", device=device)
    document["notes"] = [HOSTILE]
    document["parameters"]["kernel_file"] = "</script>" + HOSTILE
    place.write("hostile.json", document)


class Elements(HTMLParser):
    """(tag, attributes) of each element, and the text outside of scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.found, self.text, self.inside = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.text.append(data)


def made(place, *words):
    """The page of everything in the results folder, and the text that a reader sees."""
    done = place.run("report", "results", "--html", "report.html", *words)
    is_wrong = (place.results / "hostile.json").exists()
    assert done.returncode == int(is_wrong), done.stderr
    html = pages.whole(place.folder / "report.html")
    return html, " ".join(" ".join(Elements(html).text).split())


def test_the_page_shows_every_part(calibrated):
    everything(calibrated)
    _, shown = made(calibrated)
    words = (
        "sample-cpu (cpu)",
        "Sample CPU, 2 logical cores",
        "fm_stream 0.1.0 (abc123)",
        "memory bandwidth",
    )
    for word in (
        *words,
        "Headlines",
        "Over sizes",
        "Scaling",
        "efficiency",
        "Kernel timeline",
        "Samples",
        "Runs in detail",
    ):
        assert word in shown
    for word in ("speed-up over 1 rank", "INVALID", "nan, not 30.0", "buffer_size"):
        assert word in shown


def test_no_request_can_leave_the_page(calibrated):
    everything(calibrated)
    html, _ = made(calibrated)
    elements = Elements(html).found
    policy = next(given["content"] for _, given in elements if "http-equiv" in given)
    assert policy.startswith("default-src 'none';") and "http" not in policy and "*" not in policy
    loading = ("src", "srcset", "action", "data", "poster", "background")
    assert not [(tag, given) for tag, given in elements if any(name in given for name in loading)]
    links = [given["href"] for _, given in elements if "href" in given]
    named = {given["id"] for _, given in elements if "id" in given}
    assert len(links) > 8 and all(link.startswith("#") and link[1:] in named for link in links)
    assert {tag for tag, _ in elements}.isdisjoint(
        {"link", "iframe", "img", "object", "embed", "base", "form"}
    )
    assert sum(tag == "script" for tag, _ in elements) == 1
    own = page.part("page.js") + page.part("page.css")
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|import\(|@import|url\(|WebSocket|sendBeacon", own)
    assert "window.open" not in own


def test_names_are_text(calibrated):
    everything(calibrated)
    html, shown = made(calibrated)
    elements = Elements(html).found
    assert "img" not in {tag for tag, _ in elements}
    assert not [given for _, given in elements if any(name.startswith("on") for name in given)]
    assert "<script>alert(1)</script><img src=x onerror=alert(2)> $x_$ & \\x1b[2J" in shown
    assert "\x1b" not in html


def test_plots_have_words_and_tables_have_headings(calibrated):
    everything(calibrated)
    html, _ = made(calibrated)
    elements = Elements(html).found
    places = [given for tag, given in elements if tag == "svg" and "aria-hidden" not in given]
    assert len(places) > 20
    assert all(given["role"] == "img" and given["aria-label"].startswith("Plot: ") for given in places)
    assert all(given["tabindex"] == "0" for given in places)
    assert all(given.get("scope") in ("col", "row") for tag, given in elements if tag == "th")
    count = sum(tag == "caption" for tag, _ in elements)
    assert count == sum(tag == "table" for tag, _ in elements)
    assert ("html", {"lang": "en"}) in elements


def test_every_series_says_its_kind(calibrated):
    everything(calibrated)
    html, _ = made(calibrated)
    legends = re.findall(r'<ul class="legend">(.*?)</ul>', html)
    names = [name for legend in legends for name in re.findall(r"</svg>([^<]*)</li>", legend)]
    assert len(names) > 20
    for name in names:
        assert re.search(r"measured|modelled|emulated|^limit$|^ideal$", name), name
    for legend in legends:
        own = re.findall(r"</svg>([^<]*)</li>", legend)
        assert len(own) == len(set(own))


def test_values_stand_beside_their_marks(calibrated):
    calibrated.write("one.json", samples.b_eff())
    html, _ = made(calibrated)
    said = re.findall(r"<title>([^<]*)</title></circle>", html)
    assert any(
        re.fullmatch(r"exchange \(measured\): 1 KiB: best [\d.]+ us, median [\d.]+ us", text) for text in said
    )
    assert any("5 samples from " in text for text in said)
    ticks = re.findall(r'class="e">([^<]*)</text>', html)
    assert "1 GB/s" in ticks and "10 us" in ticks and not [text for text in ticks if "e-" in text]


def test_bars_mark_all_of_the_limit(calibrated):
    calibrated.write("one.json", samples.result(operations=("triad",)))
    html, shown = made(calibrated)
    assert html.count('class="n bar" style="--w:81">81 %</td>') == 2  # headline and table
    assert "error: modelled / best - 1" in shown and "efficiency: best / limit" in shown


def test_what_is_above_its_limit_has_a_reason_beside_it(calibrated):
    fast = samples.result(operations=("triad",))
    fast["measurements"] = [samples.measurement("triad", ((0.001, 0.0012, 0.0011),))]
    fast["notes"] = ["a note of the run"]
    calibrated.write("one.json", fast)
    _, shown = made(calibrated)
    assert "stream, above the limit: triad" in shown.partition("1 metric:")[0]
    table = shown.partition("1 metric:")[2].partition("Samples")[0]
    assert "above the limit: triad" in table and "note: a note of the run" in table


def test_one_headline_for_each_benchmark_and_device(calibrated):
    for ranks in (1, 2):
        calibrated.write(f"stream-{ranks}.json", samples.result(ranks))
        calibrated.write(f"gemm-{ranks}.json", samples.gemm(ranks))
    other = {**samples.DEVICE, "name": "another", "class": "emulator", "emulated": True}
    calibrated.write("emulated.json", samples.result(kind="emulated", device=other))
    fastest = samples.result(4, status="failed")
    calibrated.write("wrong.json", fastest)
    done = calibrated.run("report", "results", "--html", "report.html")
    assert done.returncode == 1
    html = pages.whole(calibrated.folder / "report.html")
    table = re.search(r'<section id="headlines">(.*?)</section>', html).group(1)
    rows = [re.sub(r"<[^>]*>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", table)[1:]]
    cells = [[cell for cell in row.split("|") if cell] for row in rows]
    assert [(row[0], row[1], row[4]) for row in cells] == [
        ("gemm", "sample-cpu", "measured"),
        ("stream", "another", "emulated"),
        ("stream", "sample-cpu", "measured"),
    ]
    assert cells[1][7:9] == ["-", "-"]  # an emulator has neither limit nor model
    assert cells[2][2] == "2 ranks (best of 3)" and cells[2][3] == "bandwidth, triad"
    assert cells[2][-1] == "INVALID in 1 of 3"  # what is wrong shows, though what is right leads


def test_another_limit_flips_the_bottleneck(place):
    """Launching takes 20 us, then 20 ms: the same run is bound by memory, then by its launches."""
    place.write("one.json", samples.result(operations=("triad",)))
    document = samples.calibration()
    for seconds, there, gone in (
        (2e-5, "memory bandwidth", "launch latency"),
        (2e-2, "launch latency", "memory bandwidth"),
        (2e-5, "memory bandwidth", "launch latency"),
    ):
        document["launch_seconds"] = seconds
        paths.write_atomically(calibration.file_for(document), json.dumps(document))
        html, shown = made(place)
        assert there in shown and gone not in shown
        assert f"<td>{there}</td>" in html


def test_the_bottleneck_is_the_models_word(calibrated, monkeypatch):
    class Model:
        @staticmethod
        def predict(parameters, board, ranks, **more):
            axes = {"operation": "triad"}
            return [models.Prediction("bandwidth", axes, 45.0, "GB/s", 50.0, "the <moon>", "why")]

    monkeypatch.setattr(models, "find", lambda name: Model)
    calibrated.write("one.json", samples.result(operations=("triad",)))
    _, shown = made(calibrated)
    assert "the <moon>" in shown


def test_emulated_metrics_stand_beside_no_model(place):
    device = {**samples.DEVICE, "class": "emulator", "emulated": True}
    document = samples.calibration(device)
    paths.write_atomically(calibration.file_for(document), json.dumps(document))
    place.write("one.json", samples.result(kind="emulated", device=device, operations=("triad",)))
    html, shown = made(place)
    assert "sample-cpu (emulator, emulated)" in shown
    cells = re.search(r'<tr><th scope="row">triad</th>(.*?)</tr>', html).group(1)
    assert "emulated" in cells and re.findall(r">(-)<", cells) == ["-"] * 5
    assert "<svg viewBox" in html and "dashed" not in html.partition("<main>")[2]


def test_power_columns_only_where_power_was_sampled(place):
    place.write("a.json", samples.result(operations=("triad",)))
    _, shown = made(place)
    assert "power [W]" not in shown
    document = samples.result(operations=("triad",), ranks=2)
    document["energy"] = [samples.energy(30, domain="package-0"), samples.energy(10, domain="package-1")]
    place.write("b.json", document)
    html, shown = made(place)
    assert "40 (rapl)" in shown and "26.67" in shown  # domains of one source add up
    best = document["measurements"][0]["best"]
    assert f"{best / 50:.4g} GB/s/W" in shown, "the best over the sum of the peaks"
    without = re.search(r'<tr><td class="w">1 rank</td><th scope="row">triad</th>(.*?)</tr>', html).group(1)
    assert re.findall(r">([^<>]*)</td>", without)[-4:] == ["-"] * 4  # absent, not zero


def test_files_without_peaks_have_no_metric_per_watt(place):
    document = samples.result(operations=("triad",))
    entry = samples.energy(30)
    del entry["peak_watts"], entry["samples"]
    place.write("a.json", {**document, "energy": [entry]})
    _, shown = made(place)
    assert "30 (rapl)" in shown and "GB/s/W" not in shown


def test_a_damaged_file_is_named_and_hides_nothing(place, one_error_line):
    place.write("a.json", samples.result())
    place.write("b<b>.json", "{")
    done = place.run("report", "results", "--html", "report.html", "--png", "png")
    assert "not valid JSON" in one_error_line(done, 2)
    shown = " ".join(Elements((place.folder / "report.html").read_text()).text)
    assert "1 file is not in this report" in shown and "b<b>.json: not valid JSON" in shown
    assert "triad" in shown and list((place.folder / "png").glob("*.png"))


def test_damaged_scaling_files(place, one_error_line):
    place.write("a.json", samples.result())
    document = samples.scaling()
    document["series"][0]["speed_up"].pop()
    place.write("scaling.json", document)
    assert "lists of different lengths" in one_error_line(place.run("report", "results"), 2)
    document["series"][0]["kind"] = "guessed"
    place.write("scaling.json", document)
    assert "series[0].kind" in one_error_line(place.run("report", "results"), 2)


@pytest.mark.parametrize("option", ["--html", "--png"])
def test_places_that_cannot_be_written(place, one_error_line, option):
    place.write("one.json", samples.result())
    (place.folder / "file").write_text("")
    done = place.run("report", "results", option, "file/below")
    assert "cannot write" in one_error_line(done, 2)


def test_long_pages_say_what_they_leave_out(place, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS_OF_ONE", 20)
    monkeypatch.setattr(details, "MOST_DETAILED", 2)
    for ranks in range(1, 6):
        place.write(f"{ranks}.json", samples.result(ranks=ranks))
    _, shown = made(place)
    assert "30 metrics: measured beside" in shown and "10 further rows are left out" in shown
    assert "3 further groups are in the result files only." in shown


def many(place, count):
    for number in range(count):
        document = samples.result(ranks=1 + number % 4, operations=("copy", "triad"))
        document["parameters"]["size"] = 1000 + number
        place.write(f"{number:04}.json", document)
    html, shown = made(place)
    assert f"{count} runs of 2026-11-21, in {count} groups with the same settings" in shown
    assert "further groups are left out" in shown
    assert len(html) < 4e6
    assert len(re.findall("<figure", html)) < 200


def test_many_files(place):
    many(place, 120)


@pytest.mark.full
def test_a_thousand_files(place):
    many(place, 1000)


def test_a_terminal_shows_the_wrong_ones_of_many(place):
    for number in range(130):
        status = "failed" if number == 125 else "passed"
        place.write(f"{number:04}.json", samples.result(operations=("triad",), status=status))
    done = place.run("report", "results", "--full")
    assert done.stdout.count("triad") == 100 and "INVALID" in done.stdout
    assert "30 further runs are not shown here; `--html FILE` makes a page of all" in done.stdout


def test_a_terminal_shows_the_best_of_a_curve(place):
    place.write("one.json", samples.b_eff())
    lines = place.run("report", "results", "--full").stdout.splitlines()
    assert len(lines) < 20
    rows = [" ".join(line.split()) for line in lines]
    assert any(line.startswith("bandwidth exchange 1 MiB ") for line in rows)
    assert any(line.startswith("latency exchange 1 B ") for line in rows)
    assert any("points: 21" in line for line in rows)


def test_pictures(calibrated):
    everything(calibrated)
    done = calibrated.run("report", "results", "--png", "png")
    assert done.returncode == 1 and done.stderr == ""  # one of them is wrong
    pictures_made = sorted((calibrated.folder / "png").iterdir())
    assert f"pictures: {len(pictures_made)} in png" in done.stdout
    names = {path.name for path in pictures_made}
    assert {"b-eff-bandwidth-over-message-bytes.png", "stream-efficiency.png", "stream-speed-up.png"} <= names
    for path in pictures_made:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n") and b"Plot: " in data  # with its words inside
        width, height = struct.unpack(">II", data[16:24])
        assert width == 960 and height > 300


def test_names_are_no_formulas_in_pictures():
    plot = Plot("a", "$\\frac{1}{$ \ud800", "x_$1", "", [Series("$\\bad$", [1, 2], [1, 2])], rows=())
    assert pictures.picture(plot, "png").startswith(b"\x89PNG")


def test_more_pictures_than_anybody_looks_at_are_counted(place, monkeypatch):
    monkeypatch.setattr(pictures, "MOST_PICTURES", 1)
    place.write("a.json", samples.result())
    place.write("b.json", samples.result(ranks=2))
    done = place.run("report", "results", "--png", "png")  # samples of each, and how they scale
    assert "pictures: 1 in png, 2 plots left out" in done.stdout


def test_a_scaling_file_alone(place):
    place.write("scaling.json", samples.scaling())
    assert outputs.main([place.results / "scaling.json"], place.folder / "a.html", None, None).errors == []
    assert "speed-up over 1 rank" in (place.folder / "a.html").read_text()


def test_the_answer_stands_at_the_head_and_hides_nothing(calibrated):
    everything(calibrated)
    html, text = made(calibrated)
    head = html[: html.index('<section id="headlines">')]
    assert (
        head.index('<div id="verdict">')
        < head.index('<section id="answer">')
        < head.index('<div class="lost">')
    )
    assert "FAILED: 1 INVALID of " in text and re.search(
        r"\d+ valid, 1 invalid, 0 failed, 0 skipped in ", text
    )
    answer = re.search(r'<section id="answer">(.*?)</section>', head, re.DOTALL)[1]
    assert answer.count("<code>") == 3 and "INVALID" in answer and "<svg" in answer
    rows = re.findall(r'<td class="(good|bad|doubt)">([^<]*)</td></tr>', answer)
    assert rows and all((style == "good") == (said == "valid") for style, said in rows)
    assert "valid, model off" in {said for _, said in rows} or "far from the model: none" in answer


def test_a_page_without_results_has_no_answer(place):
    file = place.write("scaling.json", samples.scaling())
    assert place.run("report", file, "--html", "report.html").returncode == 0
    html = pages.whole(place.folder / "report.html")
    assert "<h1>" in html and 'id="answer"' not in html and 'id="verdict"' not in html
