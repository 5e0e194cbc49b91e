"""The folder of `prove-rl engine prepare trl`, trained as its README says."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Served, create_python
from prove_rl import Client


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


def kill_after_first_step(launch: list[str], out: Path) -> str:
    """Kills launch.py in the second step, and then the engine. Returns the service's address."""
    with subprocess.Popen(
        launch, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0].removeprefix("PROVE_URL=")
        deadline = time.monotonic() + 600
        while not (out / "metrics.jsonl").exists():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait(10)
        for pid in list_group(process.pid):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            # the service ends by itself
            if b"serve" not in command:
                os.kill(pid, signal.SIGKILL)
    return address


def list_group(group: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid="], capture_output=True, check=True, text=True
    )
    rows = [[int(it) for it in line.split()] for line in listed.stdout.splitlines()]
    return [pid for pid, own in rows if own == group]


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
