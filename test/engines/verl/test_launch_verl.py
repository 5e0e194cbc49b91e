"""What launch.py of a folder for verl makes of the attempts and the log of a training."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Served
from prove_rl.prepared import launch_verl as launcher
from verl_worker import choose_rows, create_worker, run_batch, write_call

LISTING = write_call("banking_list_accounts", {}) + "<|im_end|>"


def test_a_step_becomes_groups_and_metrics(
    verl_folder: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "FOLDER", verl_folder)
    monkeypatch.setattr(launcher, "LOG", verl_folder / "verl.jsonl")
    monkeypatch.setattr(launcher, "ATTEMPTS", verl_folder / "attempts")
    monkeypatch.setenv("PROVE_URL", served.url)
    monkeypatch.setenv("PROVE_RECORD", str(launcher.ATTEMPTS))
    worker = create_worker(
        verl_folder, "data.max_prompt_length=6000", "data.max_response_length=3000"
    )
    batch = choose_rows(worker, ["banking-11-1"], 4)
    batch.non_tensor_batch["global_steps"] = np.array([1] * 4)
    run_batch(worker, batch, lambda prompt, number: LISTING if number % 2 else "Done.<|im_end|>")
    log = launcher.StepLog()
    whole = json.dumps({"step": 1, "data": {"actor/loss": 0.5, "timing_s/step": 2}})
    launcher.LOG.write_text(f'{whole}\n{{"step": 2, "da')
    log.read()
    log.read()
    groups = verl_folder / "groups/1.jsonl"
    attempts = [json.loads(it) for it in groups.read_text().splitlines()]
    assert [it["attempt"] for it in attempts] == [0, 1, 2, 3]
    assert sum(it["advantage"] for it in attempts) == pytest.approx(0, abs=1e-6)
    assert max(it["advantage"] for it in attempts) > 0.5
    (metrics,) = (verl_folder / "metrics.jsonl").read_text().splitlines()
    assert json.loads(metrics)["loss"] == 0.5
    assert json.loads(metrics)["attempts"] == 4
    replay = ["node", "dist/cli.js", "replay", str(groups)]
    subprocess.run(replay, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_packages_that_are_missing_are_named(verl_folder: Path) -> None:
    # vLLM needs a GPU
    command = [sys.executable, str(verl_folder / "launch.py")]
    result = subprocess.run(command, capture_output=True, check=False, text=True)
    assert result.returncode == 2
    assert "vllm is not installed: run pip install -r requirements.txt" in result.stdout
