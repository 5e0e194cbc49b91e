"""PROVE for Python: the client of `prove-rl serve`, and what trainers need to use the service.

`prove_rl.trl`, `prove_rl.verl`, `prove_rl.verifiers` and `prove_rl.openenv` connect it with the
packages of these names.
This module and the client need the standard library alone.
"""

import sys
from typing import TYPE_CHECKING, Any

python = sys.version_info[:2]
if python < (3, 10):
    raise ImportError(f"prove_rl needs Python 3.10 or later, and this is {python[0]}.{python[1]}")

from .client import AsyncClient, AsyncSession, Client, ProveError, Session
from .service import ServiceError

if TYPE_CHECKING:
    from .verifiers import ProveEnv, ProveHarness, ProveTaskset, load_environment

__all__ = [
    "AsyncClient",
    "AsyncSession",
    "Client",
    "ProveEnv",
    "ProveError",
    "ProveHarness",
    "ProveTaskset",
    "ServiceError",
    "Session",
    "load_environment",
]


def __getattr__(name: str) -> Any:
    """What verifiers looks for in the module with the name of a taskset, once it is needed."""
    if name not in ("ProveEnv", "ProveHarness", "ProveTaskset", "load_environment"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import verifiers
    except ImportError as error:
        raise AttributeError(f"{name} needs the package verifiers: {error}") from error
    return getattr(verifiers, name)
