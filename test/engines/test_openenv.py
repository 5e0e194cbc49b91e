"""Episodes through the real OpenEnv client against the real service."""

import importlib.util
import json
import shutil
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import TASKS, Served, find_example
from prove_rl import Client


def skip_package_code(name: str, folder: Path) -> None:
    """Makes a package importable without its own code, which imports what servers need."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package


spec = importlib.util.find_spec("openenv")
assert spec and spec.origin
CORE = Path(spec.origin).parent / "core"
skip_package_code("openenv.core", CORE)
skip_package_code("openenv.core.env_server", CORE / "env_server")

from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient

Json = dict[str, Any]
KEYS = {
    "task_id",
    "trajectory_id",
    "ended",
    "profile",
    "reward",
    "unscorable",
    "rule",
    "components",
    "success",
    "reasons",
    "differences",
    "notes",
}


def read_tasks(served: Served) -> list[Json]:
    lines = served.tasks.read_text().splitlines()
    tasks: list[Json] = [json.loads(line) for line in lines]
    return [task for task in tasks if len(task["turns"]) == 1][:6]


def list_calls(task: Json) -> list[Json]:
    """The calls of the task's teacher."""
    calls: list[Json] = [it for it in task["trajectory"]["events"] if it["kind"] == "call"]
    return calls


@pytest.fixture(autouse=True)
def no_session_is_left(served: Served) -> Iterator[None]:
    yield
    assert served.count_sessions() == 0


def test_the_same_calls_have_the_same_score_as_over_v1(served: Served) -> None:
    for task in read_tasks(served):
        calls = list_calls(task)
        with GenericEnvClient(base_url=served.url).sync() as env:
            first = env.reset(task_id=task["id"], seed=task["seed"])
            assert first.observation["messages"][1]["role"] == "user"
            assert (first.reward, first.done) == (0, False)
            for call in calls:
                action = {
                    "type": "call_tool",
                    "tool_name": call["name"],
                    "arguments": call["arguments"],
                }
                step = env.step(action)
                assert (step.reward, step.done) == (0, False)
                assert (step.observation["error"] is None) == (call["outcome"] == "ok")
            assert env.state()["step_count"] == len(calls)
            last = env.step({"type": "finish", "text": "Done."})
            breakdown = last.observation["reward_breakdown"]
        with Client(served.url).open(task["id"]) as session:
            for call in calls:
                session.call(call["name"], call["arguments"])
            session.user("Done.")
            expected = session.score()
        assert last.done
        assert breakdown == expected
        assert set(breakdown) == KEYS
        assert last.reward == breakdown["reward"]


def test_the_client_for_tools_lists_and_calls_them(served: Served) -> None:
    task = read_tasks(served)[0]
    # its method has a parameter of its own that is called name
    call = next(it for it in list_calls(task) if "name" not in it["arguments"])
    with MCPToolClient(base_url=served.url).sync() as env:
        assert len(env.list_tools(use_cache=False)) > 300
        env.reset(task_id=task["id"])
        tools = env.list_tools(use_cache=False)
        assert call["name"] in [it.name for it in tools]
        assert all(it.input_schema["type"] == "object" for it in tools)
        json.loads(env.call_tool(call["name"], **call["arguments"]))
        assert "there is no tool fly" in env.call_tool("fly")


def test_errors_have_codes_and_leave_the_connection_open(served: Served) -> None:
    with GenericEnvClient(base_url=served.url).sync() as env:
        with pytest.raises(RuntimeError, match="EXECUTION_ERROR"):
            env.step({"type": "finish"})
        with pytest.raises(RuntimeError, match="no task nowhere.*EXECUTION_ERROR"):
            env.reset(task_id="nowhere")
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            env.reset()
        assert (
            env.reset(seed=0).observation["task_id"]
            == json.loads(served.tasks.read_text().splitlines()[0])["id"]
        )


def test_an_episode_that_is_not_finished_ends_with_its_connection(served: Served) -> None:
    env = GenericEnvClient(base_url=served.url).sync()
    env.connect()
    env.reset(seed=1)
    assert served.count_sessions() == 1
    env.close()


def test_the_example_of_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TASKS, "my.tasks.jsonl")
    names: Json = {}
    exec(find_example("OpenEnv"), names)  # noqa: S102
    assert names["first"]["messages"][-1]["role"] == "user"
    assert "'coverage'" in capsys.readouterr().out
