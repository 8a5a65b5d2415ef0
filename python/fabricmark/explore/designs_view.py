"""Explorations of a benchmark's designs on the terminal and as a document."""

from collections.abc import Sequence

from fabricmark.base import terminal
from fabricmark.base.terminal import NOTHING, Column, number, percent
from fabricmark.explore import area_fit
from fabricmark.explore.budget import Budget
from fabricmark.explore.confirm import Confirmed
from fabricmark.explore.designs import DEVICES, Answer, Found
from fabricmark.explore.view import FORMAT, MODELLED, builds, of_confirmed, show_reasons
from fabricmark.predict.feasible import NAMES
from fabricmark.predict.options import HPCC_FPGA


def show(answer: Answer, budget: Budget, top: int) -> None:
    """Print the best designs beside the published ones, why the next are no better, and what it rests on."""
    out, found = terminal.console(), answer.found[:top]
    terminal.title(out, [f"{answer.asked.benchmark} on {answer.system.name}", answer.metric, MODELLED])
    terminal.show(out, *_table(answer, budget, found))
    terminal.say(out, "published designs of the same numbers and sizes, each at its own clock:", style="bold")
    terminal.show(out, *_table(answer, budget, answer.published))
    reasons = {", ".join(map(str, one.values.values())): one.next for one in found}
    show_reasons("why the next value is no better:", reasons, lines(answer, budget))


def _table(
    answer: Answer, budget: Budget, found: Sequence[Found]
) -> tuple[list[Column], list[list[terminal.Cell]]]:
    names = list(dict.fromkeys(name for one in found for name in one.values))
    columns = [Column(name, right=True, key=True) for name in names]
    columns += [Column("transport", once=True), *terminal.numbers(f"{answer.metric} [{answer.unit}]")]
    columns += [
        *terminal.numbers(f"{answer.unit}/W", f"a {budget.prices.currency or 'price'} and hour", "place")
    ]
    columns += [Column("fullest"), Column("published")]
    rows: list[list[terminal.Cell]] = []
    for one in found:
        watts, cost = budget.joules(one.devices, 1.0), budget.cost(one.devices, 3600.0)
        rows.append([
            *(str(one.values.get(name, NOTHING)) for name in names),
            one.case.transport, number(one.rate), number(None if not watts else one.rate / watts),
            number(None if not cost else one.rate / cost), str(answer.rank(one)),
            f"{percent(one.uses[one.fullest])} of the {NAMES[one.fullest]}", one.published or NOTHING,
        ])  # fmt: skip
    return columns, rows


def lines(answer: Answer, budget: Budget) -> list[str]:
    """What else there is to know."""
    fits = sum(int(case.fits.sum()) for case in answer.cases)
    found = [
        f"{answer.designs} designs in {answer.seconds:.2f} s, {fits} fit; {len(answer.found)} in the Pareto "
        f"set of devices, {answer.metric} and the fullest resource, by {answer.by}",
        f"sizes of a device stay: {_sizes(answer)}",
        "place: among those that fit, on as many devices; fullest: of what tools have filled of such chips",
        "clocks are those of the syntheses that designs grow from, whatever they fill: "
        f"{', '.join(case.base for case in answer.cases)}",
    ]
    found += [
        f"over {case.transport}: of this project's program; `fabricmark predict` has that of {HPCC_FPGA}"
        for case in answer.cases
        if case.of_own_program
    ]
    tested = [one for one in builds() if one.part == area_fit.TEST]
    own = [one for one in tested if one.family == answer.asked.benchmark]
    if own:
        median, p90 = area_fit.spread(own)
        found.append(
            "resources: the published ones, and what inspect and factors say of the difference; of whole "
            f"designs of {answer.asked.benchmark}: median error {percent(median)}, 90 % within {percent(p90)}"
        )
    return found + budget.said


def _sizes(answer: Answer) -> str:
    """Of the problem, by the number of devices."""
    found = {devices: case.sizes(devices) for case in answer.cases for devices in case.axes[DEVICES]}
    return "; ".join(
        f"{', '.join(f'{name} {value}' for name, value in of.items()) or 'those of the program'} on {devices}"
        for devices, of in sorted(found.items())
    )


def document(answer: Answer, budget: Budget, confirmed: Sequence[Confirmed] = ()) -> dict:
    """What --json writes: all of the Pareto set, and the published designs."""
    return {
        "schema": FORMAT,
        "kind": MODELLED,
        "benchmark": answer.asked.benchmark,
        "system": answer.system.name,
        "designs": answer.designs,
        "fitting": sum(int(case.fits.sum()) for case in answer.cases),
        "seconds_to_explore": answer.seconds,
        "by": answer.by,
        "metric": answer.metric,
        "unit": answer.unit,
        "currency": budget.prices.currency,
        "found": [_of_design(answer, one) for one in answer.found],
        "published": [_of_design(answer, one) for one in answer.published],
        "confirmed": of_confirmed(confirmed),
    }


def _of_design(answer: Answer, one: Found) -> dict:
    return {
        "transport": one.case.transport,
        "devices": one.devices,
        "parameters": one.parameters,
        "value": one.rate,
        "place": answer.rank(one),
        "uses": dict(one.uses),
        "published": one.published,
        "next": list(one.next),
    }
