"""The page in headless Chromium: every plot is drawn, nothing complains, nothing is asked of the network."""

import re
import shutil
import subprocess

import pytest
import samples
from test_report_page import Elements, calibrated, everything  # noqa: F401

CHROMIUM = shutil.which("chromium", path="/usr/bin")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *(
        "--disable-component-update",
        "--disable-sync",
        "--virtual-time-budget=8000",
        "--enable-logging=stderr",
    ),
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no /usr/bin/chromium")


def opened(place, fragment=""):
    """(the page's elements after its scripts ran, what the console said)."""
    profile = f"--user-data-dir={place.folder / 'profile'}"
    address = (place.folder / "report.html").as_uri() + fragment
    done = subprocess.run(
        [CHROMIUM, *OPTIONS, profile, "--dump-dom", address], capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_every_plot_is_drawn(calibrated):  # noqa: F811
    everything(calibrated)
    assert calibrated.run("report", "results", "--html", "report.html").returncode == 1  # one is wrong
    html, console = opened(calibrated, "#all")
    shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    places = len(re.findall(r'<div class="plot[ "]', shown))
    assert places > 20
    assert len(re.findall(r'<div class="plot js-plotly-plot"', shown)) == places
    assert len(re.findall(r'<g class="xaxislayer-above"', shown)) >= places
    assert console == []
    assert 'class="error"' not in shown and "could not be drawn" not in shown
    elements = Elements(html).found
    assert not [given for tag, given in elements if tag == "img" or "onerror" in given]


def test_a_request_would_be_stopped(calibrated):  # noqa: F811
    """The check above can fail: the page's own policy stops a request, and the console says so."""
    calibrated.write("one.json", samples.result())
    assert calibrated.run("report", "results", "--html", "report.html").returncode == 0
    path = calibrated.folder / "report.html"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("</body>", '<script>fetch("http://127.0.0.1:9/x")</script></body>'))
    _, console = opened(calibrated)
    assert any("Content Security Policy" in line for line in console)


def test_a_plot_that_cannot_be_drawn_says_so(calibrated):  # noqa: F811
    calibrated.write("one.json", samples.result())
    assert calibrated.run("report", "results", "--html", "report.html").returncode == 0
    path = calibrated.folder / "report.html"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('<script type="application/json">{', '<script type="application/json">', 1))
    html, _ = opened(calibrated, "#all")
    assert html.count('class="error"') == 1
