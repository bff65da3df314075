from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

def exclusive(method: _Function) -> _Function: ...

class Guard:
    def __enter__(self) -> None: ...
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...
