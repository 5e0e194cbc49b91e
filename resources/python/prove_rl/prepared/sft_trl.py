"""The stage before GRPO: supervised fine-tuning on the conversations of the tasks' teacher.

Only what the assistant writes is learned. Conversations are split into tokens as in GRPO: each
message of the assistant begins after the prompt that it gets there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from peft import AutoPeftModelForCausalLM, LoraConfig
from trl import SFTConfig, SFTTrainer
from trl import chat_template_utils as templates

from ..client import Json
from ..trl import end_process, save_model

IGNORED = -100
"""The label of a token that is not learned."""


def train(folder: Path, config: Json, model: str, tokenizer: Any, checkpoint: Path | None) -> None:
    """Train the model, and save it in the folder `sft`."""
    settings = config["sft"]
    rows = read_rows(folder / "data/sft/train.jsonl")
    options = config["grpo"].get("chat_template_kwargs", {})
    try:
        examples = [encode(tokenizer, row, options) for row in rows]
    except ValueError as error:
        sys.exit(f"the conversations cannot be learned with the chat template of {model}: {error}")
    limit = settings["max_length"]
    fitting = [it for it in examples if len(it["input_ids"]) <= limit]
    if len(fitting) < len(examples):
        print(
            f"{len(examples) - len(fitting)} of {len(examples)} conversations are left out: they are"
            f" longer than {limit} tokens (max_length in config.json)",
            flush=True,
        )
    if not fitting:
        sys.exit("no conversation is left to learn from: raise max_length in config.json")
    lora = config["lora"]
    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(fitting),
        peft_config=LoraConfig(**lora) if lora else None,
        args=SFTConfig(output_dir=str(folder / "sft/checkpoints"), **settings),
    )
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    out = folder / "sft" / ("adapters" if lora else "model")
    save_model(trainer, out)
    if trainer.accelerator.is_main_process:
        tokenizer.save_pretrained(str(out))
    end_process(trainer)


def merge_adapters(folder: Path) -> None:
    """Write the model with the adapters of this stage merged: GRPO trains adapters of its own."""
    model = AutoPeftModelForCausalLM.from_pretrained(str(folder / "sft/adapters"), dtype="auto")
    model.merge_and_unload().save_pretrained(str(folder / "sft/merged"))
    for file in (folder / "sft/adapters").iterdir():
        if not file.name.startswith("adapter_") and file.name != "README.md" and file.is_file():
            (folder / "sft/merged" / file.name).write_bytes(file.read_bytes())
    (folder / "sft/merged").replace(folder / "sft/model")


def read_rows(file: Path) -> list[Json]:
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def encode(tokenizer: Any, row: Json, options: Json) -> Json:
    """A conversation as tokens, and as labels, which only tokens of the assistant have."""
    ids: list[int] = []
    labels: list[int] = []
    for text, is_learned in split(tokenizer, row["messages"], row["tools"], options):
        part = tokenizer(text, add_special_tokens=False)["input_ids"]
        ids += part
        labels += part if is_learned else [IGNORED] * len(part)
    return {"input_ids": ids, "labels": labels}


def split(
    tokenizer: Any, messages: Sequence[Json], tools: Sequence[Json], options: Json
) -> Iterator[tuple[str, bool]]:
    """The text of a conversation in parts, and whether the assistant writes the part."""
    template = tokenizer.chat_template
    if not templates.is_chat_template_prefix_preserving(tokenizer):
        # as GRPOTrainer does
        template = templates.get_training_chat_template(tokenizer)

    def render(end: int, **more: Any) -> str:
        text: str = tokenizer.apply_chat_template(
            list(messages[:end]),
            tools=list(tools) or None,
            chat_template=template,
            tokenize=False,
            **options,
            **more,
        )
        return text

    before = ""
    for i, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        prompt, whole = render(i, add_generation_prompt=True), render(i + 1)
        if not prompt.startswith(before) or not whole.startswith(prompt):
            raise ValueError("it writes a message in another way than it begins one")
        written, end, after = whole[len(prompt) :].rpartition(tokenizer.eos_token)
        if not end:
            raise ValueError(f"it does not end messages with {tokenizer.eos_token}")
        yield prompt[len(before) :], False
        yield written + end, True
        before = whole.removesuffix(after)
