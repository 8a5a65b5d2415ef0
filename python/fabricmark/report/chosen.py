"""What is shown of a report, and how: `report --full`, `--sizes`, `--benchmark`, `--filter` and `--sort`."""

from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.report import families
from fabricmark.report.inputs import Inputs
from fabricmark.results import Result

DEFAULT_ORDER = "importance"


@dataclass(frozen=True)
class Wanted:
    """`full`: all tables in place of the answer; `sizes`: with a line for each size.

    `benchmark`, `text`: only results of this one, and that have this text; None: all.
    """

    full: bool = False
    benchmark: str | None = None
    text: str | None = None
    order: str = DEFAULT_ORDER
    sizes: bool = False

    @property
    def has_tables(self) -> bool:
        """Whether tables are asked for: all, or those of one benchmark."""
        return self.full or self.sizes or self.benchmark is not None


ALL = Wanted()


def of(found: Inputs, wanted: Wanted) -> Inputs:
    """The results, scalings and timelines that are wanted. Raises FabricmarkError (2): none is."""
    if wanted.benchmark is not None:
        found = _of_benchmark(found, wanted.benchmark)
    if wanted.text is None:
        return found
    results = [result for result in found.results if wanted.text.casefold() in words(result)]
    if not results:
        raise FabricmarkError(
            f"--filter {wanted.text}: no result has this text", "try a part of a name or a value"
        )
    return replace(found, results=results, scalings=[], timelines=[], failures=[])


def _of_benchmark(found: Inputs, name: str) -> Inputs:
    known = dict.fromkeys(result.benchmark for result in found.results)
    known |= dict.fromkeys(scaling.document["benchmark"] for scaling in found.scalings)
    known |= dict.fromkeys(failure.benchmark for failure in found.failures)
    known |= dict.fromkeys(timeline.program for timeline in found.timelines)
    check_known(name, known, f"--benchmark {name}: these files have no result of it")
    return replace(
        found,
        results=[result for result in found.results if result.benchmark == name],
        scalings=[one for one in found.scalings if one.document["benchmark"] == name],
        timelines=[one for one in found.timelines if one.program == name],
        failures=[one for one in found.failures if one.benchmark == name],
    )


def words(result: Result) -> str:
    """All that a result can be found by: names, verdict, file, and parameters as `name=value`."""
    ranks = result.document["environment"]["ranks"]
    parameters = [
        f"{key}={text}"
        for key, value in result.document["parameters"].items()
        for text in dict.fromkeys((str(value), families.number_text(value)))
    ]
    said = [
        result.benchmark, result.kernel_name(with_digest=True), result.document["run"]["class"],
        result.device["name"], result.device["platform"], result.document["environment"]["host"]["name"],
        f"{ranks['count']} ranks", ranks["kind"], result.verdict(), Path(result.path).name, *parameters,
    ]  # fmt: skip
    return " ".join(map(str, said)).casefold()
