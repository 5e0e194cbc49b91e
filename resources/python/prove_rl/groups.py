"""Writes what a training did at each step as PROVE's runs have it, so that the editor shows it.

The attempts of a step are a group file in the folder `groups`, and its metrics are a line of
metrics.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, pstdev, stdev
from typing import Any

from .client import Json

PARTS = ("validity", "coverage", "efficiency", "name", "argument")

ERRORS = {"tool": "unknown-tool", "arguments": "bad-arguments", "refused": "refused"}
"""The kinds of errors by their names in the metrics, and the outcomes of calls."""


def write_groups(folder: Path, step: int, attempts: Sequence[Json], *, epsilon: float) -> None:
    """Write the attempts of a step to `<step>.jsonl`.

    An attempt is its `turn`, its `reward`, and the `line` that the service made of it. `epsilon`
    is what the engine adds to the deviation of the rewards of a group.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = create_group_lines(step, attempts, epsilon)
    unfinished = folder / f"{step}.jsonl.tmp"
    unfinished.write_text("".join(f"{json.dumps(it)}\n" for it in lines), encoding="utf-8")
    unfinished.replace(folder / f"{step}.jsonl")


def create_group_lines(step: int, attempts: Sequence[Json], epsilon: float) -> Iterator[Json]:
    """The lines of a group file."""
    groups: dict[Any, list[Json]] = {}
    for it in attempts:
        groups.setdefault((it["line"]["task"], it["turn"]), []).append(it)
    for group in groups.values():
        rewards = [it["reward"] for it in group]
        mean = sum(rewards) / len(rewards)
        deviation = stdev(rewards) if len(rewards) > 1 else 0.0
        for attempt, it in enumerate(group):
            yield {
                "format": "prove/group@1",
                "step": step,
                "attempt": attempt,
                "advantage": (it["reward"] - mean) / (deviation + epsilon),
                "clipped": [],
                **it["line"],
            }


def append_metrics(run: Path, step: int, measured: dict[str, float], faults: int) -> None:
    """Append the metrics of a step to metrics.jsonl of a run folder that has its group file.

    `measured` is what the engine measured: loss, gradientNorm, learningRate, tokensPerRollout, kl,
    clipShare, entropy and seconds. `faults` is the number of attempts that could not be scored.
    """
    with open(run / "groups" / f"{step}.jsonl", encoding="utf-8") as lines:
        attempts = [json.loads(line) for line in lines]
    metrics = create_step_metrics(step, attempts, measured, faults)
    with open(run / "metrics.jsonl", "a", encoding="utf-8") as file:
        file.write(f"{json.dumps(metrics)}\n")


def cut_metrics(run: Path, step: int) -> None:
    """Remove what an interrupted training did after the step that it goes on from."""
    file = run / "metrics.jsonl"
    if file.exists():
        lines = file.read_text(encoding="utf-8").splitlines()
        kept = [it for it in lines if 0 < read_step(it) <= step]
        unfinished = run / "metrics.jsonl.tmp"
        unfinished.write_text("".join(f"{it}\n" for it in kept), encoding="utf-8")
        unfinished.replace(file)


def read_step(line: str) -> int:
    """The step of a line of metrics, or 0 for one that was cut off while it was written."""
    try:
        step: int = json.loads(line)["step"]
        return step
    except ValueError:
        return 0


def write_end(run: Path, step: int) -> None:
    """Say that all steps are done."""
    ended = {"by": "steps", "step": step}
    (run / "ended.json").write_text(f"{json.dumps(ended)}\n", encoding="utf-8")


def create_step_metrics(
    step: int, attempts: Sequence[Json], measured: dict[str, float], faults: int
) -> Json:
    """A line of metrics.jsonl, from the attempts of a step and from what the engine measured."""

    def average(values: Sequence[float]) -> float:
        return fmean(values) if values else 0.0

    def average_of(value: Callable[[Json], float]) -> float:
        return average([value(it) for it in attempts])

    rewards = [it["breakdown"]["total"] for it in attempts]
    with_tools = [it["breakdown"]["parts"] for it in attempts if it["breakdown"]["rule"] == "tool"]
    answers = [
        it["breakdown"]["extras"]["answer"]["score"]
        for it in attempts
        if "answer" in it["breakdown"]["extras"]
    ]
    outcomes = [outcome for it in attempts for outcome in list_outcomes(it)]
    groups: dict[Any, set[float]] = {}
    for it in attempts:
        key = (it["task"], it["trajectory"]["header"].get("turn"))
        groups.setdefault(key, set()).add(it["breakdown"]["total"])
    seconds = measured["seconds"]
    return {
        "step": step,
        "method": "grpo",
        **{name: value for name, value in measured.items() if name != "seconds"},
        "reward": {"mean": average(rewards), "std": pstdev(rewards) if rewards else 0.0},
        "paper": average_of(lambda it: it["paper"]),
        "parts": {
            **{name: average([it[name]["score"] for it in with_tools]) for name in PARTS},
            **({"answer": average(answers)} if answers else {}),
        },
        "success": average_of(lambda it: it["success"]),
        "calls": average_of(lambda it: it["breakdown"]["n"]),
        "budget": average_of(lambda it: it["breakdown"]["budget"]),
        "errors": {
            # a call that cannot be parsed is text to TRL, and an unknown tool to verl's loop
            "syntax": 0,
            **{name: average([it == kind for it in outcomes]) for name, kind in ERRORS.items()},
        },
        "cut": average_of(lambda it: it["trajectory"]["events"][-1]["by"] == "limit"),
        "zeroVariance": average([len(it) == 1 for it in groups.values()]),
        "attempts": len(attempts),
        "faults": faults,
        "rolloutsPerSecond": len(attempts) / seconds if seconds else 0.0,
        "seconds": {"total": seconds},
    }


def list_outcomes(attempt: Json) -> list[str]:
    """The outcomes of the policy's own calls, without the teacher's in the turns before."""
    calls = [it for it in attempt["trajectory"]["events"] if it["kind"] == "call"]
    outcomes: list[str] = [it["outcome"] for it in calls]
    return outcomes[len(outcomes) - attempt["breakdown"]["n"] :]
