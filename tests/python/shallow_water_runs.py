"""What tests read from results of fm_shallow_water."""

import re

DOUBLE = ("--data-type", "double")


def verdicts(done):
    return {one["name"]: one for one in done.document["verdicts"]}


def failed(done):
    assert done.code == 1
    return {name for name, one in verdicts(done).items() if one["status"] == "failed"}


def note(done, pattern):
    found = [match for text in done.document["notes"] if (match := re.search(pattern, text))]
    assert found, done.document["notes"]
    return found[0]


def errors(program, case, cells, *words):
    """Relative errors of a case: (elevation L2, depth L1)."""
    mesh = ("--case", case, "--mesh", f"rectangle:{cells}", "--warmup", "0")
    done = program.valid(*mesh, *DOUBLE, *words)
    found = note(done, r"elevation L2 ([\d.e+-]+), depth L1 ([\d.e+-]+)")
    return float(found[1]), float(found[2])
