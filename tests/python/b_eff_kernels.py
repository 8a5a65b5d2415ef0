"""How the tests run b_eff between kernels of emulated boards, and what they read of it."""

from boards import Systems
from simulated_runs import best, program

SHORT = ("--largest", 7, "--repetitions", 2)


class Boards(Systems):
    """b_eff on emulated boards."""

    def __init__(self, folder):
        super().__init__(folder)
        self.b_eff = program(folder, "b_eff")

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
