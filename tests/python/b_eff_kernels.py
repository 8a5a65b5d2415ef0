"""How the tests run b_eff between kernels of emulated boards, and what they read of it."""

from charged_runs import best, exported, program

ENGINES = ("accl-udp", "accl-tcp", "accl-rdma")
ISSUERS = ("logic", "host")
MODES = ("buffered", "streaming")
SHORT = ("--largest", 7, "--repetitions", 2)


class Boards:
    """b_eff on the boards of noctua1 (channels) and noctua2 (engines)."""

    def __init__(self, folder):
        self.b_eff = program(folder, "b_eff")
        self.files = {name: exported(folder, name) for name in ("noctua1", "noctua2")}

    def words(self, transport, system=None):
        usual = "noctua1" if transport == "channels" else "noctua2"
        return ("--transport", transport, "--system", system or self.files[usual])

    def run(self, transport, *words, system=None, **how):
        return self.b_eff.run(*self.words(transport, system), *words, **how)

    def valid(self, transport, *words, **how):
        return self.b_eff.valid(*self.words(transport), *words, **how).document

    def times(self, transport, *words, system=None):
        """Modelled values by metric, operation and size, without computing anything."""
        done = self.run(transport, "--timing-only", "--repetitions", 1, *words, system=system)
        assert done.code == 0, done.errors
        return best(done.document)

    def latencies(self, *words, **how):
        """Microseconds by operation and size."""
        found = self.times(*words, **how)
        return {(what, size): value for (name, what, size), value in found.items() if name == "latency"}


def failed(done):
    """Rank, repetition and place of the failed verdicts by their names."""
    wrong = [one for one in done.document["verdicts"] if one["status"] == "failed"]
    return {one["name"]: (one["worst"]["rank"], one["repetition"], one["worst"]["place"]) for one in wrong}
