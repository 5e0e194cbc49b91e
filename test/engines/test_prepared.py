"""The folder of `prove-rl engine prepare trl`, trained as its README says."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, TASKS, Served, create_python
from prove_rl import Client
from prove_rl.service import Service


@pytest.fixture(name="out")
def prepare_folder(served: Served, tiny_model: Path, tmp_path: Path) -> Path:
    """A folder whose model was given relative to the current one, for two steps on a CPU of both
    stages."""
    out = tmp_path / "trl"
    model = os.path.relpath(tiny_model, tmp_path)
    prepare(tmp_path, served, "--model", model, "--stages", "sft,grpo", "--out", "trl")
    return out


def prepare(cwd: Path, served: Served, *options: str) -> None:
    command = ["node", str(ROOT / "dist/cli.js"), "engine", "prepare", "trl", "--gpus", "0"]
    subprocess.run([*command, "--tasks", str(served.tasks), *options], cwd=cwd, check=True)
    out = cwd / options[-1]
    config = json.loads((out / "config.json").read_text())
    config["grpo"] |= {"max_steps": 2, "save_steps": 1, "max_completion_length": 16}
    config["evaluated"] = 4
    if "sft" in config:
        config["sft"] |= {"max_steps": 2, "save_steps": 1, "learning_rate": 1e-2}
    (out / "config.json").write_text(json.dumps(config))


def launch(out: Path, cwd: Path, launcher: str) -> subprocess.CompletedProcess[str]:
    """Runs launch.py with nothing but the packages of the folder's requirements.txt."""
    command = [str(create_python(out / "requirements.txt")), launcher]
    # the paths of this process would let modules be found that are not in the folder
    variables = {key: it for key, it in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=cwd, env=variables, capture_output=True, check=False, text=True, timeout=600
    )


def test_a_prepared_folder_trains(out: Path, tmp_path: Path) -> None:
    python = create_python(out / "requirements.txt")
    address = kill_after_first_step([str(python), str(out / "launch.py")], out)
    # the service ends with launch.py, and with it the sessions of the step
    deadline = time.monotonic() + 240
    with pytest.raises(ConnectionError):
        while time.monotonic() < deadline:
            Client(address, patience=0).health()
    # as if the disk had lost the end of what was written last
    with open(out / "metrics.jsonl", "a") as metrics:
        metrics.write('{"step": 2, "met')
    (out / "checkpoints/checkpoint-2").mkdir(parents=True, exist_ok=True)
    (out / "checkpoints/checkpoint-2/trainer_state.json").write_text('{"best')

    # in another place, and from outside, as engines.md says
    out = Path(shutil.move(out, tmp_path / "moved"))
    result = launch(out, tmp_path, "moved/launch.py")
    assert result.returncode == 0, result.stderr[-4_000:]
    assert "'rewards/coverage/mean'" in result.stdout
    # the stages that were done are not done again
    assert "PROVE_STAGE=sft" not in result.stdout
    assert (out / "sft/model/model.safetensors").exists()
    table = result.stdout.splitlines()[-6:]
    assert table[0] == "4 held-out rows, one sampled attempt each"
    assert table[1].split()[:2] == ["success", "reward"]
    assert [it[:12].strip() for it in table[2:5]] == ["before", "after SFT", "after GRPO"]
    assert (out / "model/model.safetensors").exists()
    for step in (1, 2):
        lines = (out / f"groups/{step}.jsonl").read_text().splitlines()
        attempts = [json.loads(it) for it in lines]
        assert [it["step"] for it in attempts] == [step] * 4
        assert len({it["task"] for it in attempts}) == 1
        assert [it["attempt"] for it in attempts] == [0, 1, 2, 3]
        # a random model calls nothing, so all attempts at a task earn the same
        assert [it["advantage"] for it in attempts] == [0] * 4
    steps = read_metrics(out)
    assert [it["step"] for it in steps] == [1, 2]
    assert all(it["attempts"] == 4 and it["seconds"]["total"] > 0 for it in steps)
    assert json.loads((out / "ended.json").read_text()) == {"by": "steps", "step": 2}
    command = ["node", "dist/cli.js", "replay", str(out / "groups/1.jsonl")]
    replayed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr

    # from inside, as its README says
    again = launch(out, out, "launch.py")
    assert again.returncode == 0, again.stderr[-4_000:]
    assert "all steps are done" in again.stdout
    assert read_metrics(out) == steps


