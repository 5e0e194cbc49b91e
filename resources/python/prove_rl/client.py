"""Client of the HTTP API of `prove-rl serve`, on the standard library alone.

`Client` is for threads: each thread that uses it has one connection, which is kept open.
`AsyncClient` has the same methods for asyncio. A task is attempted in a session:

    client = Client("http://127.0.0.1:8970")
    with client.open("banking-11-1") as session:
        conversation = session.attempt["messages"]
        while session.ended is None:
            message = policy(conversation, session.tools)
            conversation += [message, *session.message(message)]
        print(session.score()["reward"])

Requests that fail because a connection was cut or the service was busy are repeated. That is safe:
calls and messages are numbered, and the service executes a number once.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.client
import json
import math
import os
import re
import secrets
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self

Json = dict[str, Any]
Result = TypeVar("Result")

CONNECTION_ERRORS = (http.client.HTTPException, OSError)
"""What is raised if the service cannot be reached or a connection is cut."""

BUSY = 503
LOST_PATIENCE = 0.05
"""For how many seconds requests are repeated to a service that could not be reached before."""

PAGE = 1_000
"""The most tasks that the service lists in one response."""

LONG_NUMBER = re.compile(r"\d{309}")
"""As many digits as the largest number of the service has."""


class ProveError(Exception):
    """A request that the service refused.

    `code` is stable, for example `OUT_OF_ORDER`; the message says what to do.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message


def create_session_id() -> str:
    """An id for a new session, with 128 random bits."""
    return secrets.token_hex(16)


