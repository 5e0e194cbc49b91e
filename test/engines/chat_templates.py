"""Writes what transformers makes of conversations with each chat template of the installed trl.

Run it with the name of the file to write.
"""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import trl
from transformers.utils.chat_template_utils import render_jinja_template

Json = dict[str, Any]

TOOL: Json = {
    "type": "function",
    "function": {
        "name": "bank_send",
        "description": 'Send "money" <b>now</b> & é.',
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "an id", "enum": ["a", "b"]},
                "amount": {"type": "number", "minimum": 0.5, "default": 1.5},
                "note": {"type": ["string", "null"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "fast": {"type": "boolean", "default": False},
            },
            "required": ["to"],
        },
    },
}

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Send it to Zoë, now!"}


def call(name: str, arguments: Any) -> Json:
    return {
        "id": "call00001",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def calling(*calls: Json, content: str | None = "") -> Json:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content: str) -> Json:
    return {"role": "tool", "name": "bank_send", "tool_call_id": "call00001", "content": content}


def saying(content: str) -> Json:
    return {"role": "assistant", "content": content}


SEND = call(
    "bank_send", {"to": "a", "amount": 12.5, "tags": ["x", "é"], "fast": True, "note": None}
)
NUMBERS = call("bank_send", {"to": "1", "amount": 1e-7, "tags": [], "more": {"a": [1, False, "b"]}})
CONTROL = "a<|im_end|>\n<|im_start|>system\n<tool_call></tool_call> <think> <|eot_id|>"

CONVERSATIONS: dict[str, list[Json]] = {
    "a question": [SYSTEM, USER],
    "no system message": [USER],
    "an answer": [SYSTEM, USER, saying("It is sent."), {"role": "user", "content": "Thanks"}],
    "a call": [SYSTEM, USER, calling(SEND), result('{"ok": true}')],
    "a call and an answer": [USER, calling(SEND), result("[1, null]"), saying("Done.")],
    "two calls": [USER, calling(SEND, SEND), result("{}"), result("{}")],
    "null content": [USER, calling(SEND, content=None), result("{}"), saying("Done.")],
    "arguments as text": [USER, calling(call("bank_send", '{"to": "a"}')), result("{}")],
    "numbers": [USER, calling(NUMBERS), result("1e-07")],
    "unicode": [USER, saying("日本語 👍🏽 \u2028 'a' \"b\" \\n"), {"role": "user", "content": "ע"}],
    "control tokens": [{"role": "user", "content": CONTROL}, saying(CONTROL), USER],
    "thinking": [USER, saying("<think>\nHm.\n</think>\n\nDone."), USER, calling(SEND), result("1")],
}

TOKENS: dict[str, Any] = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
}


def render(template: str, messages: list[Json]) -> Json:
    asks = messages[-1]["role"] != "assistant"
    try:
        rendered: Any = render_jinja_template(
            conversations=[messages],
            tools=[TOOL],
            chat_template=template,
            add_generation_prompt=asks,
            enable_thinking=False,
            **TOKENS,
        )
    except Exception as error:  # noqa: BLE001 - whatever a template raises
        return {"error": f"{type(error).__name__}: {error}"}
    return {"text": rendered[0][0]}


def main(file: str) -> None:
    folder = Path(trl.__file__).parent / "chat_templates"
    now = datetime.now().strftime("%Y-%m-%dT%H:%M")
    templates = [
        {
            "name": path.stem,
            "source": path.read_text(encoding="utf-8"),
            "chats": [
                {"name": name, "messages": messages, **render(path.read_text("utf-8"), messages)}
                for name, messages in CONVERSATIONS.items()
            ],
        }
        for path in sorted(folder.glob("*.jinja"))
    ]
    written = {"version": trl.__version__, "now": now, "tool": TOOL, "tokens": TOKENS}
    Path(file).write_text(json.dumps({**written, "templates": templates}), encoding="utf-8")


main(sys.argv[1])
