"""The client against the service: attempts, errors, and connections that are cut."""

import asyncio
import json
import math
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import prove_rl
import pytest
from conftest import Served
from prove_rl import AsyncClient, Client, ProveError, Session
from prove_rl.client import create_session_id, format_body
from typing_extensions import Self

TASK = "payments-11-0"
"""A task whose user speaks three times."""


@pytest.fixture(name="client")
def create_client(served: Served) -> Iterator[Client]:
    client = Client(served.url)
    yield client
    assert client.health()["sessions"] == 0
    client.close()


def list_teacher_messages(served: Served, task_id: str = TASK) -> list[Any]:
    """The teacher's messages, in OpenAI's format."""
    rows = map(json.loads, served.tasks.read_text().splitlines())
    events = next(it for it in rows if it["id"] == task_id)["trajectory"]["events"]
    messages: dict[int, Any] = {}
    for event in events:
        if event["kind"] not in ("assistant", "call"):
            continue
        message = messages.setdefault(event["message"], {"role": "assistant", "content": ""})
        if event["kind"] == "assistant":
            message["content"] = event["text"]
            continue
        call = {"name": event["name"], "arguments": json.dumps(event["arguments"])}
        calls = message.setdefault("tool_calls", [])
        calls.append({"id": f"call{len(calls)}", "type": "function", "function": call})
    return list(messages.values())


def play(session: Session, messages: list[Any]) -> Any:
    for message in messages:
        answers = session.message(message)
        assert len(answers) >= len(message.get("tool_calls", []))
    assert session.ended == "policy"
    return session.score()


def test_the_teacher_of_a_task_has_the_highest_reward(served: Served, client: Client) -> None:
    with client.open(TASK) as session:
        assert session.attempt["messages"][-1]["role"] == "user"
        assert session.tools
        score = play(session, list_teacher_messages(served))
        assert score["success"] is True
        assert score["components"]["coverage"] == 1
        recorded = client.scores([session.trajectory()])
        assert recorded[0]["reward"] == score["reward"]


def test_messages_with_calls_can_be_sent_call_by_call(served: Served, client: Client) -> None:
    with client.open(TASK) as whole, client.open(TASK) as parts:
        expected = play(whole, list_teacher_messages(served))
        for message in list_teacher_messages(served):
            for i, call in enumerate(message.get("tool_calls", [])):
                function = call["function"]
                arguments = json.loads(function["arguments"])
                parts.call(function["name"], arguments, parallel=i > 0)
            if "tool_calls" not in message:
                parts.user(message["content"])
        assert parts.ended == "policy"
        assert parts.score()["components"] == expected["components"]
        assert parts.state() == {**whole.state(), "session_id": parts.id}


def test_a_fork_has_a_state_of_its_own(client: Client) -> None:
    with client.open_session(servers=["banking"], seed=7) as session, session.fork() as fork:
        before = session.state("banking")["digest"]
        result = fork.call("banking_deposit", {"account_id": "acc_101", "amount": 5})
        assert not result["is_error"], result["text"]
        assert fork.state("banking")["digest"] != before
        assert session.state("banking")["digest"] == before


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
def test_a_number_that_the_service_does_not_know_is_a_bad_argument(
    client: Client, number: str
) -> None:
    arguments = json.loads(f'{{"account_id": "acc_101", "amount": {number}}}')
    with client.open_session(servers=["banking"]) as session:
        result = session.call("banking_deposit", arguments)
        assert json.loads(result["text"])["error_type"] == "invalid_params"
    call = {"function": {"name": "banking_deposit", "arguments": arguments}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    with client.open("banking-11-1") as session:
        (answer,) = session.message(message)
        assert "error_type" in answer["content"]
        # half of the third that an offered tool with bad arguments is worth
        assert session.score()["components"]["validity"] == pytest.approx(1 / 6)
        told = session.score(messages=[message])
        assert told["components"]["validity"] == pytest.approx(1 / 6)


def test_other_values_of_a_request_stay_what_they_are() -> None:
    largest = int(sys.float_info.max)
    kept = {"whole": 2**60, "digits": "7" * 400, "long": largest, "none": None, "list": [0.1, True]}
    assert format_body(kept) == json.dumps(kept)
    changed = {**kept, "list": [math.nan, {"x": -math.inf}], "more": -10 * largest}
    expected = {**kept, "list": ["NaN", {"x": "-Infinity"}], "more": str(-10 * largest)}
    assert json.loads(format_body(changed)) == expected


def test_a_refusal_has_a_code_and_says_what_to_do(client: Client) -> None:
    with pytest.raises(ProveError) as refused:
        client.open("banking-0-0")
    assert refused.value.code == "UNKNOWN_TASK"
    assert refused.value.status == 404
    assert "banking-0-0" in refused.value.message


def test_tasks_are_listed_without_their_goals(served: Served, client: Client) -> None:
    tasks = client.tasks()
    assert len(tasks) == len(served.tasks.read_text().splitlines())
    assert len(client.tasks("train")) < len(tasks)
    assert not isinstance(client.task(tasks[0]["task_id"]).get("goals"), list)


def test_a_service_that_is_not_there_is_named(served: Served) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=f"{url}/health failed .* check that prove-rl"):
            Client(url, patience=0.05).health()
    with pytest.raises(ValueError, match="is not the URL of a service"):
        Client("localhost:8970")


