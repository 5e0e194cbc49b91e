"""Chat templates: those that TRL can train with, and rows as they read them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..calls import detect_syntax, parse_arguments
from ..client import Json


def prepare_template(tokenizer: Any) -> None:
    """Make TRL able to read the calls that are written with the tokenizer's chat template.

    TRL knows the templates of some models by their text. Of others, it gets a parser here if they
    write calls as JSON between `<tool_call>` tags. Raises a `ValueError` that says why TRL cannot
    train with the template.
    """
    from trl import chat_template_utils as templates

    schema = {"type": "object", "properties": {}}
    function = {"name": "look_up", "description": "Look it up.", "parameters": schema}
    tool = {"type": "function", "function": function}
    if not templates.supports_tool_calling(tokenizer) or "look_up" not in render(
        tokenizer, EXAMPLE_USER, tools=[tool]
    ):
        raise ValueError("it does not show tools, calls and their results")
    if not (
        getattr(tokenizer, "response_template", None) or getattr(tokenizer, "response_schema", None)
    ):
        try:
            templates.add_response_schema(tokenizer)
        except ValueError as error:
            parser = create_call_parser(tokenizer)
            if parser is None:
                raise ValueError(
                    "TRL does not know it, and it does not write calls as JSON between "
                    "<tool_call> tags"
                ) from error
            tokenizer.response_template = parser
    if not templates.is_chat_template_prefix_preserving(tokenizer):
        try:
            templates.get_training_chat_template(tokenizer)
        except ValueError as error:
            raise ValueError(
                "it writes earlier messages differently when the result of a call follows"
            ) from error


EXAMPLE_USER = {"role": "user", "content": "Hello"}


def render(tokenizer: Any, *messages: Json, **options: Any) -> str:
    text: str = tokenizer.apply_chat_template(list(messages), tokenize=False, **options)
    return text


def create_call_parser(tokenizer: Any) -> Json | None:
    """How transformers parses messages with JSON between `<tool_call>` tags, if the chat template
    writes calls so and ends messages with the tokenizer's end of sequence."""
    function = {"name": "look_up", "arguments": {"key": "value"}}
    calls = [{"type": "function", "function": function}]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    text = render(tokenizer, EXAMPLE_USER, message)
    end = tokenizer.eos_token
    written = re.search(r"<tool_call>(.*?)</tool_call>\s*(.*)", text, re.DOTALL)
    if written is None or not end or not written[2].startswith(end):
        return None
    try:
        if json.loads(written[1]) != function:
            return None
    except ValueError:
        return None
    prompt = render(tokenizer, EXAMPLE_USER, add_generation_prompt=True)
    opening = prompt.removeprefix(render(tokenizer, EXAMPLE_USER))
    return {
        "defaults": {"role": "assistant"},
        "start_anchor": opening,
        "fields": {
            "tool_calls": {
                "open": "<tool_call>",
                "close_pattern": r"</tool_call>\s*",
                "repeats": True,
                "content": "json",
                "transform": {"type": "function", "function": "{content}"},
            },
            "content": {"close_pattern": re.escape(end) + r"\s*", "content": "text"},
        },
    }


def find_call_syntax(tokenizer: Any) -> str | None:
    """The syntax in which the tokenizer's chat template writes calls, if it is a known one."""
    from jinja2 import TemplateError

    call = {"type": "function", "function": {"name": "look_up", "arguments": {"key": "value"}}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    try:
        opening = render(tokenizer, EXAMPLE_USER, add_generation_prompt=True)
        return detect_syntax(render(tokenizer, EXAMPLE_USER, message).removeprefix(opening))
    except (TemplateError, TypeError, ValueError):
        return None


def create_message(text: str, calls: list[Json]) -> Json:
    """A message of the assistant as transformers parses it."""
    message: Json = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [{"type": "function", "function": it} for it in calls]
    return message


def find_menu(conversation: Sequence[Json]) -> str | None:
    menu: str | None = conversation[0].get("menu") if conversation else None
    return menu


def clean_message(message: Json) -> Json:
    """A message without what only the rows need, and without columns of other messages."""
    cleaned = {key: it for key, it in message.items() if key != "menu" and it is not None}
    if "tool_calls" in cleaned:
        cleaned["tool_calls"] = [parse_call(it) for it in cleaned["tool_calls"]]
    return cleaned


def parse_call(call: Json) -> Json:
    function = call.get("function", {})
    if not isinstance(function.get("arguments"), str):
        return call
    return {**call, "function": {**function, "arguments": parse_arguments(function["arguments"])}}
