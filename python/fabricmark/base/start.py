"""A quick start of the command: to be imported before all that takes long.

What imports make stays until the end. Looking for garbage among it, again and again and once more at the end,
takes a third of a start.
"""

import gc

_looks = gc.isenabled()
gc.disable()


def done() -> None:
    """From here on garbage is looked for, among what comes from here on."""
    gc.freeze()
    if _looks:
        gc.enable()