def test_many_sessions_run_side_by_side_in_asyncio(served: Served) -> None:
    messages = list_teacher_messages(served)

    async def attempt(client: AsyncClient) -> Any:
        async with await client.open(TASK) as session:
            for message in messages:
                await session.message(message)
            assert session.ended == "policy"
            return (await session.score())["reward"]

    async def attempt_all() -> list[Any]:
        async with AsyncClient(served.url, connections=8) as client:
            return await asyncio.gather(*(attempt(client) for _ in range(40)))

    rewards = asyncio.run(attempt_all())
    assert len(rewards) == 40
    assert len(set(rewards)) == 1


def test_calls_are_executed_once_though_connections_are_cut(served: Served) -> None:
    messages = list_teacher_messages(served)
    with Client(served.url).open(TASK) as session:
        expected = play(session, messages)
    with CuttingProxy(served.url) as proxy:
        client = Client(proxy.url)
        with client.open(TASK) as session:
            score = play(session, messages)
        client.close()
    assert proxy.cuts >= len(messages)
    assert {**score, "trajectory_id": ""} == {**expected, "trajectory_id": ""}
    assert served.count_sessions() == 0


def test_a_batch_that_cannot_be_repeated_safely_is_not_repeated(served: Served) -> None:
    id = create_session_id()
    balance = {"name": "banking_get_balance", "arguments": {"account_id": "acc_101"}}
    calls = [{"do": "call", "session_id": id, "body": {"seq": seq, **balance}} for seq in (1, 2)]
    client = Client(served.url)
    with client.open_session(id, servers=["banking"]):
        with CuttingProxy(served.url) as proxy:
            cut = Client(proxy.url)
            with pytest.raises(ConnectionError):
                cut.batch(calls)
            repeated = cut.batch(calls[1:])
            cut.close()
        assert [it["status"] for it in repeated] == [200]


def test_an_old_python_is_told_which_one_it_needs() -> None:
    program = "import sys; sys.version_info = (3, 8, 20); import prove_rl"
    folder = Path(prove_rl.__file__).parents[1]
    result = subprocess.run(
        [sys.executable, "-c", program], check=False, cwd=folder, capture_output=True, text=True
    )
    assert "prove_rl needs Python 3.10 or later, and this is 3.8" in result.stderr


class CuttingProxy:
    """Forwards requests, and cuts every second connection when the response has arrived."""

    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self._target = (host, int(port))
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.cuts = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()

    def _run(self) -> None:
        is_cut = True
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            client.settimeout(120)
            with client, socket.create_connection(self._target, 120) as service:
                service.sendall(read_message(client))
                response = read_message(service)
                if is_cut:
                    self.cuts += 1
                else:
                    client.sendall(response)
            is_cut = not is_cut


def read_message(connection: socket.socket) -> bytes:
    """A request or a response, to the end of its body."""
    message = b""
    length: int | None = None
    while length is None or len(message) < length:
        part = connection.recv(1 << 16)
        if not part:
            break
        message += part
        head, separator, _ = message.partition(b"\r\n\r\n")
        if separator and length is None:
            found = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            length = len(head) + len(separator) + (int(found.group(1)) if found else 0)
    return message
