"""Requests that Schemathesis makes up from the API's own description, against the real service.

Checks that no request is answered with a server error, that statuses, content types and bodies are
those of the description, and that invalid requests and other methods are refused.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import schemathesis
from conftest import Served
from hypothesis import HealthCheck, Phase, given, settings
from prove_rl import Client
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import positive_data_acceptance

TASK = "banking-11-1"
VALID = GenerationMode("positive")
INVALID = GenerationMode("negative")
# the same requests in every run
LIMITS = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
Operation = APIOperation[Any, Any, Any, Any]
Prepare = Callable[[Case[Any]], AbstractContextManager[None]]


def check(operation: Operation, mode: GenerationMode, prepare: Prepare) -> None:
    @LIMITS
    @given(operation.as_strategy(generation_mode=mode))
    def send(case: Case[Any]) -> None:
        with prepare(case):
            # the description does not say which ids, names and numbers exist
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

    send()


def list_operations(served: Served) -> list[Operation]:
    description = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
    operations = []
    for result in description.get_all_operations():
        assert isinstance(result, Ok)
        operations.append(result.ok())
    return operations


def can_be_invalid(operation: Operation) -> bool:
    """Whether the description forbids any query or body. Every string is an id of something."""
    has_input = len(operation.query) > 0 or len(operation.body) > 0
    return has_input and operation.path != "/mcp"


def test_requests_get_answers_that_the_description_allows(served: Served) -> None:
    operations = list_operations(served)
    assert len(operations) > 20
    for operation in operations:
        check(operation, VALID, lambda _: nullcontext())
        if can_be_invalid(operation):
            check(operation, INVALID, lambda _: nullcontext())


def test_so_do_requests_about_sessions_and_tasks_that_exist(served: Served) -> None:
    client = Client(served.url)

    @contextmanager
    def use_existing(case: Case[Any]) -> Iterator[None]:
        with client.open(TASK) as session:
            case.path_parameters["id"] = TASK if "tasks" in case.path else session.id
            yield

    for operation in list_operations(served):
        if "{id}" in operation.path:
            check(operation, VALID, use_existing)
            if can_be_invalid(operation):
                check(operation, INVALID, use_existing)
    client.close()
