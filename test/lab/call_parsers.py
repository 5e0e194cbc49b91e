"""Reads outputs of a model with the parsers of other software, as far as it is installed.

The outputs are a JSON list on stdin. Writes what each parser makes of each, or why it is left out.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import logging
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Parse = Callable[[str], Json]

TOKENIZER = Path(__file__).parent.parent / "model/huggingface/families/qwen/tokenizer.json"
END = "<|im_end|>"


def load_tokenizer() -> Any:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER), eos_token=END, pad_token=END)


def find_package(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"there is no package {name}")
    return next(iter(spec.submodule_search_locations))


def load_verl() -> Parse:
    """verl's Hermes parser, without the packages that the rest of verl needs."""
    folder = Path(find_package("verl"))
    stubs: dict[str, dict[str, Any]] = {
        "verl.tools.schemas": {"OpenAIFunctionToolSchema": object},
        "verl.utils.ray_utils": {"get_event_loop": asyncio.get_running_loop},
        "verl.utils.rollout_trace": {"rollout_trace_op": lambda function: function},
    }
    for name in ("verl", "verl.tools", "verl.utils", *stubs):
        module = types.ModuleType(name)
        module.__dict__.update(stubs.get(name, {}))
        sys.modules[name] = module
    path = folder / "experimental/agent_loop/tool_parser.py"
    spec = importlib.util.spec_from_file_location("verl_tool_parser", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tokenizer = load_tokenizer()
    parser = module.ToolParser.get_tool_parser("hermes", tokenizer)

    def parse(text: str) -> Json:
        _, calls = asyncio.run(parser.extract_tool_calls(tokenizer.encode(text + END), []))
        # what it cannot read, it writes to its log only
        named = [{"name": it.name, "arguments": json.loads(it.arguments)} for it in calls]
        return {"calls": named, "isReported": False}

    return parse


def load_trl() -> Parse:
    """TRL's parser, with its template of Qwen3."""
    import trl
    from trl import chat_template_utils as templates

    tokenizer = load_tokenizer()
    folder = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (folder / "qwen3_instruct_2507.jinja").read_text(encoding="utf-8")
    templates.add_response_schema(tokenizer)
    user = {"role": "user", "content": "Hello"}
    prompt = tokenizer.apply_chat_template([user], add_generation_prompt=True, tokenize=False)
    prefix = tokenizer.encode(prompt)

    def parse(text: str) -> Json:
        message = templates.parse_response(tokenizer, tokenizer.encode(text + END), prefix)
        return {
            "calls": [it["function"] for it in message.get("tool_calls") or []],
            "isReported": False,
        }

    return parse


def load_renderers() -> Parse:
    """The parser for Qwen3 of Prime Intellect's renderers."""
    package = types.ModuleType("renderers")
    package.__path__ = [find_package("renderers")]
    sys.modules["renderers"] = package
    parsing = importlib.import_module("renderers.parsing")
    tokenizer = load_tokenizer()
    ids = {it: tokenizer.convert_tokens_to_ids(it) for it in ("<tool_call>", "</tool_call>", END)}

    def parse(text: str) -> Json:
        parsed = parsing.parse_qwen3(
            tokenizer,
            tokenizer.encode(text + END),
            stop_ids={ids[END]},
            tool_call_id=ids["<tool_call>"],
            tool_call_end_id=ids["</tool_call>"],
        )
        calls = parsed.tool_calls or []
        good = [it for it in calls if it.status == "ok" or getattr(it.status, "name", "") == "OK"]
        named = [{"name": it.name, "arguments": it.arguments} for it in good]
        return {"calls": named, "isReported": len(good) < len(calls)}

    return parse


def run(load: Callable[[], Parse], texts: list[str]) -> Any:
    try:
        parse = load()
    except ImportError as error:
        return str(error)
    return [parse(it) for it in texts]


def main() -> None:
    logging.disable(logging.CRITICAL)
    texts = json.load(sys.stdin)
    loaders = {"verl": load_verl, "TRL": load_trl, "renderers": load_renderers}
    parsed = json.dumps({name: run(load, texts) for name, load in loaders.items()})
    # Python writes NaN, which is no JSON
    print(json.dumps(json.loads(parsed, parse_constant=str)))


main()
