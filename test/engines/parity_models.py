"""Tiny random models of each family, and their logits, for the tests of the transformer.

`python test/engines/parity_models.py` writes them to test/model/parity. The seeds are fixed: with
the versions of torch and transformers in the requirements, the files stay the same.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import (
    AutoModelForCausalLM,
    GraniteConfig,
    GraniteMoeHybridConfig,
    LlamaConfig,
    PreTrainedConfig,
    Qwen2Config,
    Qwen3Config,
)

FOLDER = Path(__file__).parents[1] / "model/parity"
VOCABULARY = 64
#: The token ids whose logits are stored. They are longer than the original context of `llama`.
IDS = [(7 * i * i + 3 * i + 1) % VOCABULARY for i in range(24)]

SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
GRANITE: dict[str, Any] = {
    "embedding_multiplier": 12.0,
    "attention_multiplier": 0.2,
    "residual_multiplier": 0.22,
    "logits_scaling": 3.0,
    "tie_word_embeddings": True,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}


def create_rope(base: float) -> Any:
    return {"rope_type": "default", "rope_theta": base}


def list_configs() -> dict[str, tuple[PreTrainedConfig, torch.dtype, str]]:
    """The configuration, precision and largest file of each model. Their variants differ."""
    return {
        "llama": (
            LlamaConfig(**SIZES, rope_parameters=LLAMA3, rms_norm_eps=1e-5),
            torch.bfloat16,
            "1GB",
        ),
        "qwen2": (
            Qwen2Config(**SIZES, tie_word_embeddings=True, rope_parameters=create_rope(1e6)),
            torch.float16,
            "1GB",
        ),
        # in several files
        "qwen3": (
            Qwen3Config(**SIZES, head_dim=16, rope_parameters=create_rope(1000.0)),
            torch.bfloat16,
            "20KB",
        ),
        "granite": (GraniteConfig(**SIZES, **GRANITE), torch.float32, "1GB"),
        "granite-hybrid": (
            GraniteMoeHybridConfig(
                **SIZES,
                **GRANITE,
                num_local_experts=0,
                num_experts_per_tok=0,
                shared_intermediate_size=40,
                position_embedding_type="rope",
                layer_types=["full_attention"] * 2,
                mamba_n_heads=8,
                mamba_d_head=8,
            ),
            torch.bfloat16,
            "1GB",
        ),
    }


def write_model(folder: Path, config: PreTrainedConfig, dtype: torch.dtype, size: str) -> None:
    torch.manual_seed(1)
    model: Any = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # large enough that every part of the model changes the logits
            spread = 0.3 if parameter.dim() == 2 else 0.2
            parameter.normal_(1.0 if "norm" in name else 0.0, spread)
    model.to(dtype).save_pretrained(folder, max_shard_size=size)
    stored: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        logits = stored(torch.tensor([IDS])).logits[0]
    save_file(
        {"logits": logits.contiguous(), "ids": torch.tensor(IDS, dtype=torch.float32)},
        folder / "expected.safetensors",
    )


def main(folder: Path) -> None:
    for name, (config, dtype, size) in list_configs().items():
        write_model(folder / name, config, dtype, size)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
