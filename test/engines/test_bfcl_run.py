"""bfcl_run.py replaces calls that would run Python; harness_run.py repairs result files."""

from pathlib import Path
from typing import Any

import bfcl_run
import harness_run
import pytest


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
    assert bfcl_run.replace_unknown(call, frozenset(["ls"])) == expected


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
    assert harness_run.drop_torn_line(file) == line
    assert file.read_text(encoding="utf-8") == kept
