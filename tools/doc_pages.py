"""What tools share that draw and write docs/: pictures, tables, pages with marks, and runs of programs."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

from fabricmark import results
from fabricmark.base import paths

DOCS = Path(__file__).resolve().parents[1] / "docs"
END = "<!-- end -->"
NO_STYLE: Mapping = {}


def svg(
    title: str, size: tuple[float, float], draw: Callable, *, salt: str = "", style: Mapping = NO_STYLE
) -> bytes:
    """What `draw` makes of a figure of so many inches; the same bytes each time.

    `salt`, of which the names of parts are made, is the title where nothing else is said. `style`: rcParams
    of this picture.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    usual = {"font.size": 9, "axes.axisbelow": True, "svg.fonttype": "none", "svg.hashsalt": salt or title}
    with rc_context({**usual, **style}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        buffer = BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Title": title})
    return buffer.getvalue()


def open_axes(axes) -> None:
    """Axes with a grid and without a frame above and on the right."""
    axes.grid(True, color="#e2e2e2", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def between(text: str, mark: str, content: str) -> str:
    """A page with this between a mark and the end behind it. Raises SystemExit where it has no such lines."""
    before, found, after = text.partition(mark)
    if not found or END not in after:
        raise SystemExit(f"the page has no lines {mark} and {END}")
    return f"{before}{mark}\n{content}\n{END}{after.partition(END)[2]}"


def result_of(benchmark: str, *words: object, seconds: float | None = None) -> dict:
    """What a run of its program wrote. Raises SystemExit with the program's words where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        command = [str(word) for word in (paths.program(benchmark), *words, "--json", file)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return results.load(file).document
