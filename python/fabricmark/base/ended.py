"""How a program ended that did not do its work, in words."""

import signal


def words(code: int, said: str) -> str:
    """`ended with 3: LAST LINE` or `was ended by signal 6 (Aborted): LAST LINE`; `said`: standard error."""
    how = f"was ended by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"ended with {code}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"{how}: {lines[-1] if lines else 'no message'}"
