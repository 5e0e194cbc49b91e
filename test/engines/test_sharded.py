"""The folder of `prove-rl engine prepare trl`, trained in processes that share the weights."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import ROOT, Served
from test_prepared import read_metrics
from transformers import Qwen3ForCausalLM

# where environment.ts installs it
DEEPSPEED = ROOT / ".engines/deepspeed"
STRATEGIES = {
    "fsdp": ["--use_fsdp", "--fsdp_version", "2"],
    "deepspeed": [
        *["--use_deepspeed", "--zero_stage", "3", "--zero3_init_flag", "true"],
        *["--zero3_save_16bit_model", "true", "--gradient_accumulation_steps", "1"],
    ],
}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights_in_parts(served: Served, tiny_model: Path, tmp_path: Path, strategy: str) -> None:
    out = tmp_path / "trl"
    command = ["node", "dist/cli.js", "engine", "prepare", "trl", "--gpus", "0"]
    command += ["--tasks", str(served.tasks), "--model", str(tiny_model), "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True)
    config = json.loads((out / "config.json").read_text())
    # with use_cpu, accelerate ignores DeepSpeed
    config["grpo"] |= {"max_steps": 2, "save_steps": 2, "use_cpu": False}
    config["grpo"] |= {"learning_rate": 0.1, "max_completion_length": 4_000}
    (out / "config.json").write_text(json.dumps(config))
    data = out / "data/train.jsonl"
    # rows of whole tasks, in which the teacher makes calls
    rows = [it for it in data.read_text().splitlines() if json.loads(it)["turn"] == -1]
    data.write_text("".join(f"{it}\n" for it in sorted(rows, key=len)[:4]))

    launch = [sys.executable, "-m", "accelerate.commands.launch", *STRATEGIES[strategy]]
    launch += ["--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no"]
    launch += ["--dynamo_backend", "no", "--main_process_port", "0"]
    launch += [str(Path(__file__).parent / "train_sharded.py"), str(out), str(served.tasks)]
    paths = [ROOT / "test/engines", *([DEEPSPEED] if strategy == "deepspeed" else [])]
    variables = {
        "PROVE_URL": served.url,
        "PYTHONPATH": os.pathsep.join(str(it) for it in paths),
        "ACCELERATE_TORCH_DEVICE": "cpu",
        "DS_ACCELERATOR": "cpu",
        "OMP_NUM_THREADS": "1",
    }
    result = subprocess.run(
        launch,
        env={**os.environ, **variables},
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr[-4_000:]
    # all attempts of both processes
    for step in (1, 2):
        lines = (out / f"groups/{step}.jsonl").read_text().splitlines()
        attempts = [json.loads(it) for it in lines]
        groups: dict[str, list[int]] = {}
        for it in attempts:
            groups.setdefault(it["task"], []).append(it["attempt"])
        assert list(groups.values()) == [[0, 1, 2, 3]] * 2
        # of the four, the first is the teacher's, and the third calls nothing
        calls = [it["breakdown"]["n"] for it in attempts]
        assert calls[0] > 0 < calls[4] and calls[2] == calls[6] == 0
        assert attempts[0]["success"] and attempts[4]["success"]
    steps = read_metrics(out)
    assert [it["attempts"] for it in steps] == [8, 8]
    assert [it["faults"] for it in steps] == [0, 0]
    assert all(math.isfinite(it["loss"]) and it["gradientNorm"] > 0 for it in steps)
    assert served.count_sessions() == 0
    # the whole model is saved, and all of it was trained
    before = Qwen3ForCausalLM.from_pretrained(tiny_model).state_dict()
    after = Qwen3ForCausalLM.from_pretrained(out / "model").state_dict()
    assert {name: it.shape for name, it in after.items()} == {
        name: it.shape for name, it in before.items()
    }
    assert not any(torch.equal(it, before[name]) for name, it in after.items())
