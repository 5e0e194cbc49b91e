"""The same messages have the same score wherever they are made.

`attemptHere.ts` makes the attempts in its own process and over MCP. verl's are in verl/.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Attempt, Served
from prove_rl import Client
from prove_rl.client import create_session_id
from prove_rl.trl import Prove
from test_openenv import GenericEnvClient

Json = dict[str, Any]

# on PROVE's own servers, and on a third-party server
pytestmark = pytest.mark.parametrize("served", ["example", "memory"], indirect=True)


def read_score(score: Json) -> Json:
    return {"reward": score["reward"], "success": score["success"], **score["components"]}


def test_some_attempts_are_perfect_and_others_are_not(
    attempts: list[Attempt], served: Served
) -> None:
    successes = [it.here["success"] for it in attempts]
    if served.folder != ROOT:
        assert len(attempts) > 50
        assert 15 <= sum(successes) <= len(attempts) - 15
        assert all(it.task_id.startswith("memory") for it in attempts)
        return
    assert len(attempts) > 180
    assert 60 <= sum(successes) <= len(attempts) - 60
    for part in ["validity", "coverage", "efficiency", "name", "argument", "answer"]:
        assert len({it.here[part] for it in attempts}) > 2
    assert {it.turns for it in attempts} == {1, 2, 3}


def test_as_recorded(attempts: list[Attempt], served: Served, tmp_path: Path) -> None:
    file = tmp_path / "scripted.trajectory.jsonl"
    file.write_text("".join(it.trajectory for it in attempts))
    printed = served.run("dist/cli.js", "score", file, "--tasks", served.tasks, "--json")
    scores = [json.loads(line) for line in printed.splitlines()]
    for it, score in zip(attempts, scores, strict=True):
        expected = {**it.here, "total": it.here["reward"], "answer": it.here["answer"]}
        for name in ["total", "success", "validity", "coverage", "answer"]:
            assert score.get(name) == pytest.approx(expected[name], abs=1e-6), it


def test_over_mcp(attempts: list[Attempt]) -> None:
    for it in attempts:
        score = read_score(it.mcp)
        if it.policy == "solver:everything-once":
            # its calls do not wait for each other's results; over MCP, each is a message of its own
            for part in ["reward", "coverage"]:
                assert score[part] >= it.here[part], it
                score[part] = it.here[part]
        assert score == it.here, it


def test_over_v1(attempts: list[Attempt], served: Served) -> None:
    client = Client(served.url)
    for it in attempts:
        with client.open(it.task_id) as session:
            for message in it.messages:
                session.message(message)
            assert read_score(session.score()) == it.here, it


def test_over_v1_in_batches(attempts: list[Attempt], served: Served) -> None:
    requests: list[Json] = []
    for it in attempts:
        session = create_session_id()
        requests += [
            {"do": "open", "session_id": session, "body": {"task_id": it.task_id}},
            {"do": "score", "session_id": session, "body": {"messages": it.messages}},
            {"do": "delete", "session_id": session},
        ]
    scores = [it["body"] for it in Client(served.url).batch(requests)[1::3]]
    assert [read_score(it) for it in scores] == [it.here for it in attempts]


def test_through_openenv(attempts: list[Attempt], served: Served) -> None:
    with GenericEnvClient(base_url=served.url).sync() as env:
        for it in attempts:
            env.reset(task_id=it.task_id)
            for message in it.messages:
                step = env.step({"type": "message", "message": message})
            if not step.done:
                step = env.step({"type": "finish"})
            assert read_score(step.observation["reward_breakdown"]) == it.here, it
            assert step.reward == it.here["reward"]


def test_through_trl(attempts: list[Attempt], served: Served) -> None:
    """Environments as `GRPOTrainer` uses them, which has no user who speaks again."""
    prove = Prove(served.url, eos_token_id=7)
    single = [it for it in attempts if it.turns == 1]
    environments: list[Any] = []
    completions: list[list[Json]] = []
    for it in single:
        environment: Any = prove.Environment()
        environment.reset(task_id=it.task_id, turn=-1, trajectory_id=create_session_id())
        completion: list[Json] = []
        for message in it.messages:
            completion.append(message)
            for call in message.get("tool_calls", []):
                name, arguments = call["function"]["name"], call["function"]["arguments"]
                # TRL executes no call of a tool that it does not know
                if hasattr(environment, name):
                    text = getattr(environment, name)(**arguments)
                    completion.append({"role": "tool", "name": name, "content": text})
        environments.append(environment)
        completions.append(completion)
    successes: list[float] = []
    options: Json = {"log_metric": lambda name, value: successes.append(value)}
    values = {
        it.__name__: it(completions, [[1, 7]] * len(single), environments, **options)
        for it in prove.reward_functions
    }
    for i, it in enumerate(single):
        expected = {name: value for name, value in it.here.items() if name != "success"}
        assert {name: value[i] for name, value in values.items()} == expected, it
    assert successes[0] == pytest.approx(sum(it.here["success"] for it in single) / len(single))
    assert served.count_sessions() == 0
