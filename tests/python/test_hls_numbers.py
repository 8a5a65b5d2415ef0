"""fm::uint computes as AMD's guide says of ap_uint: values, widths and signs against Python's integers."""

import random
from itertools import product

import pytest
from hls_support import STUB, built, run

# Types by name, and pairs of them of which at least one is an fm::uint.
TYPES = {
    "fm::uint<1>": (1, False),
    "fm::uint<8>": (8, False),
    "fm::uint<13>": (13, False),
    "fm::uint<64>": (64, False),
    "std::int8_t": (8, True),
    "int": (32, True),
    "std::int64_t": (64, True),
}
OURS = [name for name in TYPES if name.startswith("fm")]
PAIRS = [(a, b) for a, b in product(TYPES, TYPES) if a in OURS or b in OURS]
OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">="]
PROGRAM = """\
#include "common/dataflow.hpp"
#include <cstdio>
template <int Width, bool Signed>
void show(const char* what, const fm::masked::number<Width, Signed>& v) {
  std::printf("%s %d %d %016llx%016llx\\n", what, Width, int(Signed), (unsigned long long)(v.bits() >> 64),
              (unsigned long long)v.bits());
}
void show(const char* what, bool v) { std::printf("%s 1 0 %d\\n", what, int(v)); }
template <int Width>
void show(const char* what, const fm::uint<Width>& v) {
  std::printf("%s %d 0 %llx\\n", what, Width, (unsigned long long)v.to_uint64());
}
template <typename L, typename R>
void both(L a, R b) {
  BOTH
}
template <typename L, typename R>
void left(L a, R b) {
  L c = a;
  LEFT
}
template <typename T>
void one(T a) {
  show("-", -a);
  show("~", ~a);
  show(">>", -a >> 2);
  show(">>", -a >> 126);
  T c = a;
  show("p++", c++);
  show("++", c);
  show("--", --c);
  show("p--", c--);
  show("--", c);
  const T k = a;
  for (int high = 0; high < T::kWidth; high += 3) {
    show("[]", a[high]);
    show("[] const", k[high]);
    for (int low = 0; low <= high; low += 2) {
      show("range", T(a.range(high, low)));
      show("range const", k.range(high, low));
      c = a;
      c.range(high, low) = 0x2b5;
      show("range =", c);
    }
    c = a;
    c[high] = !c[high];
    show("[] =", c);
  }
}
int main() {
  int pair;
  long long a, b;
  while (std::scanf("%d %lld %lld", &pair, &a, &b) == 3) {
    switch (pair) {
CASES
    }
  }
}
"""


def program_text():
    both = "\n  ".join(
        f'if (b != 0) show("{op}", a {op} b);' if op in "/%" else f'show("{op}", a {op} b);'
        for op in OPERATORS
        if op not in ("<<", ">>")
    )
    left = "\n  ".join(
        f'{"if (b != 0) " if op in "/%" else ""}c = a, c {op}= b, show("{op}=", c);' for op in OPERATORS[:10]
    )
    left += ' show("<<", a << b); show(">>", a >> b);'
    cases = "\n".join(
        f"case {i}: both({a}(a), {b}(b)); {f'left({a}(a), {b}(b)); one({a}(a));' if a in OURS else ''} break;"
        for i, (a, b) in enumerate(PAIRS)
    )
    return PROGRAM.replace("BOTH", both).replace("LEFT", left).replace("CASES", cases)


def cut(value, width, signed):
    """What a number of that width keeps of a value."""
    value &= (1 << width) - 1
    return value - (1 << width) if signed and value >> (width - 1) else value


