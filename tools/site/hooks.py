"""What mkdocs.yml needs beside docs/: pages of the repository that lie elsewhere, pages that are made
(reference.py, api.py, shown.py), and links as they are from page to page of the site.

In the sources links are those of a forge, from file to file; of one to a file that is no page only its words
are left.
"""

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
# Pages of the site that are not where they are in docs/.
MOVED = {
    "README.md": "index.md",
    "docs/README.md": "pages.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "data/published/README.md": "data/published.md",
    "data/examples/README.md": "data/examples.md",
}
NO_PAGES = "docs/examples"  # `exclude_docs` of mkdocs.yml
SOURCES = {page: source for source, page in MOVED.items()}
FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
KINDS = ("Tutorials", "How-to", "Reference", "Explanation", "Results")
# Sections of the navigation whose pages are of a kind that is not their name.
ALSO = {"Benchmarks": "Reference", "Applications": "Reference", "Between devices": "How-to"}
WORKER = "assets/iframe-worker.js"
MADE_BY = ("reference", "api", "shown")  # files beside this one, each with its PAGES
# Pages that are made: their links are those of the site.
MADE = re.compile(r"reference/(?!glossary)|kinds\.md|gallery\.md|measured\.md")


def _module(name):
    """Another file of this folder, which is no package."""
    found = importlib.util.spec_from_file_location(f"site_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # its dataclasses look themselves up there
    found.loader.exec_module(module)
    return module


def on_files(files, config):
    """Add pages that are not in docs/ to those that are."""
    from mkdocs.structure.files import File, InclusionLevel  # not at the top: tests know this file without

    made = {page: REPOSITORY.joinpath(source).read_text(encoding="utf-8") for source, page in MOVED.items()}
    for name in MADE_BY:
        made |= {page: write() for page, write in _module(name).PAGES.items()}
    made["kinds.md"] = by_kind(config.nav)
    made |= _module("shown").made()
    for page, text in made.items():
        files.append(File.generated(config, page, content=text, inclusion=InclusionLevel.INCLUDED))
    return files


def by_kind(nav):
    """All pages by what they are for: the same navigation, the other way round."""
    found = {kind: [] for kind in KINDS}
    for door in nav:
        for title, sections in door.items():
            for entry in sections if isinstance(sections, list) else ():
                for section, pages in entry.items():
                    if isinstance(pages, list):
                        kind = ALSO.get(section, section)
                        found[kind] += [(title, *next(iter(page.items()))) for page in pages]
                    else:
                        found["Reference"].append((title, section, pages))
    lines = ["# All pages by kind", ""]
    for kind, pages in found.items():
        lines += [
            f"## {kind}",
            "",
            *(f"- [{name}]({page}) ({door.lower()})" for door, name, page in pages),
            "",
        ]
    return "\n".join(lines)


def source_of(page):
    """Where a page of the site lies in the repository."""
    return SOURCES.get(page, f"docs/{page}")


def turned(page, link):
    """A link of a page as the site has it; None where it leads to no page."""
    if re.match(r"[a-z]+:|#", link):
        return link
    place, mark, anchor = link.partition("#")
    there = os.path.normpath(os.path.join(os.path.dirname(source_of(page)), place))
    if there in MOVED:
        target = MOVED[there]
    elif there.startswith("docs/") and not there.startswith(NO_PAGES):
        target = there.removeprefix("docs/")
    else:
        return None
    return os.path.relpath(target, os.path.dirname(page) or ".") + mark + anchor


def on_page_markdown(markdown, page, **_):
    """Outside of blocks of code."""

    def link(found):
        target = turned(page.file.src_uri, found[3])
        return found[2] if target is None else f"{found[1]}[{found[2]}]({target})"

    if MADE.match(page.file.src_uri):
        return markdown
    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def on_post_build(config):
    """Add the script that lets a page that is a file search; remove the page of servers for missing ones,
    whose links begin at the server's root.
    """
    Path(config.site_dir, "404.html").unlink()
    place = Path(config.site_dir, WORKER)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / Path(WORKER).name, place)
