"""Writes the models that `npm run test:gpu` trains.

`gpu_models.py SMOLLM2 QWEN3 [--small]` writes SmolLM2-135M, and a model of the shape of Qwen3-0.6B
with random weights and SmolLM2's tokenizer. `--small` keeps two layers of SmolLM2, and makes the
other model as small, to try out the test on a processor.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from test_smollm2 import convert_smollm2
from transformers import Qwen3Config, Qwen3ForCausalLM

QWEN3: dict[str, Any] = {
    "vocab_size": 151_936,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 40_960,
    "rope_theta": 1_000_000,
    "tie_word_embeddings": True,
}
SMALL_QWEN3: dict[str, Any] = QWEN3 | {
    "vocab_size": 49_152,
    "hidden_size": 128,
    "intermediate_size": 384,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
}


def main(smollm2: Path, qwen3: Path, is_small: bool) -> None:
    model, tokenizer = convert_smollm2()
    if is_small:
        model.model.layers = model.model.layers[:2]
        model.config.num_hidden_layers = 2
        # transformers 5 has the kinds of the layers, too
        model.config.layer_types = None
    model.save_pretrained(smollm2)
    tokens: dict[str, Any] = {
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    torch.manual_seed(1)
    shape = Qwen3Config(**(SMALL_QWEN3 if is_small else QWEN3), **tokens)
    random: Any = Qwen3ForCausalLM(shape)
    random.to(torch.bfloat16).save_pretrained(qwen3)
    for folder in (smollm2, qwen3):
        tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "--small" in sys.argv)
