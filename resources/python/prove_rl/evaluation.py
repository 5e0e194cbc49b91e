"""What a model earned on held-out rows, before and after a training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = {
    "success": "success",
    "reward": "reward",
    "validity": "rewards/validity/mean",
    "coverage": "rewards/coverage/mean",
    "efficiency": "rewards/efficiency/mean",
    "name": "rewards/name/mean",
    "argument": "rewards/argument/mean",
    "tokens": "completions/mean_length",
}
"""What the table shows, by TRL's names."""


class Evaluation:
    """The evaluations of a training by their steps. As a text it is a table."""

    def __init__(self, history: Sequence[dict[str, Any]]) -> None:
        by_step = {it["step"]: it for it in history if "eval_reward" in it}
        self.steps: dict[int, dict[str, float]] = {
            step: {
                name: float(it[f"eval_{key}"])
                for name, key in COLUMNS.items()
                if f"eval_{key}" in it
            }
            for step, it in sorted(by_step.items())
        }
        """The mean values by step; success is absent if no row has a goal."""

    def __str__(self) -> str:
        return format_table("step", {str(step): it for step, it in self.steps.items()})


def format_table(heading: str, evaluations: Mapping[str, Mapping[str, float]]) -> str:
    """Evaluations under each other, each with its name in the first column."""
    rows = [[heading, *COLUMNS]] + [
        [name, *(format_value(it, values.get(it)) for it in COLUMNS)]
        for name, values in evaluations.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(it.rjust(width) for it, width in zip(row, widths, strict=True)) for row in rows
    )


def format_value(name: str, value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    if name == "success":
        return f"{value:.1%}"
    return f"{value:.0f}" if name == "tokens" else f"{value:.3f}"
