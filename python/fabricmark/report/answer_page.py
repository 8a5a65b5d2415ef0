"""The answer at the head of the page: a verdict that stays in sight, shares of limits, next steps."""

from collections.abc import Mapping

from fabricmark.base.grouping import grouped
from fabricmark.report import next_steps, sections, tables
from fabricmark.report.answer import Answer, Share
from fabricmark.report.plots import Plot, Series, not_drawn
from fabricmark.report.svg import text

MOST_ROWS = 24  # of the picture
CHOICES = ("all", "not valid", "model off", "no limit")  # what the page can be narrowed to


def verdict(found: Answer) -> str:
    """The line that stays at the top, with what narrows the page."""
    style = "good" if found.counts.has_passed else "bad"
    options = "".join(f"<option>{text(choice)}</option>" for choice in CHOICES)
    return (
        f'<div id="verdict"><a href="#answer" class="{style}">{text(found.counts.verdict())}</a>'
        f"<span>{text(found.counts.closing())}</span>"
        '<label>Find <input type="search" id="find" autocomplete="off"></label>'
        f'<label>Show <select id="only">{options}</select></label>'
        '<output id="left" for="find only"></output></div>'
    )


def section(found: Answer) -> str:
    """Shares beside next steps and the picture; below each other where the screen is narrow."""
    if not found.shares and not found.worries:
        return ""
    return (
        f'<section id="answer"><h2>Share of the limit, and what to try next</h2><div class="answer">'
        f'<div class="shares">{_shares(found)}</div><div>{_steps(found)}</div>{_picture(found)}'
        "</div></section>"
    )


def _shares(found: Answer) -> str:
    """One line for each benchmark and device; those without a limit and a model in sentences."""
    headings = ["benchmark", *["on"] * bool(found.numbers), "best", "of the limit", "model error"]
    numeric = range(len(headings) - 3, len(headings))
    rows = [_row(share, found) for share in found.drawn]
    devices = [f"{number}: {name}" for name, number in found.numbers.items()]
    devices = devices or [f"on {share.headline.device}" for share in found.drawn[:1]]
    caption = f"Best as a share of the limit, {', '.join(devices)}"
    shown = tables.table(caption, [*headings, "verdict"], rows, numeric) if rows else ""
    alike = grouped(((share.verdict, share.unlimited), share) for share in found.others)
    for (said, why), members in alike.items():
        by_name = grouped((_link(share), text(share.value)) for share in members)
        named = ", ".join(f"{link} {' and '.join(values)}" for link, values in by_name.items())
        shown += f"<p>{text(said)}, no limit ({text(why)}): {named}</p>"
    return shown + (f"<p>{text(found.kernels)}</p>" if found.kernels else "")


def _link(share: Share) -> str:
    name = share.headline.benchmark
    return f'<a href="#{tables.anchor(name)}">{text(name)}</a>'


def _row(share: Share, found: Answer) -> str:
    cells = [f'<th scope="row">{_link(share)}</th>']
    cells += [tables.cell(found.numbers[share.headline.device])] if found.numbers else []
    cells += [tables.cell(share.value, classes="n")]
    cells += [
        tables.bar(share.share, "share") if share.share is not None else tables.cell("no limit", classes="n")
    ]
    cells += [tables.cell(share.error, classes="n"), tables.verdict_cell(share.verdict, share.is_doubtful)]
    return f"<tr>{''.join(cells)}</tr>"


def _steps(found: Answer) -> str:
    """What is most worth a look, each with its command, and how far off the models are."""
    items = ""
    for worry in found.worries:
        command = text(next_steps.line(worry.words))
        items += f"<li><b>{text(worry.about)}</b>: {text(worry.what)}<br><code>{command}</code></li>"
    left = found.found - len(found.worries)
    more = f" <span>({len(found.worries)} of {found.found})</span>" if left > 0 else ""
    steps = f"<h3>Most worth a look{more}</h3><ol>{items}</ol>" if items else ""
    return steps + (f"<p>{text(found.models)}</p>" if found.models else "")


def _picture(found: Answer) -> str:
    """What was measured, and what the models expect, in per cent of the limit; nothing without limits."""
    known = [(share, share.share) for share in found.shares if share.share is not None]
    if not known:
        return ""
    shown = known[:MOST_ROWS]
    measured = [100 * value for _, value in shown]
    expected = [
        (row, 100 * _expected(share, value))
        for row, (share, value) in enumerate(shown)
        if not share.unmodelled
    ]
    names = [_name(share, found.numbers) for share, _ in shown]
    series = [Series("measured", measured, list(range(len(shown))), "bars", 0)]
    if expected:
        series.append(
            Series("modelled", [value for _, value in expected], [row for row, _ in expected], "bars", 5)
        )
    plot = Plot(
        slug="percent-of-limit", title="Percent of limit", x_label="best and model [% of the limit]",
        series=series, rows=names, unit="%", family="Percent of limit", reference=100, has_own_colours=True,
        left_out=not_drawn(len(known) - MOST_ROWS, "{} further ones are in the table only."),
    )  # fmt: skip
    key = sections.legend(series, {entry.word: entry.colour or 0 for entry in series})
    return f'<div class="percent">{key}{sections.figure(plot, None)}</div>'


def _name(share: Share, numbers: Mapping[str, str]) -> str:
    """`stream: 12.3 GB/s, valid`; `stream on 2: ...` where devices have numbers."""
    device = f" on {numbers[share.headline.device]}" if numbers else ""
    return f"{share.headline.benchmark}{device}: {share.value}, {share.verdict}"


def _expected(share: Share, value: float) -> float:
    """The model as a share of the limit: error is modelled / best - 1, of times as of rates."""
    factor = 1 + (share.metric.row.error or 0.0)
    return value * factor if share.metric.measurement.better == "higher" else value / factor
