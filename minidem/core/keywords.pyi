from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

def by_keyword(function: _Function) -> _Function: ...
def suggest_keywords(kind: type) -> None: ...
