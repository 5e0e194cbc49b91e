"""bfcl.py replaces calls that would run Python; harness.py repairs result files."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from prove_rl.benchmarks import bfcl, harness
from prove_rl.benchmarks.harness import TOO_LONG


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"ls": '{"a": true}'}, {"ls": '{"a": true}'}),
        ({"ls": "{not json"}, {"ls": "{not json"}),
        ({"open": '{"file": "planted", "mode": "w"}'}, {"undefined_open": "{}"}),
        ({"ls": '{"a=1)or open(1": 1}'}, {"undefined_ls": "{}"}),
        ({"ls(1) or ls": "{}"}, {"undefined_ls_1__or_ls": "{}"}),
    ],
)
def test_calls_run_no_python(call: dict[str, Any], expected: dict[str, Any]) -> None:
    assert bfcl.replace_unknown(call, frozenset(["ls"])) == expected


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ({"result": [[]]}, None),
        ({"result": "Error during inference: 9", "traceback": f"{TOO_LONG}\nT"}, TOO_LONG),
        ({"result": "Error during inference: no access", "traceback": "T"}, "no access"),
    ],
)
def test_entries_without_an_answer_say_why(line: dict[str, Any], refusal: str | None) -> None:
    assert bfcl.find_refusal(line) == refusal


@pytest.mark.parametrize(
    ("text", "line", "kept"),
    [
        ('{"id": 1}\n{"id": 2}\n', None, '{"id": 1}\n{"id": 2}\n'),
        ('{"id": 1}\n{"id": 2', 2, '{"id": 1}\n'),
        ('{"id": 1}', None, '{"id": 1}\n'),
        ("", None, ""),
    ],
)
def test_torn_lines_are_dropped(tmp_path: Path, text: str, line: int | None, kept: str) -> None:
    file = tmp_path / "result.json"
    file.write_text(text, encoding="utf-8")
    assert harness.drop_torn_line(file) == line
    assert file.read_text(encoding="utf-8") == kept


def test_torn_lines_are_reported(tmp_path: Path) -> None:
    torn, whole = tmp_path / "torn.jsonl", tmp_path / "whole.jsonl"
    torn.write_text('{"id": 1}\n{"id"', encoding="utf-8")
    whole.write_text('{"id": 1}\n', encoding="utf-8")
    stream = io.StringIO()
    files = [tmp_path / "missing.jsonl", torn, whole]
    harness.drop_torn_lines(files, harness.Reporter(stream))
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line) == {"kind": "torn", "file": str(torn), "line": 2}
    assert torn.read_text(encoding="utf-8") == '{"id": 1}\n'
