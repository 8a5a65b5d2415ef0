"""What there is: benchmarks, with what kernel.toml says of each, and devices.

Benchmarks are folders. `fabricmark-describe` is asked, in batches, what programs make of a kernel.toml;
nothing is resolved here. An answer is kept for as long as the command runs, so that whoever has many
questions asks them all at once (`ask`) and then each by itself. Devices come from `fm_calibrate`.
"""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fabricmark.base import ended, paths, runtimes
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known

LONGEST_SECONDS, LONGEST_LISTING_SECONDS = 60, 120
DEVICE_KEYS = (
    "name", "driver", "class", "platform", "platform_index", "device_index", "compute_units", "emulated",
)  # fmt: skip
NONE_FOUND = "no OpenCL device was found"
# Kinds of kernels: the design for FPGAs, and the one that is written for speed on CPUs and GPUs.
FPGA_DESIGN, OPTIMIZED = "base", "throughput"
Stamp = tuple[str, int, int]
_answers: dict[str, Mapping] = {}
_why_none: dict[str, tuple[str, str]] = {}  # cause and remedy by runtime, as the program said them


@dataclass(frozen=True)
class Parameter:
    """One parameter; `default` is one value or one a device class, in words where it follows from others.

    How scaling treats it: `scope`: whether it counts per-rank or as the total of all ranks. `dimensions`: the
    power of it that the work's data grow with, 2 for the width of a matrix. `rounded_to`: the parameter of
    which it should be a whole multiple, "" for none.
    """

    name: str
    type: str
    default: object
    stage: str
    meaning: str
    unit: str
    scope: str
    dimensions: int
    rounded_to: str
    range: Sequence[float] = ()
    values: Sequence = ()

    @property
    def option(self) -> str:
        """The option of the program, for example --buffer-size."""
        return option(self.name)

    def allowed(self) -> list[str]:
        """The values that are allowed, in words."""
        return [text(one) for one in self.values] or [" to ".join(map(str, self.range)) or self.type]

    def defaults(self) -> list[str]:
        """The default, or one a device class, in words."""
        if not isinstance(self.default, Mapping):
            return [text(self.default)]
        return [f"{key}: {text(value)}" for key, value in self.default.items()]


@dataclass(frozen=True)
class LoopTime:
    """The time of a kernel's loop in seconds, as formulas (docs/simulated-time.md).

    `cycles` and `memory` go on side by side, `repeat` times, and `seconds` of all of them names these two.
    `system`: values of a system that
    they name beside arguments and parameters; that where it has none: a number or another name, or "".
    """

    meaning: str
    phase: str
    repeat: str
    cycles: str
    memory: str
    seconds: str
    system: Mapping[str, str]


Costs = Mapping[str, Mapping[str, Sequence[LoopTime]]]


@dataclass(frozen=True)
class Kernel:
    """A kernel.toml; of each variant `file`, `style`, `entry_points`, `replicated` and `autorun` ones, and
    `costs`. `quantities`: its formulas that have names, each written out."""

    benchmark: str
    summary: str
    quantities: Mapping[str, str]
    variants: Mapping[str, Mapping]
    parameters: Mapping[str, Parameter]


def option(parameter: str) -> str:
    """The option of the program, for example --buffer-size of buffer_size."""
    return "--" + parameter.replace("_", "-")


def benchmark_names() -> list[str]:
    """Folders of kernels/ with a kernel.toml; a new benchmark needs no other registration."""
    return sorted(file.parent.name for file in paths.kernels().glob("*/kernel.toml"))


def check_benchmark(name: str) -> list[str]:
    """All benchmarks. Raises FabricmarkError (2) for one that does not exist."""
    known = benchmark_names()
    check_known(name, known, f"there is no benchmark {name!r}")
    return known


def kernel(benchmark: str) -> Kernel:
    """The kernels and parameters of a benchmark. Raises FabricmarkError (2, or 3: nothing is built)."""
    return _kernel(benchmark, _stamp(benchmark))


