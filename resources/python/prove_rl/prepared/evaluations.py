"""What the model earned on held-out rows before and after each stage: a file, and a table."""

from __future__ import annotations

import json
import math
from pathlib import Path

from ..client import Json

BEFORE = "before"
"""What the evaluation of the model as it is is called."""

NAMES = {"sft": "after SFT", "grpo": "after GRPO"}
"""What an evaluation after a stage is called."""

COLUMNS = {
    "success": "success",
    "reward": "reward",
    "validity": "rewards/validity/mean",
    "coverage": "rewards/coverage/mean",
    "efficiency": "rewards/efficiency/mean",
    "tokens": "completions/mean_length",
}
"""What the table shows, by TRL's names."""


def read_evaluations(folder: Path) -> dict[str, Json]:
    """The metrics by the names of evaluations, in their order."""
    file = folder / "evaluations.json"
    if not file.exists():
        return {}
    stored: dict[str, Json] = json.loads(file.read_text(encoding="utf-8"))
    return stored


def add_evaluation(folder: Path, name: str, rows: int, measured: Json) -> None:
    """Add what TRL measured, whose keys begin with `eval_`."""
    metrics = {
        column: value
        for column, key in COLUMNS.items()
        if isinstance(value := measured.get(f"eval_{key}"), (int, float)) and math.isfinite(value)
    }
    stored = {**read_evaluations(folder), name: {"rows": rows, **metrics}}
    unfinished = folder / "evaluations.json.tmp"
    unfinished.write_text(f"{json.dumps(stored, indent=2)}\n", encoding="utf-8")
    unfinished.replace(folder / "evaluations.json")


def format_table(folder: Path) -> str:
    """The evaluations under each other; empty if there are none."""
    stored = read_evaluations(folder)
    if not stored:
        return ""
    lines = [["", *COLUMNS]]
    for name, metrics in stored.items():
        lines.append([name, *(format_value(it, metrics.get(it)) for it in COLUMNS)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    ]
    rows = max(it["rows"] for it in stored.values())
    # of two measurements, at a success of a half, where it is widest
    chance = 1.96 * math.sqrt(2 * 0.25 / rows)
    return "\n".join(
        [
            f"{rows} held-out rows, one sampled attempt each",
            *table,
            f"success differs by up to {100 * chance:.0f} points by chance; tokens are those of an attempt",
        ]
    )


def format_value(column: str, value: float | None) -> str:
    if value is None:
        return "–"
    if column == "success":
        return f"{value:.1%}"
    return f"{value:.0f}" if column == "tokens" else f"{value:.3f}"
