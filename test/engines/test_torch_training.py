"""The layouts that are timed compute the same gradients."""

from typing import Any

import pytest
import torch
from torch_training import WORKS, Transformer, attend_causally, measure

ARCHITECTURE = {
    "vocabulary": 50,
    "width": 16,
    "layers": 2,
    "heads": 4,
    "kvHeads": 2,
    "headWidth": 8,
    "hidden": 24,
    "context": 64,
    "ropeBase": 10_000,
}

GROUPS: list[dict[str, Any]] = [
    {
        "prefix": [1, 2, 3],
        "branches": [
            {"ids": [4, 5, 6, 7], "mask": [1, 1, 0, 1]},
            {"ids": [4, 8], "mask": [1, 1]},
        ],
    },
    {
        "prefix": [9, 10, 11, 12, 13],
        "branches": [{"ids": [14, 15, 16], "mask": [1, 0, 1]}],
    },
]


def compute_gradients(work: str) -> dict[str, torch.Tensor]:
    model = Transformer(ARCHITECTURE)
    WORKS[work](model, {"groups": GROUPS})
    return read_gradients(model)


def read_gradients(model: Transformer) -> dict[str, torch.Tensor]:
    return {name: it.grad for name, it in model.parameters.items() if it.grad is not None}


def compute_one_by_one() -> dict[str, torch.Tensor]:
    """Compute the gradients without padding, one attempt after the other."""
    model = Transformer(ARCHITECTURE)
    total = sum(sum(branch["mask"]) for group in GROUPS for branch in group["branches"])
    for group in GROUPS:
        for branch in group["branches"]:
            ids = torch.tensor([group["prefix"] + branch["ids"]])
            positions = torch.arange(ids.shape[1])[None]
            states = model.compute_states(ids, positions, attend_causally)
            chances = model.compute_logits(states[0]).log_softmax(-1)
            for i, is_target in enumerate(branch["mask"], start=len(group["prefix"])):
                if is_target:
                    (-chances[i - 1, ids[0, i]] / total).backward(retain_graph=True)
    return read_gradients(model)


@pytest.mark.parametrize("work", ["sorted", "trl"])
def test_padding_changes_no_gradient(work: str) -> None:
    expected = compute_one_by_one()
    actual = compute_gradients(work)
    assert actual.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(actual[name], gradient, rtol=1e-4, atol=1e-6)


def test_the_cache_changes_no_sampled_token(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose_best(chances: torch.Tensor, _count: int) -> torch.Tensor:
        chosen = chances.argmax(-1, keepdim=True)
        sampled.append(chosen)
        return chosen

    sampled: list[torch.Tensor] = []
    monkeypatch.setattr(torch, "multinomial", choose_best)
    model = Transformer(ARCHITECTURE)
    WORKS["decoding"](model, {"sequences": 3, "prompt": 5, "steps": 4})
    ids = torch.cat((torch.ones(3, 6, dtype=torch.long), *sampled), dim=1)
    states = model.compute_states(ids, torch.arange(10)[None], attend_causally)
    expected = model.compute_logits(states).argmax(-1)
    assert torch.equal(ids[:, 6:], expected[:, 5:-1])


@pytest.mark.parametrize(
    "request_keys",
    [
        {"work": "dense", "sequences": 2, "length": 8},
        {"work": "sorted", "groups": GROUPS},
        {"work": "trl", "groups": GROUPS},
        {"work": "decoding", "sequences": 2, "prompt": 4, "steps": 3},
    ],
)
def test_work_takes_time(request_keys: dict[str, Any]) -> None:
    answer = measure({**request_keys, "architecture": ARCHITECTURE, "repeat": 3})
    assert 0 < answer["processor"] < 60 and answer["clock"] > 0
