"""Every value of Meyer 2024's tables predicted, with the part that it had: fit, test, input or context.

data/published/meyer_2024_roles.csv says the part of each: a value that some figure of systems/*.toml was
taken or inferred from is no test of what is predicted with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache

from fabricmark import models
from fabricmark.base import cells, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Prediction, _published
from fabricmark.models.machine import Bitstream
from fabricmark.results import published
from fabricmark.results.published import Printed
from fabricmark.systems import System
from fabricmark.validate.metrics import FACTORS
from fabricmark.validate.outcomes import NOT_PREDICTED, Load, Predictor
from fabricmark.validate.runs import NotPredicted

ROLES = "meyer_2024_roles.csv"
FIT, TEST, INPUT, CONTEXT = "fit", "test", "input", "context"
WORDS = {"role": (FIT, TEST, INPUT, CONTEXT)}
BOARDS_IN_A_NODE = 2  # Fig. 2.6
PER_WATT = {"GB/(W s)": "GB/s", "GFLOP/(W s)": "GFLOP/s"}
PEAK = "power_peak"


@dataclass(frozen=True)
class Rule:
    """One line of the file of roles: shell patterns of the columns, the role, and the bitstream that was
    run."""

    table: str
    benchmark: str
    board: str
    metric: str
    role: str
    bitstream: str
    note: str

    def fits(self, one: Printed) -> bool:
        return all(
            fnmatchcase(getattr(one, name), getattr(self, name))
            for name in ("table", "benchmark", "board", "metric")
        )


@dataclass(frozen=True)
class Scored:
    """A printed value, its role and its prediction in the same unit; `reason`: why there is none. `design`:
    the name of its bitstream."""

    printed: Printed
    role: str
    note: str
    predicted: float | None = None
    reason: str = ""
    size: float = 0.0
    design: str = ""

    @property
    def error(self) -> float:
        """|predicted / printed - 1|; 1 where nothing is predicted."""
        return NOT_PREDICTED if self.predicted is None else abs(self.predicted / self.printed.value - 1)


@cache
def rules() -> tuple[Rule, ...]:
    """The file of roles. Raises FabricmarkError (2) with line and remedy."""
    found = []
    for place, row in published.rows(published.folder() / ROLES, cells.columns(Rule)):
        published.check(place, row, WORDS, ("table", "benchmark", "board", "metric"))
        found.append(Rule(**row))
    return tuple(found)


def rule_of(one: Printed, known: Sequence[Rule]) -> Rule:
    """The first rule that fits. Raises FabricmarkError (2) for a value that none says the role of."""
    for rule in known:
        if rule.fits(one):
            return rule
    cause = f"{one.table}: {one.metric} of {one.benchmark} on {one.board} has no role"
    raise FabricmarkError(cause, f"add a line to {ROLES}")


def score(load: Load, rows: Sequence[Printed] | None = None) -> list[Scored]:
    """All printed values; those with the role test or fit are predicted."""
    known, rows = rules(), list(published.printed() if rows is None else rows)
    predictor = Predictor(load, published.load())
    return [_scored(one, rule_of(one, known), predictor, load, rows) for one in rows]


def tests(found: Sequence[Scored]) -> list[Scored]:
    """Those that had no part in any figure."""
    return [one for one in found if one.role == TEST]


def _scored(one: Printed, rule: Rule, predictor: Predictor, load: Load, rows: Sequence[Printed]) -> Scored:
    if rule.role not in (FIT, TEST):
        return Scored(one, rule.role, rule.note)
    if repeats(one, rows):
        return Scored(one, CONTEXT, "printed before, in Table 3.6")
    try:
        predicted, size, design = _predicted(one, rule, predictor, load, rows)
        return Scored(one, rule.role, rule.note, predicted, "", size, design)
    except NotPredicted as reason:
        return Scored(one, rule.role, rule.note, None, str(reason))


def _predicted(
    one: Printed, rule: Rule, predictor: Predictor, load: Load, rows: Sequence[Printed]
) -> tuple[float, float, str]:
    """(the prediction in the unit of the value, the size of the problem, the name of the bitstream). Raises
    NotPredicted."""
    if one.unit in PER_WATT:
        return _per_watt(one, rule, predictor, load, rows)
    system = predictor.system(one.system, one.board) if one.system else load(one.board, None)
    bitstream = _bitstream(system, one, rule)
    parameters = {"variant": "base", "data_type": one.dtype or "float", "transport": one.transport}
    parameters |= {} if bitstream is None else {**bitstream.parameters, "variant": bitstream.variant}
    own = _published.of(one.benchmark)
    parameters |= own.printed_size(one, parameters)
    nodes = one.nodes or -(-one.devices // BOARDS_IN_A_NODE)
    board = replace(system.board_with(bitstream, one.devices), hosts=nodes)
    try:
        found = models.predict(
            models.find(one.benchmark),
            parameters,
            board,
            one.devices,
            network=system.networks.get(one.transport),
            bitstream=bitstream,
        )
    except models.MissingValue as error:
        raise NotPredicted(str(error)) from error
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise NotPredicted(f"its model cannot use these values: {error}") from error
    value = _value(one, found)
    size = parameters.get("size") or 2.0 ** parameters.get("log_size", 0)
    share = _published.root(one.devices) if models.traits(one.benchmark).on_grid else 1
    return value, size / share, "" if bitstream is None else bitstream.name


def _bitstream(system: System, one: Printed, rule: Rule) -> Bitstream | None:
    """That of the rule, where one is named: by its id, with the board, benchmark and type of the value."""
    if models.traits(one.benchmark).is_host_code and not transports.between_streams(one.transport):
        return None
    if not rule.bitstream:
        found = system.bitstream(one.benchmark, one.transport)
    else:
        file, _, name = rule.bitstream.replace("*_single", f"{one.board}_single").partition("/")
        name = name.replace("_*", f"_{one.dtype}").replace("*", one.benchmark)
        wanted = [f"{file}/{name}", f"{file}/{name.removesuffix(f'_{one.dtype}')}"]
        found = next((system.designs[each] for each in wanted if each in system.designs), None)
    if found is None:
        raise NotPredicted(f"{system.name} has no bitstream of {one.benchmark}")
    return found


def _value(one: Printed, found: Sequence[Prediction]) -> float:
    """The prediction that a printed value means, in its unit. Raises NotPredicted."""
    means = _published.of(one.benchmark).printed.get(one.metric)
    if means is None:
        raise NotPredicted(f"no model has the metric {one.metric} of {one.benchmark}")
    fits = [
        entry
        for entry in found
        if entry.name == means.name and means.axes.items() <= dict(entry.axes).items()
    ]
    if not fits or fits[0].value is None:
        raise NotPredicted(f"the model of {one.benchmark} has no {one.metric}")
    kind, factor = FACTORS[fits[0].unit]
    own_kind, own_factor = FACTORS[one.unit]
    if kind != own_kind:
        raise NotPredicted(f"{one.metric} is in {fits[0].unit}, not in {one.unit}")
    # Of what works on each device alone Table 4.8 prints the mean of the devices.
    shared = 1 if models.traits(one.benchmark).on_grid or kind == "s" else one.devices
    return fits[0].value * means.factor * factor / own_factor / shared


def _per_watt(
    one: Printed, rule: Rule, predictor: Predictor, load: Load, rows: Sequence[Printed]
) -> tuple[float, float, str]:
    """The best predicted performance over the measured peak power, as section 3.3.4 has it.

    Raises NotPredicted.
    """
    of_run = (one.table, one.benchmark, one.board)
    same = [row for row in rows if (row.table, row.benchmark, row.board) == of_run]
    power = next((row.value for row in same if row.metric == PEAK), None)
    of = [row for row in same if row.metric in _published.of(one.benchmark).per_watt]
    if power is None or not of:
        raise NotPredicted(f"{one.table} has no power of {one.board}")
    predicted, size, design = max(_predicted(row, rule, predictor, load, rows) for row in of)
    return predicted / power, size, design


def repeats(one: Printed, others: Sequence[Printed]) -> bool:
    """Whether Table 3.10 prints a value of Table 3.6 again: it counts once."""
    what = ("benchmark", "board", "metric", "unit", "dtype", "value")
    return one.table == "Table 3.10" and any(
        other.table == "Table 3.6" and all(getattr(other, name) == getattr(one, name) for name in what)
        for other in others
    )
