"""`prove_rl.verifiers` in verifiers' own environment, with a scripted endpoint as the model."""

import asyncio
import contextlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import prove_rl.verifiers
import pytest
import verifiers.v1 as vf
from conftest import TASKS, Attempt, Served, find_example
from prove_rl import AsyncClient, Client


@pytest.fixture(name="endpoint")
def serve_attempts(attempts: list[Attempt]) -> Iterator[str]:
    """The URL of an endpoint whose model `n` writes the messages of the attempt n.

    `n/slow` takes three seconds for every message but the first.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            written = sum(it["role"] == "assistant" for it in request["messages"])
            number, _, kind = request["model"].partition("/")
            message = attempts[int(number)].messages[written]
            if kind == "slow" and written > 0:
                time.sleep(3)
            calls = [
                {
                    "id": f"call{written}-{i}",
                    "type": "function",
                    "function": {**function, "arguments": json.dumps(function["arguments"])},
                }
                for i, function in enumerate(it["function"] for it in message.get("tool_calls", []))
            ]
            choice = {
                "index": 0,
                "message": {**message, **({"tool_calls": calls} if calls else {})},
                "finish_reason": "tool_calls" if calls else "stop",
            }
            body = {"id": "1", "object": "chat.completion", "created": 0, "choices": [choice]}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            content = json.dumps({**body, "model": "scripted", "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            # verifiers does not wait for an answer after a time limit
            with contextlib.suppress(ConnectionError):
                self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def play(
    served: Served,
    endpoint: str,
    attempts: list[Attempt],
    numbers: list[int],
    kind: str = "",
    **agent: Any,
) -> list[Any]:
    """The traces of rollouts of verifiers, at the same time, that make these attempts."""
    tasks = sorted({attempts[i].task_id for i in numbers})
    taskset = {"id": "prove_rl", "url": served.url, "tasks": tasks}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset, "agent": agent}))
    rows = {it.data.task_id: it for it in env.taskset}
    client = vf.EvalClientConfig(base_url=endpoint, api_key_var="NO_KEY")

    async def play_all() -> list[Any]:
        async with env.serving():
            contexts = [vf.ModelContext(model=f"{i}{kind}", client=client) for i in numbers]
            rollouts = [
                env.run_episode(rows[attempts[i].task_id], context)
                for i, context in zip(numbers, contexts, strict=True)
            ]
            return await asyncio.gather(*rollouts)

    episodes = asyncio.run(play_all())
    assert [len(it.traces) for it in episodes] == [1] * len(numbers)
    assert served.count_sessions() == 0
    return [it.traces[0] for it in episodes]


# on PROVE's own servers, and on a third-party server
@pytest.mark.parametrize("served", ["example", "memory"], indirect=True)
def test_scores_are_those_in_process(
    served: Served, endpoint: str, attempts: list[Attempt]
) -> None:
    traces = play(served, endpoint, attempts, [*range(len(attempts))])
    menus = {it: Client(served.url).task(it)["tools"] for it in {it.task_id for it in attempts}}
    for attempt, trace in zip(attempts, traces, strict=True):
        assert trace.ok, trace.errors
        assert {name: it.value for name, it in trace.rewards.items()} == {
            "reward": attempt.here["reward"]
        }
        expected = {
            name: it for name, it in attempt.here.items() if name != "reward" and it is not None
        }
        assert trace.metrics == expected, attempt
        assert trace.num_turns == len(attempt.messages)
        # the tools are those of the task, and what the user brings
        names = [it.name for it in trace.tools]
        menu = [it["function"]["name"] for it in menus[attempt.task_id]]
        assert names[: len(menu)] == menu
    assert {it.task.key for it in traces} == {it.task_id for it in attempts}


def test_a_limit_of_verifiers_ends_an_attempt(
    served: Served, endpoint: str, attempts: list[Attempt]
) -> None:
    number = next(i for i, it in enumerate(attempts) if it.here["success"])
    [trace] = play(served, endpoint, attempts, [number], max_turns=1)
    assert trace.ok, trace.errors
    assert trace.stop_condition == "max_turns"
    assert trace.metrics["success"] == 0
    assert trace.metrics["coverage"] < attempts[number].here["coverage"]


def test_a_time_limit_of_verifiers_ends_an_attempt(
    served: Served, endpoint: str, attempts: list[Attempt]
) -> None:
    number = next(i for i, it in enumerate(attempts) if it.here["success"])
    limit = {"rollout": 1.5}
    [trace] = play(served, endpoint, attempts, [number], "/slow", timeout=limit)
    assert trace.ok, trace.errors
    assert trace.stop_condition == "agent_timeout"
    assert trace.metrics["success"] == 0
    assert trace.rewards["reward"].value < attempts[number].here["reward"]


def test_a_rollout_in_which_the_service_fails_has_no_reward(
    served: Served, endpoint: str, attempts: list[Attempt], monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(_: str) -> AsyncClient:
        return AsyncClient("http://127.0.0.1:1", patience=0)

    monkeypatch.setattr(prove_rl.verifiers, "connect", connect)
    [trace] = play(served, endpoint, attempts, [0])
    assert not trace.ok
    assert trace.rewards == {}
    assert "check that prove-rl serve runs" in trace.last_error.message


def test_tasks_that_the_service_does_not_offer(served: Served) -> None:
    config = vf.resolve_env_config(
        {"taskset": {"id": "prove_rl", "url": served.url, "tasks": ["gone-1"]}}
    )
    with pytest.raises(ValueError, match="does not offer gone-1"):
        list(vf.load_environment(config).taskset)


def test_the_example_of_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TASKS, "my.tasks.jsonl")
    exec(find_example("Evaluating with verifiers"), {})  # noqa: S102
    heldout = [json.loads(it) for it in TASKS.read_text().splitlines()]
    expected = sum(it["split"] == "heldout-server" for it in heldout)
    assert capsys.readouterr().out.strip() == str(expected)
