"""What the model earned on held-out rows before and after each stage: a file, and a table."""

from __future__ import annotations

import json
import math
from pathlib import Path

from .. import evaluation
from ..client import Json

BEFORE = "before"
"""The name of the evaluation before the first stage."""

NAMES = {"sft": "after SFT", "grpo": "after GRPO"}
"""The names of the evaluations after the stages."""


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
        for column, key in evaluation.COLUMNS.items()
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
    rows = max(it["rows"] for it in stored.values())
    # of two measurements, at a success of a half, where it is widest
    chance = 1.96 * math.sqrt(2 * 0.25 / rows)
    return "\n".join(
        [
            f"{rows} held-out rows, one sampled attempt each",
            evaluation.format_table("", stored),
            f"success differs by up to {100 * chance:.0f} points by chance; tokens are those of an attempt",
        ]
    )
