"""Explorations of stencils on the terminal and as a document."""

from collections.abc import Mapping, Sequence

from fabricmark.base import terminal
from fabricmark.base.terminal import Column, number, percent
from fabricmark.explore import area, area_fit
from fabricmark.explore.budget import Budget
from fabricmark.explore.cascades import AXES, NONE
from fabricmark.explore.confirm import BAR, Confirmed
from fabricmark.explore.stencils import Answer, Found, printed
from fabricmark.inspect.chips import VENDORS
from fabricmark.predict.feasible import NAMES
from fabricmark.results import published

FORMAT = "fabricmark-exploration/1"
MODELLED = "modelled"


def show(answer: Answer, budget: Budget, top: int) -> None:
    """Print the best designs, why the next are no better, and what they follow from."""
    out, problem = terminal.console(), answer.asked.problem
    grid = f"{problem.columns} x {problem.rows} cells, {problem.steps} steps"
    terminal.title(out, [f"{answer.asked.benchmark} on {answer.system.name}", grid, MODELLED])
    terminal.show(out, *_table(answer, budget, answer.found[:top]))
    reasons = {name(one): one.next for one in answer.found[:top]}
    show_reasons("why the next larger design is no better:", reasons, lines(answer, budget, top))


def show_reasons(title: str, reasons: Mapping[str, Sequence[str]], lines: Sequence[str]) -> None:
    """Print what the next designs bring, by the design, and what else there is to know."""
    out = terminal.console()
    terminal.say(out, title, style="bold")
    rows: list[list[terminal.Cell]] = [[one, terminal.items(said)] for one, said in reasons.items()]
    terminal.show(out, [Column("design", key=True), Column("next", prose=True)], rows)
    for line in lines:
        terminal.say(out, line)


def name(one: Found) -> str:
    """M, (n, m) of a design."""
    return f"{one.values['boards']} x ({one.values['pipelines']}, {one.values['cascaded']})"


def _table(
    answer: Answer, budget: Budget, found: Sequence[Found]
) -> tuple[list[Column], list[list[terminal.Cell]]]:
    columns = [Column(name, right=True, key=True) for name in ("boards", "n", "m")]
    columns += [Column("along"), Column("compression", once=True), Column("link")]
    columns += [*terminal.numbers("time [s]", "Mcell/s", "GFLOP/s", "of the peak", "stall", "start")]
    columns += [*terminal.numbers("energy [J]", f"cost [{budget.prices.currency or 'price'}]")]
    columns += [Column("fullest")]
    operations = answer.operations
    rows: list[list[terminal.Cell]] = []
    for one in found:
        values = one.values
        rows.append([
            str(values["boards"]), str(values["pipelines"]), str(values["cascaded"]),
            str(values["orientation"]), str(values["compression"]),
            str(values["link"]) if values["boards"] > 1 else NONE,
            number(one.seconds), number(one.rate / 1e6),
            number(None if operations is None else operations * one.rate / 1e9),
            percent(one.efficiency, digits=1), percent(one.stall), percent(one.start, digits=1),
            number(one.joules), number(one.cost),
            f"{percent(one.uses[one.fullest])} of the {NAMES[one.fullest]}",
        ])  # fmt: skip
    return columns, rows


def lines(answer: Answer, budget: Budget, top: int) -> list[str]:
    """What else there is to know."""
    element = answer.exploration.element
    refused = ", ".join(f"{NAMES.get(name, name)} {count}" for name, count in answer.refused.items())
    fits = int(answer.exploration.fits.sum())
    count = answer.exploration.fits.size
    arithmetic = element.arithmetic
    dsps = area.estimates(arithmetic, element.vendor)["dsps"]
    counted = "of this project's kernel" if answer.operations is None else "as its authors counted"
    counted = counted if answer.asked.file is None else "as the file says"
    operations = arithmetic[area.OPERATIONS] + arithmetic[area.LOGIC_BITS] / area.WIDTHS["float"]
    found = [
        f"{count} designs in {answer.seconds:.2f} s, {fits} fit; too much of: {refused or 'nothing'}",
        f"{len(answer.found)} in the Pareto set of boards, time and share of the peak, "
        f"{min(top, len(answer.found))} shown, by {answer.by}",
        "time: passes by eq. 3.8 of Mondigo 2020, whose links keep their latency while pipelines wait, and "
        "the host's start of each",
        f"clock, cell: of {', '.join(answer.built) or answer.asked.benchmark}; depth: by rows",
        f"an element: {operations:.0f} operations {counted}, {dsps:.1f} DSPs by inspect and factors of "
        f"published builds ({bars(element.vendor)}; fabricmark explore resources)",
    ]
    if own := own_kernel(answer):
        found.append(own)
    found += limits(answer)
    return found + budget.said