def divided(a, b):
    """Rounded towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifted(a, count):
    return a << min(count, 128) if count >= 0 else a >> min(-count, 128)


VALUES = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divided,
    "%": lambda a, b: a - b * divided(a, b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": shifted,
    ">>": lambda a, b: shifted(a, -b),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def result_type(op, left, right):
    """Width and sign of a result, from the words of UG1399, "Class Methods and Operators"."""
    (wl, sl), (wr, sr) = left, right
    # "One bit more than the wider of the two operands; two bits if and only if the wider is unsigned and the
    # narrower is signed." Of two that are as wide, the one without sign counts as the wider.
    two = (sl != sr) and (wl >= wr if sr else wr >= wl)
    widest = max(wl + (sr and not sl), wr + (sl and not sr))
    return {
        "+": (max(wl, wr) + (2 if two else 1), sl or sr),
        "-": (max(wl, wr) + (2 if two else 1), True),
        "*": (wl + wr, sl or sr),
        "/": (wl + sr, sl or sr),
        "%": (min(wl, wr + (sl and not sr)), sl),
        **dict.fromkeys("&|^", (widest, sl or sr)),
        **dict.fromkeys(("<<", ">>"), left),
    }.get(op, (1, False))


def expected_both(left, right, a, b):
    for op in OPERATORS:
        if op in ("<<", ">>") or (op in "/%" and b == 0):
            continue
        width, signed = result_type(op, left, right)
        value = VALUES[op](a, b)
        if op in "+-*/%":
            assert cut(value, width, signed) == value  # nothing is lost in an expression
        yield op, width, signed, value


def expected_left(left, a, b):
    yield from (
        (f"{op}=", left[0], False, VALUES[op](a, b)) for op in OPERATORS[:10] if op not in "/%" or b != 0
    )
    yield from ((op, left[0], False, VALUES[op](a, b)) for op in ("<<", ">>"))


def expected_one(width, a):
    yield "-", width + 1, True, -a
    yield "~", width, False, ~a
    yield from ((">>", width + 1, True, -a >> count) for count in (2, 126))
    changes = [("p++", a), ("++", a + 1), ("--", a), ("p--", a), ("--", a - 1)]
    yield from ((what, width, False, value) for what, value in changes)
    for high in range(0, width, 3):
        yield from (("[]", 1, False, a >> high & 1), ("[] const", 1, False, a >> high & 1))
        for low in range(0, high + 1, 2):
            ones = (1 << (high - low + 1)) - 1
            yield from ((what, width, False, a >> low & ones) for what in ("range", "range const"))
            yield "range =", width, False, (a & ~(ones << low)) | (0x2B5 & ones) << low
        yield "[] =", width, False, a ^ 1 << high


def cases(generator):
    """Pairs of types with values: the ends of both, and some between."""
    for pair, (left, right) in enumerate(PAIRS):
        ends = [
            [0, 1, cut(-1, *TYPES[name]), cut(1 << TYPES[name][0] - 1, *TYPES[name])]
            for name in (left, right)
        ]
        for a, b in [
            *product(*ends),
            *((generator.getrandbits(64), generator.getrandbits(64)) for _ in range(4)),
        ]:
            yield pair, cut(a, *TYPES[left]), cut(b, *TYPES[right])


@pytest.fixture(scope="module")
def arithmetic(tmp_path_factory):
    """A program that prints each result of the pairs and values in its input."""
    sanitizer = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
    return built(tmp_path_factory.mktemp("arithmetic"), program_text(), *STUB, *sanitizer)


def test_numbers_of_n_bits_compute_as_the_guide_says(arithmetic):
    chosen = list(cases(random.Random(7)))
    lines = "".join(f"{pair} {cut(a, 64, True)} {cut(b, 64, True)}\n" for pair, a, b in chosen)
    done = run(arithmetic, input=lines)
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.splitlines())
    for pair, a, b in chosen:
        left, right = (TYPES[name] for name in PAIRS[pair])
        wanted = [*expected_both(left, right, a, b)]
        if PAIRS[pair][0] in OURS:
            wanted += [*expected_left(left, a, b), *expected_one(left[0], a)]
        for what, width, signed, value in wanted:
            name, of_width, of_sign, bits = next(printed).rsplit(" ", 3)
            found = cut(int(bits, 16), 128, signed)
            assert (name, int(of_width), int(of_sign)) == (what, width, signed), (PAIRS[pair], a, b)
            assert found == cut(value, width, signed), (PAIRS[pair], a, what, b)
    assert next(printed, None) is None
