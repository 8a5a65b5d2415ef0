"""What `fabricmark run` shows of jobs when they have ended, and its exit code."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base.errors import ENVIRONMENT, INTERRUPTED, FabricmarkError, in_lines
from fabricmark.measure import published_view, running
from fabricmark.measure.launch import Job
from fabricmark.report import outputs, run_tables


@dataclass(frozen=True)
class Shown:
    """`output`: folder of the results; `system`: whose published values stand beside them; `full`: all
    tables; `quiet`: the closing line alone."""

    output: Path
    system: str | None
    full: bool
    quiet: bool

    def jobs(self, todo: Sequence[Job]) -> int:
        """Do all jobs and print what they found; the worst exit code.

        Raises FabricmarkError (130) after Ctrl-C: finished results are kept.
        """
        outcome = running.Outcome()
        try:
            running.run_all(todo, outcome, quiet=self.quiet, has_tables=self.full)
        except KeyboardInterrupt:
            kept = f"{len(outcome.files)} finished results are in {self.output}"
            raise FabricmarkError("interrupted", kept, INTERRUPTED) from None
        loaded, errors = run_tables.load_all(outcome.files)
        tables = (lambda: run_tables.show(loaded, whole=True, of_sizes=True)) if self.full else None
        if loaded or outcome.failures:
            outputs.show_runs(loaded, outcome.failures, ("report", self.output), tables, quiet=self.quiet)
        if loaded:
            if self.system is not None and not self.quiet:
                published_view.show(loaded, self.system)
            outcome.exit_code = max(outcome.exit_code, run_tables.exit_code(loaded))
        for error in errors:
            print(in_lines(error), file=sys.stderr)
            outcome.exit_code = max(outcome.exit_code, ENVIRONMENT, error.exit_code)
        return outcome.exit_code