class Client:
    """The service at a URL, for use by any number of threads.

    `token` is by default that of the environment variable PROVE_TOKEN. `timeout` is the time for
    one request, and `patience` the time during which failed requests are repeated, in seconds.
    `on_lost` is called before a request is repeated because its connection was lost; it may raise
    an error if that is of no use.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60,
        patience: float = 60,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the URL of a service, such as http://127.0.0.1:8970")
        self.url = url.rstrip("/")
        self._is_secure = parts.scheme == "https"
        self._address = parts.netloc.rpartition("@")[2]
        self._path = parts.path.rstrip("/")
        self._token = os.environ.get("PROVE_TOKEN") if token is None else token
        self._timeout = timeout
        self._patience = patience
        self._on_lost = on_lost
        self._is_lost = False
        self._local = threading.local()

    def health(self) -> Json:
        """The service's state: sessions, capacity, tasks, version."""
        return self._request("GET", "/health")

    def catalog(self) -> Json:
        """All tools as function schemas, the servers, and the names of the reward's parts."""
        return self._request("GET", "/v1/catalog")

    def tasks(self, split: str | None = None) -> list[Json]:
        """Ids and properties of the tasks, or those of one split."""
        found: list[Json] = []
        offset: int | None = 0
        while offset is not None:
            query = {"offset": offset, "limit": PAGE, **({} if split is None else {"split": split})}
            page = self._request("GET", f"/v1/tasks?{urllib.parse.urlencode(query)}")
            found += page["tasks"]
            offset = page["next_offset"]
        return found

    def task(self, task_id: str) -> Json:
        """A task as a policy sees it at its start: messages and tools, but not its goals."""
        return self._request("GET", f"/v1/tasks/{urllib.parse.quote(task_id, safe='')}")

    def open(self, task_id: str, **options: Any) -> Session:
        """Open a session for an attempt at a task.

        The options are `turn`, `trajectory_id`, `policy`, `max_messages`, `owner`, `ttl_s`.
        """
        return self.open_session(task_id=task_id, **options)

    def open_session(self, session_id: str | None = None, **options: Any) -> Session:
        """Open a session without a task, for example with `servers`, `fixture` and `seed`."""
        chosen = session_id or create_session_id()
        return Session(self, self._request("PUT", f"/v1/sessions/{chosen}", options))

    def scores(self, trajectories: Sequence[Json], **options: Any) -> list[Json]:
        """Score recorded attempts anew. One that cannot be scored has an `error` instead."""
        body = {"trajectories": list(trajectories), **options}
        scores: list[Json] = self._request("POST", "/v1/scores", body)["scores"]
        return scores

    def batch(self, requests: Sequence[Json]) -> list[Json]:
        """Run many requests to sessions, `{"do", "session_id", "body"}`, in their order.

        Returns `{"status", "body"}` for each, also for those that were refused. If the connection
        is cut, the batch is repeated only if no session has more than one numbered request in it;
        otherwise the `ConnectionError` is raised.
        """
        numbered = [it["session_id"] for it in requests if "seq" in it.get("body", {})]
        can_repeat = len(set(numbered)) == len(numbered)
        body = {"requests": list(requests)}
        results: list[Json] = self._request(
            "POST", "/v1/sessions:batch", body, can_repeat=can_repeat
        )["results"]
        return results

    def close(self) -> None:
        """Close the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            del self._local.connection

    def _request(
        self, method: str, path: str, body: Json | None = None, *, can_repeat: bool = True
    ) -> Json:
        content = None if body is None else format_body(body).encode()
        start = time.monotonic()
        deadline = start + self._patience
        for delay in create_delays():
            try:
                status, retry_after, text = self._send(method, path, content)
                self._is_lost = False
            except CONNECTION_ERRORS as error:
                if self._on_lost is not None:
                    self._on_lost()
                # who has waited for the service once does not wait for each request again
                limit = start + LOST_PATIENCE if self._is_lost else deadline
                is_late = time.monotonic() + delay > limit
                if not can_repeat or is_late:
                    self._is_lost = is_late
                    raise ConnectionError(
                        f"{method} {self.url}{path} failed ({type(error).__name__}: {error}); "
                        "check that prove-rl serve runs at this address"
                    ) from error
                time.sleep(delay)
                continue
            if status < 300:
                return parse_object(text)
            refusal = create_error(status, text)
            wait = max(delay, float(retry_after or 0))
            if status != BUSY or time.monotonic() + wait > deadline:
                raise refusal
            time.sleep(wait)
        raise AssertionError("the delays have no end")

    def _send(self, method: str, path: str, content: bytes | None) -> tuple[int, str | None, bytes]:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            create = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
            connection = create(self._address, timeout=self._timeout)
            self._local.connection = connection
        headers = {} if content is None else {"content-type": "application/json"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        try:
            connection.request(method, self._path + path, content, headers)
            response = connection.getresponse()
            return response.status, response.getheader("retry-after"), response.read()
        except BaseException:
            # what is left of this response must not be read as the next one
            self.close()
            raise


class Session:
    """An open session. Leaving a `with` block closes it."""

    def __init__(self, client: Client, opened: Json) -> None:
        self.client = client
        self.id: str = opened["session_id"]
        self.attempt: Json = opened.get("attempt", {})
        """The conversation at the start: `messages`, `tools`, and what else the service told."""
        self.mcp: Json = opened["mcp"]
        self.tools: list[Json] = list(self.attempt.get("tools", []))
        """The tools on offer now."""
        self.ended: str | None = self.attempt.get("ended")
        """How the attempt ended: "policy", "limit" or "fault". None while it goes on."""
        self._seq = 0

    def call(self, name: str, arguments: Any, *, parallel: bool = False) -> Json:
        """Execute a call. The result's `text` is what a model should see."""
        body = {"name": name, "arguments": arguments}
        return self._write("call", {**body, "parallel": True} if parallel else body)

    def message(self, message: Json, *, cut: bool = False) -> list[Json]:
        """Add a message of the policy, in OpenAI's format, to the attempt.

        Returns the messages that follow: the results of its calls or, if it has none, what the
        user says. `cut`: a token limit cut the message off.
        """
        response = self._write("message", {"message": message, **({"cut": True} if cut else {})})
        messages: list[Json] = self._follow(response)["messages"]
        return messages

    def user(self, assistant_text: str, *, cut: bool = False) -> str | None:
        """What the user says to a message without calls; None if the attempt has ended."""
        body = {"assistant_text": assistant_text, **({"cut": True} if cut else {})}
        message: str | None = self._follow(self._write("user", body))["message"]
        return message

    def score(self, **options: Any) -> Json:
        """The reward of the attempt with its parts: `reward`, `components`, `success`, `reasons`.

        The options are `profile`, `messages`, `cut`, `evidence`, `prefix`, `prefixes`.
        """
        return self._post("score", options)

    def trajectory(self) -> Json:
        """The attempt so far, as a line of a trajectory file."""
        return self.client._request("GET", f"/v1/sessions/{self.id}/trajectory")

    def state(self, server: str | None = None) -> Json:
        """The state of all servers, or of one."""
        query = "" if server is None else f"?{urllib.parse.urlencode({'server': server})}"
        return self.client._request("GET", f"/v1/sessions/{self.id}/state{query}")

    def fork(self) -> Session:
        """A new session that starts from this one's state."""
        return Session(self.client, self._post("fork", {"session_id": create_session_id()}))

    def close(self) -> None:
        """Delete the session. Deleting it again does nothing."""
        self.client._request("DELETE", f"/v1/sessions/{self.id}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _post(self, action: str, body: Json) -> Json:
        return self.client._request("POST", f"/v1/sessions/{self.id}/{action}", body)

    def _write(self, action: str, body: Json) -> Json:
        response = self._post(action, {"seq": self._seq + 1, **body})
        # a request that is refused does not use up its number
        self._seq += 1
        return response

    def _follow(self, response: Json) -> Json:
        self.tools += response["tools"]
        self.ended = response["ended"]
        return response


class AsyncClient:
    """`Client` for asyncio. Its requests run in at most `connections` threads."""

    def __init__(self, url: str, *, connections: int = 64, **options: Any) -> None:
        self._client = Client(url, **options)
        self._threads = ThreadPoolExecutor(connections, "prove")

    async def health(self) -> Json:
        return await self._run(self._client.health)

    async def catalog(self) -> Json:
        return await self._run(self._client.catalog)

    async def tasks(self, split: str | None = None) -> list[Json]:
        return await self._run(self._client.tasks, split)

    async def task(self, task_id: str) -> Json:
        return await self._run(self._client.task, task_id)

    async def open(self, task_id: str, **options: Any) -> AsyncSession:
        return await self.open_session(task_id=task_id, **options)

    async def open_session(self, session_id: str | None = None, **options: Any) -> AsyncSession:
        session = await self._run(self._client.open_session, session_id, **options)
        return AsyncSession(self, session)

    async def scores(self, trajectories: Sequence[Json], **options: Any) -> list[Json]:
        return await self._run(self._client.scores, trajectories, **options)

    async def batch(self, requests: Sequence[Json]) -> list[Json]:
        return await self._run(self._client.batch, requests)

    async def close(self) -> None:
        """End the threads and close their connections."""
        self._threads.shutdown()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _run(self, work: Callable[..., Result], *values: Any, **options: Any) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, functools.partial(work, *values, **options)
        )


