"""The page in headless Chromium: what a reader clicks, reads and prints, and that nothing leaves the page."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import samples
from fabricmark.base import paths
from fabricmark.systems import calibration
from test_report_page import everything

CHROMIUM = shutil.which("chromium", path="/usr/bin")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync", "--disable-default-apps", "--hide-scrollbars"),
    *("--virtual-time-budget=60000", "--enable-logging=stderr"),
)
DARK = "--blink-settings=preferredColorScheme=0"
PROBE = Path(__file__).with_name("page_probe.js").read_text(encoding="utf-8")
ANSWER_PROBE = Path(__file__).with_name("answer_probe.js").read_text(encoding="utf-8")
FIRST_SCREEN = 900  # pixels, in which the answer stands
MOST_PAGES = 2  # of the summary on paper
AXE = "axe-core@4.14.1"  # from npm, or a file that the variable AXE names
BENCHMARKS = ["b_eff", "fft", "gemm", "host_transfer", "hpl", "ptrans", "random_access", "stream"]
BUTTON = """<button type="button" onclick="window.open('http://127.0.0.1:9/share')">Share</button>"""
LINK = '<a href="http://127.0.0.1:9/page">more</a>'
BAD_LOOKS = '<p style="color:#ccc;background:#fff">pale</p><button type="button"></button>'

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no /usr/bin/chromium: the page was not opened")


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The text of axe-core; skips, and says so, where npm cannot get it."""
    if "AXE" in os.environ:
        return Path(os.environ["AXE"]).read_text(encoding="utf-8")
    folder, npm = tmp_path_factory.mktemp("axe"), shutil.which("npm")
    if npm is None:
        pytest.skip("no npm: axe-core was not run")
    done = subprocess.run([npm, "pack", AXE], cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        pytest.skip("npm cannot get axe-core: it was not run")
    shutil.unpack_archive(next(folder.glob("*.tgz")), folder)
    return (folder / "package" / "axe.min.js").read_text(encoding="utf-8")


def saved(place, code=1):
    """The page of everything in the results folder; of `everything` one result is wrong."""
    assert place.run("report", "results", "--html", "report.html").returncode == code
    return (place.folder / "report.html").read_text(encoding="utf-8")


def opened(place, page, *options, library="", width=1400, probe=PROBE):
    """(what the probe found, what the console said, addresses that the page asked for).

    Without a finding the page was left for another one.
    """
    scripts = "".join(
        "<script>{}</script>".format(script.replace("</script", "<\\/script"))
        for script in (library, probe)
        if script
    )
    path, log = place.folder / "opened.html", place.folder / "net.json"
    path.write_text(page.replace("</body>", f"{scripts}</body>"), encoding="utf-8")
    more = [
        f"--user-data-dir={place.folder / 'profile'}",
        f"--log-net-log={log}",
        f"--window-size={width},1500",
    ]
    command = [CHROMIUM, *OPTIONS, *more, *options, "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    found = json.loads(html.unescape(text.group(1))) if text else None
    return found, [line for line in done.stderr.splitlines() if "CONSOLE" in line], asked_for(log)


def asked_for(log):
    """Addresses that a page asked for; what has no page behind it is the browser's own business."""
    events = [event.get("params", {}) for event in json.loads(log.read_text(encoding="utf-8"))["events"]]
    asked = {event["url"] for event in events if event.get("initiator", "not an origin") != "not an origin"}
    return {url for url in asked if not url.startswith(("file:", "blob:", "data:"))}


def serious(found):
    return [entry for entry in found["axe"] if entry["impact"] in ("serious", "critical")]


def all_eight(place):
    """A file of each benchmark, and of a device of each kind."""
    makers = (samples.b_eff, samples.fft, samples.gemm, samples.host_transfer, samples.random_access)
    documents = [maker() for maker in makers] + [samples.result()]
    for name in ("hpl", "ptrans"):
        document = samples.gemm()
        document["run"].update(program=f"fm_{name}", benchmark=name)
        documents.append(document)
    for number, document in enumerate(documents):
        place.write(f"{number}.json", document)


def test_nothing_leaves_the_page_whatever_is_clicked(calibrated):
    everything(calibrated)
    found, console, asked = opened(calibrated, saved(calibrated))
    assert (found["errors"], console) == ([], [])
    assert found["clicked"] > 100
    assert (found["opened"], asked) == ([], set())
    # Folded parts, paper, sorting, tables as files, values of plots: by pointer and by keys.
    assert found["closed"] > 5 and found["closedInPrint"] == found["closedWhenOpened"] == 0
    assert found["closedAfterPrint"] == found["closed"]
    numbers = [float(text) for text in found["ascending"]]
    assert numbers == sorted(numbers) and found["descending"] == found["ascending"][::-1]
    assert found["sorted"] == "descending"
    assert any(text.startswith("benchmark,device,") and "\nstream," in text for text in found["saved"])
    assert not any(re.search(r"(^|,)[=@]", text) for text in found["saved"])
    assert len(set(found["tips"])) == 3 and all(re.search(r"\d [GMk]?\w+/?s", text) for text in found["tips"])
    assert found["pointed"] and not found["tipAfterEscape"]


def test_a_leak_would_be_found(calibrated):
    all_eight(calibrated)
    page = saved(calibrated, 0)
    found, _, _ = opened(calibrated, page.replace("<main>", f"<main>{BUTTON}"))
    assert found["opened"] == ["http://127.0.0.1:9/share"]
    found, _, asked = opened(calibrated, page.replace("<main>", f"<main>{LINK}"))
    assert found is None and asked == {"http://127.0.0.1:9/page"}


def test_a_request_would_be_stopped(calibrated):
    calibrated.write("one.json", samples.b_eff())
    script = '<script>fetch("http://127.0.0.1:9/x")</script>'
    _, console, _ = opened(calibrated, saved(calibrated, 0).replace("</main>", f"</main>{script}"))
    assert any("Content Security Policy" in line for line in console)


@pytest.mark.parametrize("width", [800, 1400])
def test_headlines_come_first_and_nothing_is_cut(calibrated, width):
    all_eight(calibrated)
    found, _, _ = opened(calibrated, saved(calibrated, 0), width=width)
    assert found["errors"] == [] and found["headlines"] == BENCHMARKS
    assert found["lastHeadline"] < 1500
    for measured in (found["narrow"], found["wide"]):
        assert measured == {"page": 0, "outside": [], "cut": 0}


@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_axe_finds_nothing_serious(calibrated, axe, options):
    everything(calibrated)
    found, _, _ = opened(calibrated, saved(calibrated), *options, library=axe)
    assert found["errors"] == [] and serious(found) == []


def test_axe_would_find_something(calibrated, axe):
    calibrated.write("one.json", samples.b_eff())
    calibrated.write("two.json", samples.gemm())
    page = saved(calibrated, 0).replace("<main>", f"<main>{BAD_LOOKS}")
    found, _, _ = opened(calibrated, page, library=axe)
    assert {"color-contrast", "button-name"} <= {entry["id"] for entry in serious(found)}


def on_two_devices(place):
    """The same benchmarks on a second device, whose name is long and whose limits are known, too."""
    name = "pthread-skylake-avx512-Intel(R) Xeon(R) Platinum 8368 Processor"
    document = samples.calibration({**samples.DEVICE, "name": name})
    paths.write_atomically(calibration.file_for(document), json.dumps(document))
    for file in list(place.results.glob("[0-9].json")):
        document = json.loads(file.read_text())
        document["environment"]["device"]["name"] = name
        for rank in document["environment"]["ranks"]["placement"]:
            rank["device"] = name
        place.write(f"second-{file.name}", document)


def eleven_and_micro(place, status="passed"):
    """As much as `make run` has: benchmarks with limits, others without, and one that is `status`."""
    all_eight(place)
    for number in range(3):
        document = samples.gemm()
        document["run"].update(program=f"fm_more_{number}", benchmark=f"more_{number}")
        place.write(f"more-{number}.json", document)
    for name in ("allreduce", "alltoall", "barrier", "bibw", "bw", "latency"):
        document = samples.result()
        document["run"].update(program=f"fm_{name}", benchmark=name)
        place.write(f"{name}.json", document)
    for number, document in enumerate((samples.gemm(), json.loads((place.results / "bw.json").read_text()))):
        document["parameters"]["size"] = 1
        document["verdicts"] = [samples.verdict(status)]
        document["run"]["exit_code"] = int(status == "failed")
        place.write(f"wrong-{number}.json", document)


def in_a_frame(place, page, width):
    """What the probe found in a frame of any width: a window has at least 500 pixels."""
    inside = html.escape(page.replace("</body>", f"<script>{ANSWER_PROBE}</script></body>"))
    outside = f'<iframe width="{width}" height="{FIRST_SCREEN}" srcdoc="{inside}"></iframe><p>'
    path = place.folder / "framed.html"
    path.write_text(f"<!DOCTYPE html><style>iframe {{ border: 0 }}</style>{outside}", encoding="utf-8")
    more = [f"--user-data-dir={place.folder / 'profile'}", "--window-size=1500,1500", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *OPTIONS, *more, path.as_uri()], capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (said,) = re.findall(r'CONSOLE.*?"found (\{.*\})", source', done.stderr)
    return json.loads(said)


@pytest.mark.parametrize("width", [390, 1400])
def test_the_answer_fills_the_first_screen_and_nothing_is_beside_it(calibrated, width):
    eleven_and_micro(calibrated, "failed")
    found = in_a_frame(calibrated, saved(calibrated), width)
    assert found["errors"] == [] and found["width"] == width
    assert {*BENCHMARKS} - {"ptrans", "hpl"} <= {*found["rows"]} and found["commands"] == 3
    assert found["last"] <= FIRST_SCREEN
    assert found["sideways"] == found["cut"] == 0 and all(found["verdicts"])
    assert (found["sidewaysOpened"], found["beside"]) == (0, [])
    assert found["scrolled"] > FIRST_SCREEN and found["verdictTop"] == 0 and found["onTop"]


def test_verdicts_of_two_devices_are_in_sight_on_a_phone(calibrated):
    all_eight(calibrated)
    on_two_devices(calibrated)
    found = in_a_frame(calibrated, saved(calibrated, 0), 390)
    assert found["errors"] == [] and len(found["rows"]) >= 12
    assert found["sideways"] == found["cut"] == 0 and all(found["verdicts"])


def test_a_reader_finds_and_narrows(calibrated):
    eleven_and_micro(calibrated, "failed")
    found, _, _ = opened(calibrated, saved(calibrated), probe=ANSWER_PROBE)
    assert found["errors"] == []
    assert len(found["every"]["sections"]) == 17 and found["every"]["left"] == ""
    assert found["one"]["sections"] == ["random_access"] and found["one"]["rows"] == 1
    assert found["one"]["left"] == "1 of 17 benchmarks"
    assert found["wrong"]["sections"] == ["bw", "gemm"]
    assert {"b_eff", "fft"} <= {*found["off"]["sections"]} <= {*BENCHMARKS}
    assert {"allreduce", "latency", "hpl"} <= {*found["without"]["sections"]} < {*found["every"]["sections"]}
    assert found["none"]["sections"] == [] and found["none"]["rows"] == 0
    assert found["again"] == found["every"]


@pytest.mark.full
@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_axe_finds_nothing_closed_and_opened(calibrated, axe, options):
    eleven_and_micro(calibrated, "failed")
    found, _, _ = opened(calibrated, saved(calibrated), *options, library=axe, probe=ANSWER_PROBE)
    assert found["errors"] == [] and found["axe"] == {"closed": [], "opened": []}


def pages(place, address):
    """How many pages of paper the page takes."""
    file = place.folder / "printed.pdf"
    command = [
        CHROMIUM,
        *OPTIONS,
        f"--user-data-dir={place.folder / 'profile'}",
        f"--print-to-pdf={file}",
        address,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", file.read_bytes()))


def test_the_summary_takes_two_pages_of_paper(calibrated):
    eleven_and_micro(calibrated, "failed")
    saved(calibrated)
    assert 1 <= pages(calibrated, (calibrated.folder / "report.html").as_uri()) <= MOST_PAGES


@pytest.mark.full
def test_all_of_it_is_printed_where_everything_was_opened(calibrated):
    eleven_and_micro(calibrated, "failed")
    saved(calibrated)
    assert pages(calibrated, f"{(calibrated.folder / 'report.html').as_uri()}#all") > MOST_PAGES
