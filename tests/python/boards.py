"""Emulated boards as the tests use them: systems by transport, how engines are asked, faults of messages."""

from charged_runs import exported

ENGINES = ("accl-udp", "accl-tcp", "accl-rdma")
ISSUERS = ("logic", "host")
MODES = ("buffered", "streaming")
FAULTS = ("lost", "late", "swapped", "half", "blank", "flipped", "dead")
LOST = ("lost", "dead")  # which end the run
SYSTEMS = {"channels": "noctua1", **dict.fromkeys(ENGINES, "noctua2")}


class Systems:
    """The files of those systems that have boards with links and with engines."""

    def __init__(self, folder):
        self.files = {name: exported(folder, name) for name in sorted(set(SYSTEMS.values()))}

    def words(self, transport, system=None):
        """Options that choose a transport on the system that has it, or on another one."""
        return ("--transport", transport, "--system", system or self.files[SYSTEMS[transport]])