def costs(benchmark: str) -> Costs:
    """Loops by variant and entry point. Raises FabricmarkError (2, or 3: nothing is built)."""
    return _costs(benchmark, _stamp(benchmark))


def wanted(
    benchmark: str, device_class: str, given: Mapping[str, object], cores: int | None = None, **more: object
) -> dict:
    """The request for all parameters of a run; `more`: variant, banks, system, bitstream, bitstream_id."""
    known = {"cores": cores, **more}
    request = {
        name: text(value) if isinstance(value, str) else value
        for name, value in known.items()
        if value not in (None, "")
    }
    return {"benchmark": benchmark, "class": device_class, **request, "settings": _texts(given)}


def settings(benchmark: str, given: Mapping[str, object]) -> dict:
    """The request for given values alone: of the parameters' types, each allowed."""
    return {"benchmark": benchmark, "settings": _texts(given)}


def ask(requests: Sequence[Mapping]) -> list[Mapping]:
    """The answers to requests (docs/describe.md). Raises FabricmarkError: the first one that an answer is, or
    3 where the program is not built or fails."""
    return list(map(refused, answers(requests)))


def answers(requests: Sequence[Mapping]) -> list[Mapping]:
    """The same, with errors among them, {"error": {cause, remedy, code}}: `refused` raises them."""
    stamps = {name: _stamp(name) for name in {str(request.get("benchmark")) for request in requests}}
    keys = [json.dumps([stamps[str(one.get("benchmark"))], one], sort_keys=True) for one in requests]
    new = {key: request for key, request in zip(keys, requests, strict=True) if key not in _answers}
    if new:
        _answers.update(zip(new, _run(list(new.values())), strict=True))
    return [_answers[key] for key in keys]


def refused(answer: Mapping, place: str = "") -> Mapping:
    """The answer. Raises FabricmarkError where it is an error; `place` stands before its words."""
    if "error" in answer:
        error = answer["error"]
        raise FabricmarkError(
            f"{place}: {error['cause']}" if place else error["cause"], error["remedy"], error["code"]
        )
    return answer


def text(value: object) -> str:
    """A value as the programs' command lines have it; what is no character is escaped."""
    plain = str(value).lower() if isinstance(value, bool) else str(value)
    return plain.encode("utf-8", "backslashreplace").decode()


def options(words: Sequence[str]) -> dict[str, str]:
    """Options of a program's command line with their values, "" for none; the last of several counts."""
    return dict(_options(words))


def of_words(benchmark: str, device_class: str, words: Sequence[str], cores: int | None = None) -> dict:
    """The request for what a program's options say."""
    given = options(words)
    files = {"--variant": "variant", "--system": "system", "--bitstream-id": "bitstream_id"}
    more = {name: given[option] for option, name in files.items() if option in given}
    own = given.get("--kernel-file", ".cl")
    more["bitstream"] = given.get("--bitstream", "" if own.endswith(".cl") else own)
    known = kernel(benchmark).parameters.values()
    values = {one.name: given[one.option] for one in known if one.option in given}
    return wanted(benchmark, device_class, values, cores, **more)


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    name = ""
    for word in words:
        if word.startswith("--"):
            name, _, value = word.partition("=")
            yield name, value
        elif name:
            yield name, word


@cache
def _kernel(benchmark: str, _: Stamp) -> Kernel:
    answers([{"benchmark": one} for one in check_benchmark(benchmark)])  # one start for all of them
    (found,) = ask([{"benchmark": benchmark}])
    return Kernel(**{**found, "parameters": {one["name"]: Parameter(**one) for one in found["parameters"]}})


@cache
def _costs(benchmark: str, _: Stamp) -> Costs:
    (found,) = ask([{"benchmark": benchmark}])
    return {
        variant: {entry: [LoopTime(**loop) for loop in loops] for entry, loops in said["costs"].items()}
        for variant, said in found["variants"].items()
    }


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {name: text(value) for name, value in values.items()}


