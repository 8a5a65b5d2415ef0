"""How a program ended that did not do its work, in words."""

import os
import signal
from pathlib import Path

from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

NOT_STARTED = 127  # of the system's loader, as of a shell
REBUILD = "build again with `make build`"
LOADERS = "libOpenCL.so*"
OF_LOADER = ("ld.so", "symbol lookup error", "error while loading shared libraries", "not found (required by")


OF_CARD = "fabricmark-card: error: "  # begins what an emulated card says before it ends by a signal


def words(code: int, said: str) -> str:
    """`ended with 3: LAST LINE` or `was ended by signal 6 (Aborted): LAST LINE`; `said`: standard error.

    Of an emulated card that said why, the cause: AMD's runtime has more to say after it.
    """
    how = f"was ended by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"ended with {code}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = _line_of_card(said).rpartition("; ")[0] or (lines[-1] if lines else "no message")
    return f"{how}: {last}"


def remedy_of_card(said: str) -> str:
    """What an emulated card said to do; "" where none spoke."""
    return _line_of_card(said).rpartition("; ")[2]


def _line_of_card(said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith(OF_CARD)]
    return lines[0].removeprefix(OF_CARD) if lines else ""


def remedy(code: int, said: str, usual: str = REBUILD) -> str:
    """What to do about it: a program that the system's loader gave up may have met another library."""
    given = os.environ.get("LD_LIBRARY_PATH", "")
    if not given or not (code == NOT_STARTED or any(word in said for word in OF_LOADER)):
        return usual
    folders = [Path(folder) for folder in given.split(os.pathsep)]  # an empty one is the current folder
    found = [str(file) for folder in folders for file in sorted(folder.glob(LOADERS))]
    named = f", which has {', '.join(found)}," if found else ""
    return f"unset LD_LIBRARY_PATH{named} or take out what is not for these programs"


def without_result(
    program: str, file: Path, started_by: str = "", if_singletons: str = ""
) -> FabricmarkError:
    """Of exit code 0 and no result file. A launcher, `started_by`, may have lost the code or the ranks.

    `if_singletons`: what to do where each of its processes takes itself for the only one.
    """
    cause = f"{program} reported success but wrote no {file}"
    if not started_by:
        return FabricmarkError(cause, REBUILD, ENVIRONMENT)
    lost = f"see what it printed before: if that is an error, {started_by} does not pass exit codes on"
    remedies = [*([if_singletons] if if_singletons else []), "use --ranks for ranks in one process"]
    remedy = f"{lost}; {', or '.join(remedies)}"
    return FabricmarkError(cause, remedy, ENVIRONMENT)
