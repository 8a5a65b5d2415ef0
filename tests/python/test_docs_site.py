"""The site of the documentation: what leads where, pages made from the code, and in full the site itself."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import REPOSITORY
from test_report_browser import CHROMIUM, OPTIONS, asked_for

SEARCH = Path(__file__).with_name("site_search.js")
NAVIGATION = re.compile(r"^ +- .*: (\S+\.md)$", re.MULTILINE)
SETTINGS = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
DOORS = ["Measure", "Develop", "Predict", "Operate"]
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
WANTED = {"credit": "credit_link.html", "II": "inspect.html", "hugepages": "platforms.html"}


def module(name):
    found = importlib.util.spec_from_file_location(f"site_{name}", REPOSITORY / "tools/site" / f"{name}.py")
    made = importlib.util.module_from_spec(found)
    sys.modules[found.name] = made
    found.loader.exec_module(made)
    return made


hooks, reference, api, shown = (module(name) for name in ("hooks", "reference", "api", "shown"))


def test_every_page_is_behind_a_door():
    listed = NAVIGATION.findall(SETTINGS)
    own = {path.relative_to(REPOSITORY / "docs").as_posix() for path in REPOSITORY.glob("docs/**/*.md")}
    made = {*reference.PAGES, *api.PAGES, *shown.PAGES, *hooks.MOVED.values(), "kinds.md"}
    assert all(hooks.MADE.match(page) for page in made - {*hooks.MOVED.values()})
    assert sorted(listed) == sorted((own - {"README.md"}) | made)
    doors = re.findall(r"^  - ([A-Z]\w+):$", SETTINGS, re.MULTILINE)
    assert doors == [*DOORS, "Reference"]


def test_links_of_a_forge_become_those_of_the_site():
    assert hooks.turned("stream.md", "fft.md#a") == "fft.md#a"
    assert hooks.turned("stream.md", "../CONTRIBUTING.md#b") == "contributing.md#b"
    assert hooks.turned("index.md", "docs/README.md#all-pages") == "pages.md#all-pages"
    assert hooks.turned("tutorials/own_kernel.md", "../README.md") == "../pages.md"
    assert hooks.turned("data/published.md", "../../docs/predict.md") == "../predict.md"
    assert hooks.turned("stream.md", "https://x.org/y") == "https://x.org/y"
    # What is no page of the site.
    assert hooks.turned("stream.md", "../kernels/common/accl.hpp") is None
    assert hooks.turned("dataflow.md", "examples/two_devices") is None


def test_all_options_stand_in_the_reference():
    text = reference.options()
    for file in sorted(REPOSITORY.glob("kernels/*/kernel.toml")):
        section = text.partition(f"\n## {file.parent.name}\n")[2].partition("\n## ")[0]
        for name, one in tomllib.loads(file.read_text())["parameters"].items():
            assert f"| `--{name.replace('_', '-')}` |" in section
            assert reference.cell(one.get("meaning", "")) in section
    sections = reference.transports()
    for file in (REPOSITORY / "src").glob("*/*/transport.toml"):
        assert tomllib.loads(file.read_text())["summary"] in sections


def test_all_keys_and_formats_stand_in_the_reference():
    text, formats = reference.keys(), reference.schemas()
    assert "| `memory.bank_bandwidth` | bytes per second | of one bank |" in text
    for file in reference.SCHEMAS.glob("*.schema.json"):
        assert f"\n## {file.name.removesuffix('.schema.json')}\n" in text + formats


HEADER = """#pragma once
#include <vector>

