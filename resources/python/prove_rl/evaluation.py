"""What a model earned on held-out rows, before and after a training."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        rows = [["step", *COLUMNS]] + [
            [str(step), *(format_value(name, values.get(name)) for name in COLUMNS)]
            for step, values in self.steps.items()
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(it.rjust(width) for it, width in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join(lines)


def format_value(name: str, value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    if name == "success":
        return f"{value:.1%}"
    return f"{value:.0f}" if name == "tokens" else f"{value:.3f}"
