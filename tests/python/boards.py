"""Emulated boards as the tests use them: systems by transport, how engines are asked, faults of messages."""

import re

from fabricmark.base import transports
from simulated_runs import exported

ENGINES = transports.between(transports.ENGINES)
TRANSPORTS = (*transports.between(transports.STREAMS), *ENGINES)  # all that join kernels
ISSUERS = ("logic", "host")
MODES = ("buffered", "streaming")
FAULTS = ("lost", "late", "swapped", "half", "blank", "flipped", "dead")
LOST = ("lost", "dead")  # which end the run
SYSTEMS = {name: "noctua2" if name in ENGINES else "noctua1" for name in TRANSPORTS}


class Systems:
    """The files of those systems that have boards with links and with engines."""

    def __init__(self, folder):
        self.files = {name: exported(folder, name) for name in sorted(set(SYSTEMS.values()))}

    def words(self, transport, system=None):
        """Options that choose a transport on the system that has it, or on another one."""
        return ("--transport", transport, "--system", system or self.files[SYSTEMS[transport]])


def failed_verdicts(done):
    """Names of the verdicts that failed."""
    return {one["name"] for one in done.document["verdicts"] if one["status"] == "failed"}


def refusals_missed(runs, codes=(2,)):
    """Of (name, run, words): those that were not refused in one line that has these words."""
    missed = {}
    for name, done, says in runs:
        lines = done.errors.strip().splitlines()
        is_one = len(lines) == 1 and re.match(r"fm_\w+: error: .*; ", lines[0])
        if done.code not in codes or not is_one or not all(one in lines[0] for one in says):
            missed[name] = (done.code, done.errors, says)
    return missed
