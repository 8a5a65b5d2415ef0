"""Values that --set and --sweep give: of parameters as the programs read them, of a system as its files name
them.

`board.memory.bank_bandwidth`, `network.latency` and `bitstream.clock` are values of the system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabricmark.base import kernels, keys
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import options
from fabricmark.predict.reads import PLACES
from fabricmark.systems import System, sourced_value


def numbers(benchmark: str, words: Sequence[tuple[str, str]]) -> list:
    """The values of parameters, or of values of the system, from (name, text). Raises FabricmarkError (2)."""
    keys_of = [key_of(name) for name, _ in words]
    known = {} if all(keys_of) else kernels.kernel(benchmark).parameters
    for (name, _), key in zip(words, keys_of, strict=True):
        if key is None and name not in known:
            remedy = f"use one of {', '.join(sorted(known))}, or a value such as board.memory.bank_bandwidth"
            raise FabricmarkError(f"{benchmark} has no parameter {name}", remedy)
    kernels.ask([kernels.settings(benchmark, {name: text}) for name, text in words if name in known])
    return [
        _system_value(name, text, key)
        if key is not None
        else kernels.ask([kernels.settings(benchmark, {name: text})])[0]["parameters"][name]
        for (name, text), key in zip(words, keys_of, strict=True)
    ]


def key_of(name: str) -> keys.Key | None:
    """The key of a system file that a dotted name means. Raises FabricmarkError (2) for an unknown one."""
    place, dot, rest = name.partition(".")
    if not dot:
        return None
    possible = keys.VALUES[place] if place in PLACES else {}
    key = possible.get(rest)
    if key is None or not key.symbol:
        known = sorted(one for one, key in possible.items() if key.symbol)
        remedy = f"use one of {', '.join(known)}" if known else "begin with board, network or bitstream"
        raise FabricmarkError(f"{name} is no value that a model reads", remedy)
    return key


def _system_value(name: str, text: str, key: keys.Key) -> float:
    try:
        value = float(text) if key.dimension in keys.PLAIN else sourced_value.parse(text, key.dimension)
    except ValueError as error:
        raise FabricmarkError(f"{name}={text}: {error}", "correct the value") from None
    may_be_nothing = key.dimension == "seconds"
    if not 0 <= value < float("inf") or (value == 0 and not may_be_nothing):
        raise FabricmarkError(f"{name}={text}: without it nothing moves", "write a number above 0")
    return value


def axis(sweep: options.Sweep, benchmark: str) -> list:
    """The values of an axis. Raises FabricmarkError (2)."""
    first, last = numbers(benchmark, [(sweep.name, text) for text in (sweep.first, sweep.last)])
    whole = isinstance(first, int)
    if not isinstance(first, int | float) or isinstance(first, bool):
        raise FabricmarkError(f"{sweep.name} is no number", "use --set")
    step = None
    if sweep.step:
        key = key_of(sweep.name)
        step = _system_value(sweep.name, sweep.step, key) if key else _plain(sweep)
    return options.values(first, last, step, sweep.factor, whole, sweep.name)


def _plain(sweep: options.Sweep) -> float:
    try:
        return float(sweep.step)
    except ValueError:
        raise FabricmarkError(f"--sweep {sweep.name}: step {sweep.step!r}", "write a number") from None


def with_overrides(system: System, benchmark: str, transport: str, overrides: Mapping[str, float]) -> System:
    """The system with other values, named as its files name them. Raises FabricmarkError (2)."""
    for name, value in overrides.items():
        place, _, rest = name.partition(".")
        changed = {rest: value}
        if place == "board":
            system = replace(system, board=system.board.having(changed))
        elif place == "network":
            if transport not in system.networks:
                raise FabricmarkError(f"{name}: there is no network to change", "leave it out")
            moved = system.networks[transport].having(changed)
            system = replace(system, networks={**system.networks, transport: moved})
        else:
            streams = tuple(
                one.having(changed) if one.benchmark == benchmark else one for one in system.bitstreams
            )
            system = replace(system, bitstreams=streams)
    return system
