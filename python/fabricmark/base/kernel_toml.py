"""kernel.toml: the kernels of a benchmark, their parameters, and the conditions between them."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark.base import expression, toml_file
from fabricmark.base.errors import FabricmarkError

WORDS = ("cores", "banks")  # what a default may name of the device, beside the parameters before
TYPES = {"int": int, "float": (int, float), "string": str, "bool": bool}


@dataclass(frozen=True)
class Parameter:
    """One parameter; `default` is one value or one a device class.

    How scaling treats it: `scope`: whether it counts per-rank or as the total of all ranks. `dimensions`: the
    power of it that the work's data grow with, 2 for the width of a matrix. `rounded_to`: the parameter of
    which it should be a whole multiple, "" for none.
    """

    name: str
    type: str
    default: object
    stage: str
    meaning: str
    unit: str = ""
    range: tuple[float, float] | None = None
    values: tuple | None = None
    scope: str = "per-rank"
    dimensions: int = 1
    rounded_to: str = ""

    @property
    def option(self) -> str:
        """The option of the program, for example --buffer-size."""
        return "--" + self.name.replace("_", "-")

    def allowed(self) -> str:
        """The values that are allowed, in words."""
        if self.values is not None:
            return ", ".join(_plain(value) for value in self.values)
        return f"{self.range[0]} to {self.range[1]}" if self.range is not None else self.type

    def default_on(self, device_class: str, known: Mapping[str, object]) -> object:
        """The default on this class of devices, as the programs take it; None where there is none.

        `known`: the whole parameters before this one, and those of WORDS that are known. Raises
        expression.UnknownName where it needs another one, else ValueError where it has no value.
        """
        found = self.default
        if isinstance(found, Mapping):
            # An emulator runs FPGA designs.
            found = found.get(device_class, found.get("fpga") if device_class == "emulator" else None)
        if self.type != "int" or not isinstance(found, str):
            return found
        number = expression.evaluate(found, {name: v for name, v in known.items() if _has_type(v, "int")})
        return max((one for one in self.values or () if one <= number), default=number)

    def defaults(self) -> list[str]:
        """The default, or one a device class, in words."""
        if not isinstance(self.default, Mapping):
            return [_plain(self.default)]
        return [f"{key}: {_plain(value)}" for key, value in self.default.items()]


@dataclass(frozen=True)
class Kernel:
    """A checked kernel.toml."""

    path: Path
    benchmark: str
    summary: str
    variants: Mapping[str, Mapping]
    parameters: Mapping[str, Parameter]
    constraints: tuple[Mapping, ...]


def load(path: Path) -> Kernel:
    """Read and check a kernel.toml. Raises FabricmarkError (2) naming file, key and remedy."""
    document = toml_file.load(path, "kernel-1")
    parameters = {name: _parameter(name, table) for name, table in document.get("parameters", {}).items()}
    for parameter in parameters.values():
        _check_parameter(path, parameter, before(parameter.name, parameters))
        _check_scaling(path, parameter, parameters)
    _check_variants(path, document, parameters)
    for position, constraint in enumerate(document.get("constraints", [])):
        _check_constraint(path, f"constraints[{position}].expression", constraint["expression"], parameters)
    return Kernel(
        path,
        document["benchmark"],
        document["summary"],
        document["variants"],
        parameters,
        tuple(document.get("constraints", [])),
    )


def before(name: str, parameters: Mapping[str, Parameter]) -> list[str]:
    """The names that a default of this parameter may use: WORDS, and the whole parameters before it."""
    earlier = itertools.takewhile(lambda one: one.name != name, parameters.values())
    return [*WORDS, *(one.name for one in earlier if one.type == "int")]


def on_device(
    parameters: Mapping[str, Parameter], device_class: str, known: Mapping[str, object]
) -> dict[str, object]:
    """Every parameter on a device: as `known` has it, else its default; None where that cannot be known.

    `known` may have WORDS too. Raises FabricmarkError (2) for a default that has no value.
    """
    found = dict(known)
    for name, parameter in parameters.items():
        if name in known:
            continue
        try:
            found[name] = parameter.default_on(device_class, found)
        except expression.UnknownName:
            found[name] = None
        except ValueError as error:
            raise FabricmarkError(f"{name}: its default has no value: {error}", "set it") from error
    return {name: found[name] for name in parameters}


def _parameter(name: str, table: Mapping) -> Parameter:
    lists = {key: tuple(table[key]) for key in ("range", "values") if key in table}
    keys = ("type", "default", "stage", "meaning", "unit", "scope", "dimensions", "rounded_to")
    plain = {key: table[key] for key in keys if key in table}
    return Parameter(name=name, **plain, **lists)


def _check_parameter(path: Path, parameter: Parameter, names: Sequence[str]) -> None:
    """Raises FabricmarkError (2) when range, values and defaults do not fit the type or each other."""
    key = f"{path}: parameters.{parameter.name}"
    if parameter.range is not None:
        if parameter.values is not None:
            raise FabricmarkError(f"{key}: both range and values", "keep one of them")
        if parameter.type not in ("int", "float"):
            raise FabricmarkError(f"{key}.range: a {parameter.type} has no range", "use values")
        if not parameter.range[0] <= parameter.range[1]:
            raise FabricmarkError(f"{key}.range: the first end is not the smaller one", "swap the two ends")
    for value in parameter.values or ():
        if not _has_type(value, parameter.type):
            raise FabricmarkError(
                f"{key}.values: {_plain(value)} is no {parameter.type}", "correct the value"
            )
    _check_default(f"{key}.default", parameter, names)


def _check_scaling(path: Path, parameter: Parameter, parameters: Mapping[str, Parameter]) -> None:
    """Raises FabricmarkError (2) where what says how a parameter scales does not fit it."""
    key = f"{path}: parameters.{parameter.name}"
    declared = parameter.scope != "per-rank" or parameter.dimensions != 1 or parameter.rounded_to
    if declared and parameter.type != "int":
        raise FabricmarkError(f"{key}: a {parameter.type} is not scaled", "leave out how it scales")
    if parameter.rounded_to:
        other = parameters.get(parameter.rounded_to)
        if other is None or other.type != "int" or other.name == parameter.name:
            cause = f"{key}.rounded_to: {parameter.rounded_to} is no other whole parameter"
            raise FabricmarkError(cause, "name one of this file, such as block_size")


def _check_default(key: str, parameter: Parameter, names: Sequence[str]) -> None:
    """Raises FabricmarkError (2) when a default is not allowed; `key`: its place, `names`: it may use."""
    per_class = isinstance(parameter.default, Mapping)
    defaults = parameter.default.items() if per_class else [("", parameter.default)]
    for device_class, value in defaults:
        place = key + (f".{device_class}" if device_class else "")
        if parameter.type != "int" or not isinstance(value, str):
            check_value(place, parameter, value)
            continue
        try:
            expression.check(value, names)
        except ValueError as error:
            cause = f"{place}: {value!r} is no int, nor an expression: {error}"
            raise FabricmarkError(cause, "correct it, like max(1, 2^(26 - log_size))") from error


def check_value(place: str, parameter: Parameter, value: object, name: str = "default") -> None:
    """Raises FabricmarkError (2) when a parameter may not have this value; `place` is file and key.

    `name`: what the remedy calls it.
    """
    if not _has_type(value, parameter.type):
        raise FabricmarkError(f"{place}: {_plain(value)} is no {parameter.type}", f"correct the {name}")
    if parameter.values is not None and value not in parameter.values:
        raise FabricmarkError(f"{place}: {_plain(value)} is not allowed", f"use one of {parameter.allowed()}")
    if parameter.range is not None and not parameter.range[0] <= value <= parameter.range[1]:
        raise FabricmarkError(f"{place}: {_plain(value)} is out of range", f"use {parameter.allowed()}")


def whole_number(text: str) -> int | None:
    """A whole number as the programs read it: 65536, 64Ki (also Mi, Gi) or 2^16; None for anything else."""
    plain = re.fullmatch(r"([0-9]{1,18})(Ki|Mi|Gi)?", text)
    if plain:
        return int(plain[1]) << {None: 0, "Ki": 10, "Mi": 20, "Gi": 30}[plain[2]]
    power = re.fullmatch(r"2\^([0-9]{1,2})", text)
    return 2 ** int(power[1]) if power else None


def _check_variants(path: Path, document: Mapping, parameters: Mapping[str, Parameter]) -> None:
    """Raises FabricmarkError (2) when a variant's own value names no parameter or does not fit it."""
    for variant, table in document["variants"].items():
        for kind in ("defaults", "largest"):
            for name, value in table.get(kind, {}).items():
                key = f"variants.{variant}.{kind}.{name}"
                if name not in parameters:
                    remedy = f"use one of {', '.join(parameters)}"
                    raise FabricmarkError(f"{path}: {key}: {name} is no parameter", remedy)
                if kind == "largest":
                    check_value(f"{path}: {key}", parameters[name], value, kind)
                else:
                    own = replace(parameters[name], default=value)
                    _check_default(f"{path}: {key}", own, before(name, parameters))


def _check_constraint(path: Path, key: str, condition: str, parameters: Mapping) -> None:
    """Raises FabricmarkError (2) when a condition uses a name that is no parameter (functions aside)."""
    without_strings = re.sub(r"\"[^\"]*\"|'[^']*'", " ", condition)
    for name in re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\()", without_strings):
        if name not in parameters:
            remedy = f"use one of {', '.join(parameters)}"
            raise FabricmarkError(f"{path}: {key}: {name} is no parameter", remedy)


def _has_type(value: object, name: str) -> bool:
    # In Python a bool is an int; in kernel.toml it is not.
    return isinstance(value, TYPES[name]) and (name == "bool" or not isinstance(value, bool))


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
