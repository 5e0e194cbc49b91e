"""A random Qwen3 that is small enough for a test, and a policy that writes its completions."""

import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

END = "<|im_end|>"
PAD = "<|endoftext|>"


def create_tokenizer(texts: Iterable[str]) -> Any:
    """A tokenizer trained on texts, with the chat template that TRL knows as Qwen3's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=4_000,
            show_progress=False,
            special_tokens=[PAD, "<|im_start|>", END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    # texts to the templates, as they are in Qwen's own tokenizer
    tokenizer.add_tokens(["<tool_call>", "</tool_call>", "<think>", "</think>"])
    package = find_spec("trl")
    assert package is not None and package.origin is not None
    template = Path(package.origin).parent / "chat_templates/qwen3.jinja"
    create: Any = PreTrainedTokenizerFast
    return create(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        chat_template=template.read_text(),
    )


def create_model(tokenizer: Any) -> Any:
    torch.manual_seed(1)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=4,
        max_position_embeddings=32_768,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return Qwen3ForCausalLM(config)


class ScriptedGeneration:
    """Stands in for `generate` of a model: the teacher's messages, with errors in some attempts.

    A random model writes no calls, and without calls there is nothing to test. The messages are
    those of the tasks' teachers. Every second attempt of a batch guesses a wrong argument, and
    the third stops before its first call. `prompts` has all prompts as text.
    """

    def __init__(self, tokenizer: Any, tasks: Path) -> None:
        self.prompts: list[str] = []
        self._tokenizer = tokenizer
        self._turns = [turn for line in tasks.read_text().splitlines() for turn in list_turns(line)]

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        texts = [self.write(row, i) for i, row in enumerate(input_ids)]
        encoded = self._tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
        return torch.cat([input_ids, encoded["input_ids"].to(input_ids.device)], dim=1)

    def write(self, row: Any, index: int) -> str:
        """The next message of an attempt after a prompt, its number in the batch being `index`."""
        prompt = self._tokenizer.decode(row)
        self.prompts.append(prompt)
        before, user, after = prompt.rpartition("<|im_start|>user\n")
        while after.startswith("<tool_response>"):
            before, user, rest = before.rpartition("<|im_start|>user\n")
            after = rest + user + after
        said = after.partition(END)[0]
        written = after.count("<|im_start|>assistant") - 1
        messages = next(it["messages"] for it in self._turns if it["user"] == said)
        if written >= len(messages) or (index % 3 == 2 and written == 0):
            return f"That is all.{END}"
        calls = [dict(it) for it in messages[written]["calls"]]
        if index % 2 == 1 and calls:
            calls[-1]["arguments"] = {**calls[-1]["arguments"], "guessed_id": "x_1"}
        return "".join(
            [messages[written]["text"]]
            + [f"<tool_call>\n{json.dumps(it)}\n</tool_call>" for it in calls]
            + [END]
        )


def list_turns(line: str) -> list[Any]:
    """What the user said in each turn of a task, and the messages of its teacher."""
    turns: list[Any] = []
    for event in json.loads(line)["trajectory"]["events"]:
        if event["kind"] == "user":
            turns.append({"user": event["text"], "messages": []})
        if event["kind"] not in ("assistant", "call"):
            continue
        messages = turns[-1]["messages"]
        if not messages or messages[-1]["message"] != event["message"]:
            messages.append({"message": event["message"], "text": "", "calls": []})
        if event["kind"] == "assistant":
            messages[-1]["text"] = event["text"]
        else:
            call = {"name": event["name"], "arguments": event["arguments"]}
            messages[-1]["calls"].append(call)
    return turns
