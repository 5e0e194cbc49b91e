"""Calls in texts are read as the service reads them: both read the same cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from prove_rl.calls import read_message

FILE = Path(__file__).parent.parent / "policy/callText.cases.json"
CASES: Any = json.loads(FILE.read_text(encoding="utf-8"))
SCHEMAS = {it["name"]: it["inputSchema"] for it in CASES["tools"]}


@pytest.mark.parametrize("case", CASES["cases"], ids=[it["name"] for it in CASES["cases"]])
def test_calls_are_those_of_the_service(case: Any) -> None:
    text, calls = read_message(case["message"], case.get("syntax"), SCHEMAS)
    assert (text, calls) == (case["text"], case["calls"])


@pytest.mark.parametrize(
    "part",
    [
        " ",
        "<tool_call>",
        '<tool_call>{"',
        "<tool_call><function=f><parameter=a>",
        "<think></think>",
    ],
)
def test_a_long_text_is_read_once(part: str) -> None:
    text, calls = read_message(part * 20_000)
    assert len(text) + len(calls) <= 20_000


def test_a_number_with_thousands_of_digits_is_read() -> None:
    digits = "1" * 5_000
    call = '<tool_call>{"name": "f", "arguments": {"n": ' + digits + "}}</tool_call>"
    assert read_message(call) == ("", [{"name": "f", "arguments": {"n": digits}}])


def test_without_tools_an_object_with_a_name_and_more_is_an_answer_in_json() -> None:
    answer = '{"name": "Bingo", "age": 30}'
    assert read_message(answer, "llama") == (answer, [])
    assert read_message('{"name": "refresh"}', "llama") == (
        "",
        [{"name": "refresh", "arguments": {}}],
    )