def _stamp(benchmark: str) -> Stamp:
    """What else an answer depends on: kernel.toml may be another one in the same process, as in the tests."""
    path = f"{paths.kernels()}/{benchmark}/kernel.toml"
    changed = _changed(path)
    other = _like(path, changed)
    return path, changed, _changed(f"{paths.kernels()}/{other}/kernel.toml") if other else 0


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0


@cache
def _like(path: str, changed: int) -> str:
    """The folder whose kernel.toml this one is like; "" where there is none, or it cannot be read."""
    try:
        return str(tomllib.loads(paths.content(Path(path)).decode("utf-8")).get("like", ""))
    except (OSError, ValueError, FabricmarkError):
        return ""


def _run(requests: Sequence[Mapping]) -> list[Mapping]:
    """One start of the program. Raises FabricmarkError (3) where it is not there or does not answer."""
    program = paths.describe()
    environment = {**os.environ, "FABRICMARK_KERNELS": str(paths.kernels()), **paths.describe_variables()}
    try:
        done = subprocess.run(
            [program], input=json.dumps({"requests": requests}).encode(), env=environment,
            capture_output=True, timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
        found = json.loads(done.stdout)["answers"] if done.returncode == 0 else []
    except subprocess.TimeoutExpired as error:
        cause = f"{program} has not answered {len(requests)} requests in {LONGEST_SECONDS} s"
        raise FabricmarkError(cause, "ask for fewer points, devices or bytes", ENVIRONMENT) from error
    except (OSError, ValueError, KeyError) as error:
        raise FabricmarkError(f"{program}: {error}", "build again with `make build`", ENVIRONMENT) from error
    if len(found) != len(requests):
        said = ended.words(done.returncode, done.stderr.decode("utf-8", "replace"))
        raise FabricmarkError(f"{program} {said}", "build again with `make build`", ENVIRONMENT)
    return found


def devices(runtime: str) -> list[dict[str, Any]]:
    """The devices that one runtime offers, as `fm_calibrate --list-devices` reports them.

    An empty list when there is none. Raises FabricmarkError (3) when the program is not built or fails.
    """
    path = paths.program("calibrate")
    command = [str(path), "--list-devices", "--json", "-"]
    environment = runtimes.environment(runtime, os.environ)
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=LONGEST_LISTING_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        cause = f"{path} --list-devices: {error}"
        raise FabricmarkError(cause, "check the OpenCL runtime with `clinfo`", ENVIRONMENT) from error
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode == 3:
        return _none(runtime, said)
    try:
        found = json.loads(done.stdout)["devices"] if done.returncode == 0 else [{}]
        if all(key in device for device in found for key in DEVICE_KEYS):
            return list(found)
    except (ValueError, KeyError, TypeError):
        pass
    how = ended.words(done.returncode, said) if done.returncode else "gave no list of devices"
    raise FabricmarkError(f"{path} --list-devices {how}", ended.remedy(done.returncode, said), ENVIRONMENT)


def why_none(runtime: str, usual: str) -> FabricmarkError:
    """That a runtime offers no device, with what the program has said of it."""
    cause, remedy = _why_none.get(runtime, ("no OpenCL device found", usual))
    return FabricmarkError(cause, remedy, ENVIRONMENT)


def _none(runtime: str, said: str) -> list[dict]:
    """No devices. Raises FabricmarkError (3) where the program says more than that there are none."""
    lines = [line for line in said.splitlines() if ": error: " in line]
    cause, _, remedy = lines[-1].partition(": error: ")[2].rpartition("; ") if lines else ("", "", "")
    if cause and not cause.startswith((NONE_FOUND, "SYCL found no device")):
        raise FabricmarkError(cause, remedy, ENVIRONMENT)
    if cause:
        _why_none[runtime] = (cause, remedy)
    return []
