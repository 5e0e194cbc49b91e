"""Writes the metrics of a TRL training as PROVE's runs have them, so that the editor draws them.

The attempts are read from the group files that `prove_trl.Prove(record=...)` writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from prove_client import Json
from transformers import TrainerCallback

PARTS = ("validity", "coverage", "efficiency", "name", "argument")

ERRORS = {"tool": "unknown-tool", "arguments": "bad-arguments", "refused": "refused"}
"""The kinds of errors by their names in the metrics, and the outcomes of calls."""


class RunMetrics(TrainerCallback):
    """Appends a line to metrics.jsonl of a run folder at each step. Log every step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Remove what an interrupted training did after the checkpoint that it goes on from."""
        if not state.is_world_process_zero:
            return
        (self._folder / "ended.json").unlink(missing_ok=True)
        file = self._folder / "metrics.jsonl"
        if file.exists():
            lines = file.read_text(encoding="utf-8").splitlines()
            kept = [it for it in lines if json.loads(it)["step"] <= state.global_step]
            file.write_text("".join(f"{it}\n" for it in kept), encoding="utf-8")

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Json | None = None, **_: Any
    ) -> None:
        groups = self._folder / "groups" / f"{state.global_step}.jsonl"
        if not state.is_world_process_zero or not logs or "loss" not in logs:
            return
        if not groups.exists():
            return
        with open(groups, encoding="utf-8") as lines:
            attempts = [json.loads(line) for line in lines]
        faults = round(logs.get("unscorable", 0) * args.world_size)
        metrics = create_step_metrics(state.global_step, attempts, faults, logs)
        with open(self._folder / "metrics.jsonl", "a", encoding="utf-8") as file:
            file.write(f"{json.dumps(metrics)}\n")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            ended = {"by": "steps", "step": state.global_step}
            (self._folder / "ended.json").write_text(f"{json.dumps(ended)}\n", encoding="utf-8")


def create_step_metrics(step: int, attempts: Sequence[Json], faults: int, logs: Json) -> Json:
    """A line of metrics.jsonl, from the attempts of a step and from what TRL logs."""

    def average(values: Sequence[float]) -> float:
        return fmean(values) if values else 0.0

    def average_of(value: Callable[[Json], float]) -> float:
        return average([value(it) for it in attempts])

    rewards = [it["breakdown"]["total"] for it in attempts]
    with_tools = [it["breakdown"]["parts"] for it in attempts if it["breakdown"]["rule"] == "tool"]
    outcomes = [outcome for it in attempts for outcome in list_outcomes(it)]
    groups: dict[Any, set[float]] = {}
    for it in attempts:
        key = (it["task"], it["trajectory"]["header"].get("turn"))
        groups.setdefault(key, set()).add(it["breakdown"]["total"])
    seconds = logs.get("step_time", 0.0)
    return {
        "step": step,
        "method": "grpo",
        "loss": logs["loss"],
        "gradientNorm": logs.get("grad_norm", 0.0),
        "learningRate": logs.get("learning_rate", 0.0),
        "reward": {"mean": average(rewards), "std": pstdev(rewards) if rewards else 0.0},
        "paper": average_of(lambda it: it["paper"]),
        "parts": {name: average([it[name]["score"] for it in with_tools]) for name in PARTS},
        "success": average_of(lambda it: it["success"]),
        "calls": average_of(lambda it: it["breakdown"]["n"]),
        "budget": average_of(lambda it: it["breakdown"]["budget"]),
        # what cannot be parsed is text to TRL
        "errors": {
            "syntax": 0,
            **{name: average([it == kind for it in outcomes]) for name, kind in ERRORS.items()},
        },
        "cut": average_of(lambda it: it["trajectory"]["events"][-1]["by"] == "limit"),
        "zeroVariance": average([len(it) == 1 for it in groups.values()]),
        "attempts": len(attempts),
        "faults": faults,
        "tokensPerRollout": logs.get("completions/mean_length", 0.0),
        "rolloutsPerSecond": len(attempts) / seconds if seconds else 0.0,
        "kl": logs.get("kl", 0.0),
        "clipShare": logs.get("clip_ratio/region_mean", 0.0),
        "entropy": logs.get("entropy", 0.0),
        "seconds": {"total": seconds},
    }


def list_outcomes(attempt: Json) -> list[str]:
    """The outcomes of the policy's own calls, without the teacher's in the turns before."""
    calls = [it for it in attempt["trajectory"]["events"] if it["kind"] == "call"]
    outcomes: list[str] = [it["outcome"] for it in calls]
    return outcomes[len(outcomes) - attempt["breakdown"]["n"] :]
