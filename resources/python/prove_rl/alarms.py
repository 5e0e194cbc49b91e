"""Signs in the metrics of the last steps that a training is not going well.

They are those of PROVE's own trainer, with the same limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean

from .client import Json

WINDOW = 5
"""Steps over which shares are averaged."""

FLAT, MANY_FLAT, ENTROPY, CUT, FAULTS, TOOL, KL = 0.8, 0.5, 0.01, 0.3, 0.3, 0.2, 0.5


def find_alarms(steps: Sequence[Json]) -> dict[str, str]:
    """What was found after these steps of GRPO, which are lines of metrics.jsonl, by its kind."""
    last = steps[-1:]
    if any(not math.isfinite(it[key]) for it in last for key in ("loss", "gradientNorm")):
        return {"not-a-number": "the loss or the gradient is not a number: lower the learning rate"}
    recent = steps[-WINDOW:]
    if len(recent) < WINDOW:
        return {}

    def mean(read: Callable[[Json], float]) -> float:
        return fmean(read(it) for it in recent)

    flat = mean(lambda it: it["zeroVariance"])
    entropy = mean(lambda it: it["entropy"])
    cut = mean(lambda it: it["cut"])
    faults = mean(lambda it: it["faults"] / max(1, it["attempts"] + it["faults"]))
    tool = mean(lambda it: it["errors"]["tool"])
    kl = mean(lambda it: it["kl"])
    same = "of the groups give no gradient, because all attempts earn the same"
    alarms: dict[str, str] = {}
    if flat > FLAT:
        alarms["flat-groups"] = (
            f"{flat:.0%} {same}: the tasks are too easy or too hard for the model"
        )
    elif flat > MANY_FLAT:
        alarms["many-flat-groups"] = f"{flat:.0%} {same}: other tasks would train it faster"
    if entropy < ENTROPY:
        alarms["entropy"] = (
            f"the entropy is {entropy:.4f} per token: the model hardly varies its attempts, so it has"
            " nothing to learn from"
        )
    if cut > CUT:
        alarms["cut"] = (
            f"{cut:.0%} of the attempts are truncated by a limit: the model does not end its turns,"
            " or max_completion_length is too small"
        )
    if faults > FAULTS:
        alarms["faults"] = (
            f"{faults:.0%} of the attempts end by a fault of the service, and are not learned from"
        )
    if tool > TOOL:
        alarms["unknown-tools"] = (
            f"{tool:.0%} of the calls name a tool that is not offered: the model has lost the menu"
        )
    if kl > KL:
        alarms["kl"] = (
            f"the KL divergence from the start is {kl:.2f} per token: the learning rate may be too"
            " high"
        )
    return alarms
