"""Writes the metrics of a TRL training as PROVE's runs have them, so that the editor draws them.

The attempts are read from the group files that `Prove(record=...)` writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from ..alarms import find_alarms
from ..client import Json
from ..groups import append_metrics, cut_metrics, write_end

LOGS = {
    "loss": "loss",
    "gradientNorm": "grad_norm",
    "learningRate": "learning_rate",
    "tokensPerRollout": "completions/mean_length",
    "kl": "kl",
    "clipShare": "clip_ratio/region_mean",
    "entropy": "entropy",
    "seconds": "step_time",
}
"""What TRL logs, by our names."""


class RunMetrics(TrainerCallback):
    """Appends a line to metrics.jsonl of a run folder at each step. Log every step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._raised: set[str] = set()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Remove what an interrupted training did after the checkpoint that it goes on from."""
        if not state.is_world_process_zero:
            return
        (self._folder / "ended.json").unlink(missing_ok=True)
        cut_metrics(self._folder, state.global_step)

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Json | None = None, **_: Any
    ) -> None:
        groups = self._folder / "groups" / f"{state.global_step}.jsonl"
        if not state.is_world_process_zero or not logs or "loss" not in logs:
            return
        if not groups.exists():
            return
        measured = {name: logs.get(key, 0.0) for name, key in LOGS.items()}
        faults = round(logs.get("unscorable", 0) * args.world_size)
        append_metrics(self._folder, state.global_step, measured, faults)
        self._print_alarms(state.global_step)

    def _print_alarms(self, step: int) -> None:
        """Say what goes wrong, each kind once."""
        lines = (self._folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        for kind, text in find_alarms([json.loads(it) for it in lines]).items():
            if kind not in self._raised:
                self._raised.add(kind)
                print(f"alarm at step {step}: {text}", flush=True)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            write_end(self._folder, state.global_step)