def test_a_template_that_trl_does_not_know(
    served: Served, tiny_model: Path, tmp_path: Path
) -> None:
    """It is used if it writes calls as JSON between tags, as that of PROVE does, or refused."""
    model = tmp_path / "model"
    shutil.copytree(tiny_model, model)
    (model / "chat_template.jinja").write_text(
        "{% for it in messages %}{{ it.content }}{% endfor %}"
    )
    # as `prove-rl model --template default` writes it
    settings = {"format": "prove/huggingface@1", "template": "default"}
    (model / "prove.json").write_text(json.dumps(settings))
    prepare(tmp_path, served, "--model", "./model", "--out", "trl")
    out = tmp_path / "trl"
    trained = launch(out, out, "launch.py")
    assert trained.returncode == 0, trained.stderr[-4_000:]
    assert (out / "groups/2.jsonl").exists()

    (out / "chat_template.jinja").unlink()
    shutil.rmtree(out / "checkpoints")
    refused = launch(out, out, "launch.py")
    assert refused.returncode != 0
    assert f"TRL cannot train {model} with its chat template" in refused.stderr
    assert str(out / "chat_template.jinja") in refused.stderr
    assert "Traceback" not in refused.stderr.partition("TRL cannot train")[0]


def test_a_model_that_is_not_there_is_named(out: Path) -> None:
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(config | {"model": "../gone/model"}))
    refused = launch(out, out, "launch.py")
    assert refused.returncode != 0
    assert "there is no model folder" in refused.stderr


def test_a_service_that_is_killed_ends_its_training(
    served: Served, tiny_model: Path, tmp_path: Path
) -> None:
    out = prepare_endless(served, tiny_model, tmp_path, "trl")
    with start(out) as process:
        wait_for_first_step(out, process)
        listed = subprocess.run(
            ["ps", "-ww", "--ppid", str(process.pid), "-o", "pid=,args="],
            capture_output=True,
            check=True,
            text=True,
        )
        (service,) = [it for it in listed.stdout.splitlines() if " serve " in it]
        os.kill(int(service.split()[0]), signal.SIGKILL)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert re.fullmatch(
        "the service ended with -9: start the training again; .*checkpoint.*", said.splitlines()[-1]
    )
    assert "Traceback" not in said
    assert list_processes(out) == []


def test_a_service_that_is_killed_ends_two_trainings(
    served: Served, tiny_model: Path, tmp_path: Path
) -> None:
    """They did not start it, and wait for a minute whether it comes back."""
    folders = [prepare_endless(served, tiny_model, tmp_path, name) for name in ("one", "two")]
    with Service.start(TASKS) as service:
        processes = [start(it, service.url) for it in folders]
        for out, process in zip(folders, processes, strict=True):
            wait_for_first_step(out, process)
        os.kill(service.pid, signal.SIGKILL)
        for out, process in zip(folders, processes, strict=True):
            with process:
                _, said = process.communicate(timeout=300)
            assert process.returncode == 1
            assert re.fullmatch(
                f".* {service.url}/.* failed .*; check that prove-rl serve runs at this address, "
                "and start the training again: .*checkpoint",
                said.splitlines()[-1],
            )
            assert "Traceback" not in said
            assert list_processes(out) == []


def prepare_endless(served: Served, model: Path, cwd: Path, name: str) -> Path:
    """A folder for a training that goes on until it is ended."""
    prepare(cwd, served, "--model", str(model), "--out", name)
    out = cwd / name
    config = json.loads((out / "config.json").read_text())
    config["grpo"] |= {"max_steps": 100_000, "save_steps": 100_000}
    config["evaluated"] = 0
    (out / "config.json").write_text(json.dumps(config))
    return out


def start(out: Path, url: str | None = None) -> subprocess.Popen[str]:
    """Starts launch.py, with a service of its own or the one at this address."""
    variables = {key: it for key, it in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.Popen(
        [str(create_python(out / "requirements.txt")), str(out / "launch.py")],
        env=variables | ({} if url is None else {"PROVE_URL": url}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_after_first_step(launch: list[str], out: Path) -> str:
    """Kills launch.py in the second step, and then the engine. Returns the service's address."""
    with subprocess.Popen(launch, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0].removeprefix("PROVE_URL=")
        wait_for_first_step(out, process)
        process.kill()
        process.wait(10)
        # the service ends by itself
        for pid in list_processes(out):
            os.kill(pid, signal.SIGKILL)
    return address


def wait_for_first_step(out: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 600
    while not (out / "metrics.jsonl").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)


def list_processes(out: Path) -> list[int]:
    """The processes of a training, whose command lines have its folder."""
    found = []
    for it in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"{out}/".encode() in it.read_bytes():
                found.append(int(it.parent.name))
    return found


def read_metrics(run: Path) -> list[Any]:
    """The steps of a run, as PROVE reads them."""
    program = (
        "import { readMetrics, readRun } from './src/run/folder.ts';"
        "readRun(process.argv[1]);"
        "console.log(JSON.stringify(readMetrics(process.argv[1])));"
    )
    command = ["node", "--input-type=module", "-e", program, str(run)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    log = json.loads(result.stdout)
    assert log["skipped"] == [], result.stdout
    steps: list[Any] = log["lines"]
    return steps
