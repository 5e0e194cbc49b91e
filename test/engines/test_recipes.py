"""The recipes: a model that is computed as transformers computes it, and a whole experiment."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from prove_rl.recipes.policy import Example, Policy
from prove_rl.service import ServiceError
from tiny_qwen import create_model, create_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

END = 2


@pytest.fixture(name="folder", scope="module")
def save_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=60,
        hidden_size=48,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        initializer_range=0.5,
        tie_word_embeddings=True,
    )
    folder = tmp_path_factory.mktemp("llama")
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def create_policy(folder: Path, dtype: torch.dtype = torch.float32) -> Policy:
    return Policy(folder, "cpu", dtype, batch_tokens=64, cache_tokens=1_000)


def continue_with_transformers(model: Any, ids: list[int], count: int) -> list[int]:
    made = model.generate(
        torch.tensor([ids]),
        max_new_tokens=count,
        do_sample=False,
        eos_token_id=END,
        pad_token_id=END,
    )
    written: list[int] = made[0, len(ids) :].tolist()
    return written


def test_conversations_continue_as_with_transformers(folder: Path) -> None:
    policy = create_policy(folder)
    model = LlamaForCausalLM.from_pretrained(folder)
    prompts = [list(range(10, 40)), list(range(30, 47)), list(range(10, 40)), [7]]
    cache = policy.open(prompts, 100)
    written = policy.write(cache, [it[-1:] for it in prompts], END, 12, 0.0)
    expected = [continue_with_transformers(model, it, 12) for it in prompts]
    assert written == expected
    # results of various lengths follow, and a conversation has ended
    cache.keep([1, 2, 3])
    results = [[5, 6, 7], [9], [11] * 20]
    conversations = [
        [*prompt, *own, *more]
        for prompt, own, more in zip(prompts[1:], written[1:], results, strict=True)
    ]
    parts = [[own[-1], *more] for own, more in zip(written[1:], results, strict=True)]
    again = policy.write(cache, parts, END, 10, 0.0)
    assert again == [continue_with_transformers(model, it, 10) for it in conversations]


def test_tokens_are_as_probable_as_in_transformers(folder: Path) -> None:
    policy = create_policy(folder)
    model = LlamaForCausalLM.from_pretrained(folder)
    rows = [list(range(3, 33)), list(range(40, 57))]
    examples = [Example(it, [i >= 5 for i in range(len(it))]) for it in rows]
    for own, ids in zip(policy.compute_logprobs(examples), rows, strict=True):
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        expected = torch.stack([logits[i - 1, ids[i]] for i in range(5, len(ids))])
        torch.testing.assert_close(own.detach(), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_step_makes_what_earned_more_more_probable(folder: Path, dtype: torch.dtype) -> None:
    policy = create_policy(folder, dtype)
    policy.start_training()
    good, bad = list(range(3, 23)), list(range(23, 43))
    mask = [i >= 10 for i in range(20)]
    examples = [Example(good, mask, 1.0), Example(bad, mask, -1.0)]
    before = [float(it.mean()) for it in policy.compute_logprobs(examples)]
    for _ in range(5):
        policy.learn(examples, 1e-3)
    after = [float(it.mean()) for it in policy.compute_logprobs(examples)]
    assert after[0] > before[0] and after[1] < before[1]


def test_a_step_that_is_not_a_number_changes_nothing(folder: Path) -> None:
    policy = create_policy(folder)
    policy.start_training()
    before = [it.clone() for it in policy.masters]
    with pytest.raises(ArithmeticError, match="--dtype float32"):
        policy.learn([Example([3, 4, 5], [False, True, True], float("nan"))], 1e-3)
    assert all(torch.equal(it, own) for it, own in zip(before, policy.masters, strict=True))
    assert all(bool(it.isfinite().all()) for it in policy.network.parameters())


def test_a_folder_with_other_weights_is_refused(folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    for name, change in {
        "layers": {"num_hidden_layers": 3},
        "less": {"num_hidden_layers": 1},
    }.items():
        other = tmp_path / name
        other.mkdir()
        (other / "config.json").write_text(json.dumps({**config, **change}))
        (other / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
        with pytest.raises(ServiceError, match="not those that config.json describes"):
            create_policy(other)
    qwen = tmp_path / "qwen"
    create_model(create_tokenizer(["some text"])).save_pretrained(qwen)
    with pytest.raises(ServiceError, match="of the type qwen3"):
        create_policy(qwen)


def start(out: Path, *options: str) -> "subprocess.Popen[str]":
    command = ["node", "test/gpu/result.ts", "--python", sys.executable, "--device", "cpu"]
    return subprocess.Popen(
        [*command, "--out", str(out), *options],
        cwd=ROOT,
        env={**os.environ, "PROVE_URL": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_experiment_that_is_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    with start(tmp_path, "--dry-run") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "as it is: " in line:
                process.send_signal(signal.SIGTERM)
                break
        rest, said = process.communicate()
    assert process.returncode == 1, said
    assert "| as it is |" in rest, said
    with start(tmp_path, "--dry-run") as process:
        printed, said = process.communicate()
    assert process.returncode == 0, said
    assert "as it is: " not in printed
    rows = [it for it in printed.splitlines() if it.startswith("| ")]
    assert [it.split("|")[1].strip() for it in rows[2:]] == [
        "as it is",
        "after SFT",
        "after GRPO",
        "after GRPO with shuffled advantages",
    ]
    assert (tmp_path / "trained/model.safetensors").exists()
    with start(tmp_path) as process:
        _, said = process.communicate()
    assert process.returncode == 1
    assert "was prepared for another plan" in said