def show_systems(answers: Sequence[Answer]) -> None:
    """Print the best design of each of several systems side by side."""
    out = terminal.console()
    terminal.say(out, "the best of each system:", style="bold")
    columns = [Column("system", key=True), Column("design"), Column("link"), *terminal.numbers("time [s]")]
    columns += [*terminal.numbers("of the peak"), Column("costs most")]
    rows: list[list[terminal.Cell]] = [
        [
            of.system.name, name(best), str(best.values["link"]), number(best.seconds),
            percent(best.efficiency, digits=1), best.waits_for,
        ]
        for of in answers for best in of.found[:1]
    ]  # fmt: skip
    terminal.show(out, columns, rows)


def own_kernel(answer: Answer) -> str:
    """How many stages this project's own kernel would allow, where those above are of others."""
    from fabricmark.explore.elements import arithmetic_of

    vendor = answer.exploration.element.vendor
    if answer.operations is None or answer.asked.file is not None:
        return ""
    own = area.estimates(arithmetic_of(answer.asked.benchmark, vendor, None), vendor)["dsps"]
    most = int(answer.exploration.resources["dsps"] // own)
    return f"of the kernel of this project an element needs {own:.0f} DSPs: {most} fit a board"


def limits(answer: Answer) -> list[str]:
    """What was published of how many elements fit."""
    found = []
    for row, place in printed(answer.asked.benchmark, answer.system.board_id, "cascaded", "<="):
        where = f" on the {place['of']}" if "of" in place else ""
        found.append(f"published: at most {row['value']} elements{where} (section {row['section']})")
    return found


def bars(vendor: str) -> str:
    """How far off the factors are for builds that had no part in the fit."""
    rows = [one for one in builds() if one.part == area_fit.TEST and one.vendor == vendor]
    median, p90 = area_fit.spread([one for one in rows if one.resource == "dsps"])
    return (
        f"DSPs of {VENDORS[vendor].label}'s chips: median error {percent(median)}, 90 % within {percent(p90)}"
    )


def builds() -> list[area_fit.Row]:
    """Published builds beside their estimates, as tools/area_factors.py wrote them."""
    path = area.folder() / "area_builds.csv"
    return [
        area_fit.Row(**{**row, **{name: float(row[name]) for name in ("published", "estimate")}})
        for _, row in published.rows(path, area_fit.COLUMNS)
    ]


def show_resources() -> None:
    """Print the fitted factors, and how far off they are for the builds of the test, by family."""
    out, every = terminal.console(), builds()
    terminal.title(out, ["resources of designs", MODELLED])
    columns = [Column("chips", key=True), Column("resource", key=True), Column("factors", prose=True)]
    rows: list[list[terminal.Cell]] = [
        [
            VENDORS[vendor].label,
            NAMES[resource],
            terminal.items(f"{value:g} {word}" for word, value in one.of.items()),
        ]
        for vendor in VENDORS
        for resource, one in area.factors(vendor).items()
    ]
    terminal.show(out, columns, rows)
    for word, meaning in area.MEANINGS.items():
        terminal.say(out, f"{word}: {meaning}")
    _show_engines()
    tested = [one for one in every if one.part == area_fit.TEST]
    columns = [
        Column("of", key=True),
        *terminal.numbers("rows", "median error", "90 % within"),
        Column("bar"),
    ]
    terminal.say(out, "builds that had no part in the fit:", style="bold")
    terminal.show(out, columns, [_spread(word, some) for word, some in _families(tested)])
    for part in (area_fit.FIT, area_fit.TEST):
        names = dict.fromkeys(one.bitstream for one in every if one.part == part)
        terminal.say(out, f"{part}: {', '.join(names)}")


def _show_engines() -> None:
    """What engines of messages take: published designs of an application with one, less that without."""
    out = terminal.console()
    terminal.say(out, "engines beside a port, published designs with less those without:", style="bold")
    columns = [Column("board", key=True), Column("engine", key=True), Column("design")]
    columns += [*terminal.numbers(*NAMES.values()), Column("note", prose=True)]
    rows: list[list[terminal.Cell]] = [
        [
            one.board, one.transport, one.design, *(number(one.more.get(name)) for name in NAMES), one.note
        ]
        for one in area_fit.engines()
    ]  # fmt: skip
    terminal.show(out, columns, rows)


def _families(tested: Sequence[area_fit.Row]) -> list[tuple[str, list[area_fit.Row]]]:
    found: list[tuple[str, list[area_fit.Row]]] = [("all", list(tested))]
    for vendor in VENDORS:
        for resource in area.factors(vendor):
            own = [one for one in tested if (one.vendor, one.resource) == (vendor, resource)]
            found.append((f"{VENDORS[vendor].label}, {NAMES[resource]}", own))
    for family in dict.fromkeys(one.family for one in tested):
        found.append((family, [one for one in tested if one.family == family]))
    return found


def _spread(word: str, some: Sequence[area_fit.Row]) -> list[str]:
    median, p90 = area_fit.spread(some)
    held = median <= area_fit.MEDIAN_BAR and p90 <= area_fit.P90_BAR
    return [word, str(len(some)), percent(median), percent(p90), "" if held else "missed"]


def show_confirmed(found: Sequence[Confirmed]) -> bool:
    """Print the best designs by the equation and by the modelled clock; whether all are confirmed."""
    if not found:
        return True
    out = terminal.console()
    terminal.say(out, "by the modelled clock of this project's programs:", style="bold")
    unit = found[0].unit
    columns = [
        Column("design", key=True),
        *terminal.numbers(f"explored [{unit}]", f"clock [{unit}]", "apart"),
    ]
    columns += [Column("")]
    rows: list[list[terminal.Cell]] = [
        [
            one.design, number(one.equation), number(one.clock),
            percent(one.apart, digits=2, signed=True), "" if one.holds else "not confirmed",
        ]
        for one in found
    ]  # fmt: skip
    terminal.show(out, columns, rows)
    held = sum(one.holds for one in found)
    terminal.say(
        out, f"{held} of {len(found)} confirmed within {percent(BAR)}; clocks, depths and rates are the same"
    )
    return held == len(found)


def of_confirmed(found: Sequence[Confirmed]) -> list[dict]:
    """For a document."""
    return [
        {"design": one.design, "explored": one.equation, "clock": one.clock, "unit": one.unit}
        for one in found
    ]


def document(answer: Answer, budget: Budget, confirmed: Sequence[Confirmed] = ()) -> dict:
    """What --json writes: all of the Pareto set, in SI units."""
    problem = answer.asked.problem
    return {
        "schema": FORMAT,
        "kind": MODELLED,
        "benchmark": answer.asked.benchmark,
        "system": answer.system.name,
        "transport": answer.transport,
        "grid": {"columns": problem.columns, "rows": problem.rows, "steps": problem.steps},
        "designs": answer.exploration.fits.size,
        "fitting": int(answer.exploration.fits.sum()),
        "refused": answer.refused,
        "seconds_to_explore": answer.seconds,
        "by": answer.by,
        "currency": budget.prices.currency,
        "found": [_of_design(one) for one in answer.found],
        "confirmed": of_confirmed(confirmed),
    }


def _of_design(one: Found) -> dict:
    values = one.values
    own = {axis: values[axis] for axis in AXES if axis != "link"}
    link = values["link"]
    return {
        **own,
        "packet": link.packet,
        "receive_depth": link.depth,
        "seconds": one.seconds,
        "cell_steps_per_second": one.rate,
        "share_of_peak": one.efficiency,
        "stall": one.stall,
        "start": one.start,
        "joules": one.joules,
        "cost": one.cost,
        "uses": dict(one.uses),
        "next": list(one.next),
    }
