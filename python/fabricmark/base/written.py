"""How every table and message writes a number and a share."""

NOTHING = "-"


def number(value: float | None) -> str:
    """Four significant digits without an exponent where that is readable."""
    if value is None:
        return NOTHING
    return f"{value:.4g}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.3e}"


def percent(share: float | None, *, digits: int = 0, signed: bool = False) -> str:
    """A share: `81 %`; an error with its sign: `+173 %`; with `digits` after the point: `4.1 %`."""
    if share is None:
        return NOTHING
    text = f"{100 * share:.{digits}f}"
    if signed and not text.startswith("-"):
        text = f"+{text}"
    return f"+0{text[2:]} %" if signed and float(text) == 0 else f"{text} %"
