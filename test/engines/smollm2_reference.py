"""SmolLM2-135M for `smollm2.test.ts`: its files, and what transformers and PEFT compute with it.

`smollm2_reference.py model FOLDER` writes the model as Hugging Face stores it, in several files,
with the logits of a text and a greedy continuation. `smollm2_reference.py adapters FOLDER
ADAPTERS MERGED` writes the logits of the same text with adapters that PEFT loads, and with the
model in MERGED.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from test_smollm2 import convert_smollm2
from transformers import AutoModelForCausalLM

TEXT = (
    "The dependencies between tools are known from their signatures: an account is found by its"
    " name, and a transfer needs the ids of two accounts. Before the transfer, the assistant"
)
CONTINUATION = 100


def write_model(folder: Path) -> None:
    model, tokenizer = convert_smollm2()
    model.save_pretrained(folder, max_shard_size="200MB")
    tokenizer.save_pretrained(folder)
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.no_grad():
        logits = model(ids).logits[0]
        options = {"do_sample": False, "max_new_tokens": CONTINUATION, "eos_token_id": None}
        greedy = model.generate(ids, **options)[0, ids.shape[1] :]
    tensors = {"ids": ids[0].float(), "logits": logits.float(), "greedy": greedy.float()}
    save_file({name: it.contiguous() for name, it in tensors.items()}, folder / "expected.bin")


def write_adapted_logits(folder: Path, adapters: Path, merged: Path) -> None:
    ids = load_file(folder / "expected.bin")["ids"].long()
    base: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    whole: Any = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32)
    with torch.no_grad():
        logits = {
            "adapted": PeftModel.from_pretrained(base, adapters)(ids[None]).logits[0],
            "merged": whole(ids[None]).logits[0],
        }
    save_file({name: it.contiguous() for name, it in logits.items()}, adapters / "expected.bin")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    commands: dict[str, Callable[..., None]] = {
        "model": write_model,
        "adapters": write_adapted_logits,
    }
    commands[command](*map(Path, paths))
