"""Which cases of a matrix of parameters `make test` runs: few, but every value of every parameter."""

import zlib


def few(cases):
    """Indices of the chosen ones of `cases`, each a dict of parameters to what stands for their values.

    Greedy: the next is that with the most values not yet seen; of equals, the one whose text has the smallest
    checksum, so that neighbours do not win and nothing changes between runs.
    """
    texts = [repr(sorted(case.items())) for case in cases]
    order = sorted(range(len(cases)), key=lambda index: zlib.crc32(texts[index].encode()))
    seen, chosen = set(), set()
    while True:
        new = {index: len(set(cases[index].items()) - seen) for index in order if index not in chosen}
        best = max(new, key=new.__getitem__, default=None)
        if best is None or new[best] == 0:
            return chosen
        chosen.add(best)
        seen |= set(cases[best].items())


def _numbered(items):
    """The parameters of each, values by number: the text of some has an address, and workers must agree."""
    numbers = {}
    return [
        {
            name: numbers.setdefault((name, id(value)), len(numbers))
            for name, value in item.callspec.params.items()
        }
        for item in items
    ]


def wide_parts(items):
    """Those tests of `items` that only `make test-full` runs: the rest of the matrices of tests of programs.

    A test with one parameter keeps all its cases.
    """
    matrices = {}
    for item in items:
        starts_programs = item.get_closest_marker("programs") and not item.get_closest_marker("full")
        if starts_programs and hasattr(item, "callspec") and len(item.callspec.params) > 1:
            matrices.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in matrices.values():
        chosen = few(_numbered(cases))
        yield from (item for index, item in enumerate(cases) if index not in chosen)