/// Counts things.
/// Twice.
namespace fabricmark::counting {

class Other;

/// A count. `<` is none.
class FABRICMARK_API Count {
 public:
  /// How many.
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_ = 0;
};

// Not of what follows.

FABRICMARK_API std::vector<int> counts(int first,
                                       int last);
enum { FM_NONE = 0, /* of nothing */ FM_SOME = 1 };

}  // namespace fabricmark::counting
"""


def test_a_header_becomes_what_its_users_see():
    found = {one.name: one for one in api.entities(HEADER)}
    assert list(found) == ["Count", "counts", "FM_NONE"]
    assert found["Count"].comment == "A count. `<` is none."
    assert found["Count"].code == "class Count {\n  /// How many.\n  int value() const { return value_; }\n};"
    assert found["counts"].comment == "" and found["counts"].code.endswith("int last);")
    assert api.opening(HEADER) == "Counts things.\nTwice."


def test_every_function_of_the_headers_is_in_the_reference():
    text = api.cpp()
    for header in api.HEADERS:
        source = header.read_text()
        names = re.findall(
            r"^(?:class|struct|enum class) (?:FABRICMARK_API )?(\w+)(?! *;)\b", source, re.MULTILINE
        )
        names += re.findall(r"^(?:FABRICMARK_API |int |const char\* )[^;(]*?(\w+)\(", source, re.MULTILINE)
        assert names
        for name in set(names) - {"Communicator"}:
            assert f"\n### {name}\n" in text, name
    assert "private" not in text and "FABRICMARK_API" not in text and "state_" not in text
    # All headers that an installation has for programs of others.
    installed = {
        file.name
        for room in ("messages", "codec")
        for file in (REPOSITORY / "src" / room).glob("include/*/*")
    }
    assert installed == {header.name for header in api.HEADERS}


def test_modules_are_in_the_reference_with_their_docstrings():
    text = api.python()
    from fabricmark import results

    for name in ("load", "find_files", "values"):
        assert f"\n### {name}\n" in text
        assert getattr(results, name).__doc__.split("\n")[0].split("<")[0] in text
    listed = set(re.findall(r"^\| `(fabricmark[\w.]+)` \|", text, re.MULTILINE))
    assert {"fabricmark.cli", "fabricmark.report.sizes", "fabricmark.results"} <= listed and len(listed) > 250


def test_the_gallery_has_pictures_that_are_there():
    text = shown.gallery()
    for picture, one in shown.DRAWN.items():
        assert (REPOSITORY / "docs" / picture).is_file() and (REPOSITORY / "docs" / one["page"]).is_file()
    made = shown.made()
    pictures = re.findall(r"!\[[^]]*\]\((reports/[^)]+)\)", text)
    assert len(pictures) >= 6
    for picture in pictures:
        assert made[picture][:4] in (b"\x89PNG", b"<svg")
    page = made[shown.PAGE].decode()
    assert "<html" in page and str(REPOSITORY) not in page


def test_the_page_of_results_says_what_the_files_say_and_when():
    text = shown.measured()
    assert str(REPOSITORY) not in text
    for file in (REPOSITORY / "data/examples/results").glob("*.json"):
        run = json.loads(file.read_text())["run"]
        section = text.partition(f"\n## {run['benchmark']}\n")[2].partition("\n## ")[0]
        assert f"Measured on {run['started'][:10]}" in section and run["git"] in section
        assert f"| {run['variant']} |" in section


class Page(HTMLParser):
    """What a page loads, where it leads and what it may be led to."""

    def __init__(self, file):
        super().__init__()
        self.loaded, self.links, self.names = [], [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.names |= {known[key] for key in ("id", "name") if known.get(key)}
        if known.get(LOADED.get(tag, "")):
            self.loaded.append(known[LOADED[tag]])
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])


def faults(site):
    """Requests that leave the site, and links of it that lead nowhere."""
    pages = {file: Page(file) for file in site.rglob("*.html")}
    found = []
    for file, page in pages.items():
        found += [f"{file.name} loads {one}" for one in page.loaded if re.match(r"(\w+:)?//", one)]
        for link in (one for one in [*page.links, *page.loaded] if not re.match(r"\w+:", one)):
            place, _, name = link.partition("#")
            target = Path(os.path.normpath(file.parent / place)) if place else file
            if not target.exists() or (name and target in pages and name not in pages[target].names):
                found.append(f"{file.name} leads to {link}")
    return found


def build(site, settings=REPOSITORY / "mkdocs.yml"):
    """mkdocs for a site in another folder; any warning is an error."""
    words = ["build", "--strict", "--quiet", "--config-file", settings, "--site-dir", site]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *words], env=variables, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module", name="site")
def built(tmp_path_factory):
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not there (`make docs`)")
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


@pytest.mark.full
def test_every_link_holds_and_no_request_leaves_the_site(site):
    assert len(list(site.rglob("*.html"))) > 60
    assert faults(site) == []
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert not re.findall(r"url\([\"']?(?:\w+:)?//", styles)


@pytest.mark.full
def test_the_search_finds_words_of_the_field(site):
    """By the site's own search, in node where that is there; else by its index."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert (site / "search" / "search_index.js").is_file()  # what a page that is a file reads
    for word, page in WANTED.items():
        texts = [one["text"] for one in index["docs"] if one["location"].startswith(page)]
        assert any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for text in texts), word
    if shutil.which("node") is None:
        return
    asked = ["node", SEARCH, site, *WANTED, "nosuchword"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60)
    found = json.loads(done.stdout)
    assert found.pop("nosuchword") == []
    for word, page in WANTED.items():
        assert any(place.startswith(page) for place in found[word]), (word, found[word])


@pytest.mark.full
@pytest.mark.parametrize(("word", "page"), WANTED.items())
def test_the_search_of_a_page_that_is_a_file_works_in_a_browser(site, tmp_path, word, page):
    """Chromium without a server and without a network."""
    if CHROMIUM is None:
        pytest.skip("no /usr/bin/chromium: the site was not opened")
    log = tmp_path / "net.json"
    more = [f"--user-data-dir={tmp_path}", f"--log-net-log={log}", "--dump-dom"]
    command = [CHROMIUM, *OPTIONS, *more, f"{(site / 'index.html').as_uri()}?q={word}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r"[1-9]\d* matching documents?<", done.stdout.replace("\n", "").replace("  ", ""))
    links = re.findall(r'href="([^"]*)" class="md-search-result__link"', done.stdout)
    assert any(Path(link.split("?")[0].split("#")[0]).name == page for link in links), links
    assert asked_for(log) == set()


@pytest.mark.full
def test_a_broken_link_and_a_request_would_be_found(site, tmp_path):
    shutil.copytree(site, tmp_path / "site")
    page = tmp_path / "site" / "stream.html"
    script = '<script src="https://cdn.example/x.js"></script>'
    links = '<a href="fft.html#nothing">x</a><a href="no.html">y</a>'
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{script}{links}</body>"))
    assert faults(tmp_path / "site") == [
        "stream.html loads https://cdn.example/x.js",
        "stream.html leads to fft.html#nothing",
        "stream.html leads to no.html",
    ]
