"""The program and the services that the package finds, starts and ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, TASKS
from prove_rl import Client, ServiceError
from prove_rl.service import Service, find_node
from prove_rl.trl import Prove


def test_a_service_ends_with_its_block() -> None:
    with Service.start(TASKS) as service:
        assert Client(service.url).health()["status"] == "healthy"
    with pytest.raises(ConnectionError):
        Client(service.url, patience=0).health()


def test_a_service_ends_with_a_process_that_is_killed() -> None:
    code = (
        "import sys, time; from prove_rl.service import Service;"
        "print(Service.start(sys.argv[1]).url, flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(TASKS)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "resources/python")},
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        process.kill()
    deadline = time.monotonic() + 120
    with pytest.raises(ConnectionError):
        while time.monotonic() < deadline:
            Client(url, patience=0).health()


def read_error(tasks: Path, port: int = 0) -> str:
    with pytest.raises(ServiceError) as caught:
        Service.start(tasks, port=port)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_busy_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert str(port) in read_error(TASKS, port)


def test_a_file_that_cannot_be_served_is_named(tmp_path: Path) -> None:
    task = json.loads(TASKS.read_text().splitlines()[0])
    file = tmp_path / "other.tasks.jsonl"
    file.write_text(json.dumps({**task, "format": "prove/task@99"}) + "\n")
    assert "other.tasks.jsonl" in read_error(file)
    assert "gone.tasks.jsonl" in read_error(tmp_path / "gone.tasks.jsonl")


def test_a_service_that_dies_is_noticed_at_once() -> None:
    with Service.start(TASKS) as service:
        client = Client(service.url, patience=3_600, on_lost=service.check)
        os.kill(service.pid, signal.SIGKILL)
        with pytest.raises(ServiceError, match=r"the service ended with -9.*start the training"):
            client.health()


def test_two_trainings_use_one_service() -> None:
    with Prove(tasks=TASKS) as first, Prove(first.url, tasks=TASKS) as second:
        row = first.train[0]
        environments = [first.Environment(), second.Environment()]
        for it in environments:
            it.reset(**row)
        completion = [{"role": "assistant", "content": "Done."}]
        rewards = [
            prove.reward_functions[0]([completion], [[7]], [environment])
            for prove, environment in zip((first, second), environments, strict=True)
        ]
        assert rewards[0] == rewards[1]
        second.close()
        assert first.client.health()["sessions"] == 0


def test_without_node_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServiceError, match="no Node.js on the PATH: run pip install"):
        find_node()
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v18.20.4\n")
    old.chmod(0o755)
    with pytest.raises(ServiceError, match=r"is Node.js v18.20.4: run pip install"):
        find_node()
    old.write_text("#!/bin/sh\necho v20.12.0\n")
    assert find_node() == str(old)


@pytest.mark.parametrize("version", ["1.9.0", "0.29"])
def test_an_old_trl_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prove_rl.trl.version.version", lambda _name: version)
    with pytest.raises(ImportError, match=rf"TRL {version} is too old: run pip install"):
        Prove("http://127.0.0.1:1")


def test_a_trl_without_what_is_used_of_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import trl

    monkeypatch.setattr("prove_rl.trl.version.version", lambda _name: "2.0.0")
    monkeypatch.delattr(trl.GRPOTrainer, "_tool_call_loop")
    with pytest.raises(ImportError, match="TRL 2.0.0 is too new .*_tool_call_loop"):
        Prove("http://127.0.0.1:1")
