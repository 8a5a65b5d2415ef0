"""Modules against sources, sinks and MACs of others: cocotb with its extensions, on Icarus."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from common import BUILD, RTL, Failure, Options, Task

TESTS = RTL / "tests" / "cocotb_tests"
# The command stands for the Python packages, which have none of their own.
TOOLS = ("iverilog", str(Path(sys.executable).parent / "cocotb-config"))


@dataclass(frozen=True)
class Run:
    """A top with these parameters under a module of tests."""

    name: str
    top: str
    parameters: tuple[tuple[str, int], ...]
    module: str
    count: int  # of its tests
    is_full: bool = False


ALL = (
    Run("port_256", "fm_eth_port", (("W", 256), ("D", 8)), "test_eth_port", 3),
    Run("port_128", "fm_eth_port", (("W", 128), ("D", 8)), "test_eth_port", 3),
    Run("port_512", "fm_eth_port", (("W", 512), ("D", 8)), "test_eth_port", 3, is_full=True),
    Run("to_flits", "fm_width_conv", (("SB", 40), ("MB", 32)), "test_streams", 1),
    Run("to_words", "fm_width_conv", (("SB", 32), ("MB", 40)), "test_streams", 1),
    Run("clocks", "fm_async_fifo", (("W", 64), ("PLACES_LOG2", 3)), "test_streams", 1),
)


def passes(run: Run) -> None:
    """Raises Failure where a test failed or was not run."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    folder = BUILD / f"cocotb_{run.name}"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    runner = get_runner("icarus")
    parameters = dict(run.parameters)
    files = [file for part in ("ethernet", "common") for file in sorted((RTL / part).glob("*.sv"))]
    # The simulator's Python looks for modules where this one does.
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    environment = {"FABRICMARK_WIDTH": str(parameters.get("W", 0))}
    what = {"hdl_toplevel": run.top, "build_dir": folder, "log_file": log}
    how = {"build_args": ["-g2012"], "timescale": ("1ns", "1ps"), "always": True}
    try:
        runner.build(sources=files, parameters=parameters, **what, **how)
        results = runner.test(
            test_module=run.module,
            test_dir=folder,
            extra_env=environment,
            results_xml=str(folder / "results.xml"),
            **what,
        )
        tests, failed = get_results(results)
    except (Exception, SystemExit) as error:
        raise Failure(f"{type(error).__name__} {error}; {log} has more") from error
    if (tests, failed) != (run.count, 0):
        raise Failure(f"{failed} of {tests} tests failed; {log} has more")


def tasks(options: Options) -> Iterator[Task]:
    for run in ALL:
        yield Task(run.name, partial(passes, run), run.is_full)
