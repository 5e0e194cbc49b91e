"""Trains the tiny Qwen3 in the processes of `accelerate launch`; test_trl.py starts it."""

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from conftest import Served
from prove_rl.trl import end_process
from test_trl import create_trainer
from tiny_qwen import ScriptedGeneration


def sum_parameters(trainer: Any) -> float:
    total: float = sum(it.detach().double().abs().sum().item() for it in trainer.model.parameters())
    return total


url, rows, out, tasks = sys.argv[1:]
trainer = create_trainer(
    Served(url, Path(tasks), Path.cwd()), Path(rows), Path(out), 4, max_steps=2
)
generation = ScriptedGeneration(trainer.processing_class, Path(tasks))
before = sum_parameters(trainer)
with patch.object(trainer.model, "generate", side_effect=generation):
    trainer.train()
Path(out, f"rank{trainer.accelerator.process_index}.json").write_text(
    json.dumps(
        {
            "processes": trainer.accelerator.num_processes,
            "history": trainer.state.log_history,
            "before": before,
            "after": sum_parameters(trainer),
        }
    )
)
end_process(trainer)
