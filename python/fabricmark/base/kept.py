"""Answers of methods that are worked out once."""

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def kept(method: Method) -> Method:
    """A method whose answers its object keeps, by their arguments, for as long as it lives itself."""
    place = f"answers of {method.__qualname__}"

    @wraps(method)
    def answer(self: object, *arguments: Any, **named: Any) -> Any:
        own = vars(self)
        return (own.get(place) or own.setdefault(place, cache(partial(method, self))))(*arguments, **named)

    return answer  # type: ignore[return-value]
