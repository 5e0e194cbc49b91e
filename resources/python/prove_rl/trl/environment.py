"""The environment of a rollout, whose methods are the tools of the catalog."""

from __future__ import annotations

import functools
import json
import keyword
import operator
import time
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any, ClassVar, Literal

from ..client import BUSY, Client, Json, ProveError, create_error, create_session_id

WHOLE_TASK = -1
"""The turn of a row that is for the whole task."""


class Environment:
    """One rollout at a time. Its public methods are the tools, which subclasses add.

    A session is opened with the first call, so that a rollout without calls needs none.
    """

    _client: ClassVar[Client]
    _opening: ClassVar[Json]
    _patience: ClassVar[float]

    def __init__(self) -> None:
        self._session_id = create_session_id()
        self._task: Json = {}
        self._seq = 0
        self._fault: str | None = None
        self._score: Json = {}
        self._scored: object = None

    def reset(self, **row: Any) -> None:
        """Begin an attempt at the task of a row."""
        turn = row["turn"]
        self._task = {
            "task_id": row["task_id"],
            "trajectory_id": row["trajectory_id"],
            **({} if turn == WHOLE_TASK else {"turn": turn}),
            **self._opening,
        }
        self._session_id = create_session_id()
        self._seq = 0
        self._fault = None

    def _open(self) -> Json:
        return {"do": "open", "session_id": self._session_id, "body": self._task}

    def _call(self, name: str, arguments: Json) -> str:
        """The result of a call, as the model should see it."""
        call = {"seq": self._seq + 1, "name": name, "arguments": arguments}
        requests = [{"do": "call", "session_id": self._session_id, "body": call}]
        if self._seq == 0:
            requests.insert(0, self._open())
        try:
            result = self._run(requests)
        except Exception as error:
            # TRL shows the error to the model and goes on
            self._fault = str(error)
            raise
        self._seq += 1
        text: str = result["text"]
        return text

    def _run(self, requests: list[Json]) -> Json:
        """The result of the last request. Waits while the service has too many sessions."""
        deadline = time.monotonic() + self._patience
        while True:
            results = self._client.batch(requests)
            is_busy = any(it["status"] == BUSY for it in results)
            if not is_busy or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        return [read_result(it) for it in results][-1]

    def _finish(self, score: Json) -> list[Json]:
        """The requests that score the attempt and close its session.

        The messages are executed anew, so it does not matter if the session had to be opened
        again. An attempt in which the service failed is not scored.
        """
        requests = [self._open(), {"do": "score", "session_id": self._session_id, "body": score}]
        return [*requests, {"do": "delete", "session_id": self._session_id}]


def create_environment_class(
    tools: Sequence[Json], client: Client, opening: Json, patience: float
) -> type[Environment]:
    """An environment that has these tools as methods, as TRL expects them."""
    functions = [it["function"] for it in tools]
    members = {
        "_client": client,
        "_opening": opening,
        "_patience": patience,
        **{it["name"]: create_method(it) for it in functions},
    }
    return type("ProveEnvironment", (Environment,), members)


def create_method(function: Json) -> Callable[..., str]:
    """The method of a tool, with a signature and a docstring, from which transformers derives a
    schema. Calls may have any other arguments, too: the service checks them."""
    name = function["name"]

    # a tool may have an argument named self
    def call(self: Environment, /, **arguments: Any) -> str:
        return self._call(name, arguments)

    parameters = list_parameters(function["parameters"])
    signature = Signature(
        [Parameter("self", Parameter.POSITIONAL_ONLY), *parameters], return_annotation=str
    )
    described = function["parameters"].get("properties", {})
    lines = [f"    {it.name}: {format_line(described[it.name], it.name)}" for it in parameters]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = "\n".join(
        [format_line(function, name)] + (["", "Args:", *lines] if lines else [])
    )
    call.__annotations__ = {**{it.name: it.annotation for it in parameters}, "return": str}
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def list_parameters(schema: Json) -> list[Parameter]:
    """The arguments of a schema as parameters. Names that Python does not allow are left out.

    An argument that is not required has the default None but not the type, because null is none
    of its values.
    """
    required = schema.get("required", [])
    names = [it for it in schema.get("properties", {}) if it.isidentifier() and it != "self"]
    # only these may be called `from`; those without a default come first
    has_keywords = any(keyword.iskeyword(it) for it in names)
    kind = Parameter.POSITIONAL_ONLY if has_keywords else Parameter.KEYWORD_ONLY
    if has_keywords:
        names.sort(key=lambda it: it not in required)
    return [
        Parameter(
            name,
            kind,
            annotation=create_type(schema["properties"][name]),
            default=Parameter.empty
            if name in required
            else schema["properties"][name].get("default"),
        )
        for name in names
    ]


PYTHON_TYPES = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}


def create_type(schema: Json) -> Any:
    """The Python type of the values of a schema."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values and all(isinstance(it, (str, int, float, bool)) or it is None for it in values):
        return Literal[tuple(values)]
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return functools.reduce(operator.or_, map(create_type, branches))
    kind = schema.get("type")
    if isinstance(kind, list):
        return create_type({"anyOf": [{**schema, "type": it} for it in kind]})
    if kind == "array":
        return list[create_type(schema.get("items", {}))]  # type: ignore[misc]
    if kind == "object":
        return dict[str, Any]
    return PYTHON_TYPES.get(str(kind), Any)


def format_line(described: Json, name: str) -> str:
    return " ".join(described.get("description", name).split()) or name


def read_result(result: Json) -> Json:
    """The body of a batch's result. Raises a `ProveError` if the request was refused."""
    body: Json = result["body"]
    if result["status"] >= 300:
        raise create_result_error(result)
    return body


def create_result_error(result: Json) -> ProveError:
    """The error of a batch's result that was refused."""
    return create_error(result["status"], json.dumps(result["body"]).encode())