class AsyncSession:
    """`Session` for asyncio."""

    def __init__(self, client: AsyncClient, session: Session) -> None:
        self._client = client
        self._session = session

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def attempt(self) -> Json:
        return self._session.attempt

    @property
    def mcp(self) -> Json:
        return self._session.mcp

    @property
    def tools(self) -> list[Json]:
        return self._session.tools

    @property
    def ended(self) -> str | None:
        return self._session.ended

    async def call(self, name: str, arguments: Any, *, parallel: bool = False) -> Json:
        return await self._client._run(self._session.call, name, arguments, parallel=parallel)

    async def message(self, message: Json, *, cut: bool = False) -> list[Json]:
        return await self._client._run(self._session.message, message, cut=cut)

    async def user(self, assistant_text: str, *, cut: bool = False) -> str | None:
        return await self._client._run(self._session.user, assistant_text, cut=cut)

    async def score(self, **options: Any) -> Json:
        return await self._client._run(self._session.score, **options)

    async def trajectory(self) -> Json:
        return await self._client._run(self._session.trajectory)

    async def state(self, server: str | None = None) -> Json:
        return await self._client._run(self._session.state, server)

    async def fork(self) -> AsyncSession:
        return AsyncSession(self._client, await self._client._run(self._session.fork))

    async def close(self) -> None:
        await self._client._run(self._session.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


def create_delays() -> Iterator[float]:
    """The pauses before requests are repeated, in seconds: short ones first, then 2."""
    delay = 0.01
    while True:
        yield delay
        delay = min(2, delay * 2)


def format_body(body: Json) -> str:
    """A body as JSON, in which numbers that the service does not know are texts.

    In the calls of a model, Python reads `NaN`, `1e999` and whole numbers of any length. As a
    number, each makes the service refuse the request; as a text, it is a bad argument of the call.
    """
    with contextlib.suppress(ValueError):
        text = json.dumps(body, allow_nan=False)
        if not LONG_NUMBER.search(text):
            return text
    return json.dumps(json.loads(json.dumps(body), parse_constant=str, parse_int=parse_integer))


def parse_integer(digits: str) -> int | str:
    """A whole number, or its digits if it is larger than the largest number of the service."""
    return digits if math.isinf(float(digits)) else int(digits)


def parse_object(text: bytes) -> Json:
    parsed: Json = json.loads(text)
    return parsed


def create_error(status: int, text: bytes) -> ProveError:
    """The error of a response, which a proxy may have written instead of the service."""
    try:
        error = parse_object(text)["error"]
        return ProveError(status, error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return ProveError(status, f"HTTP_{status}", text[:200].decode(errors="replace"))
