"""Runs the multi-turn categories of the official bfcl-eval against an OpenAI-compatible endpoint.

`prove-rl benchmark bfcl` starts this program; `harness` describes how they talk. The key of the
endpoint comes from the environment (`OPENAI_API_KEY`). Data, handler, file formats and checkers are
those of bfcl-eval: this program schedules the entries, and stops where the endpoint fails.

bfcl-eval imports the packages of every provider that it supports. Here it gets only the ones for
OpenAI-compatible endpoints; see `PLACEHOLDERS`.
"""

import importlib
import json
import keyword
import os
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .harness import (
    TOO_LONG,
    Reporter,
    StoppedError,
    add_placeholders,
    describe,
    drop_torn_lines,
    generate,
    serve,
)

VERSION = "2026.3.23"
MODEL = "model"
"""The name of the folders with results and scores; the harness makes Python names of it."""

PLACEHOLDERS: dict[str, dict[str, Any]] = {
    # the table of all models, which imports the packages of their providers
    "bfcl_eval.constants.model_config": {"MODEL_CONFIG_MAPPING": {}},
    # only other categories need the parsers of Java and JavaScript
    "bfcl_eval.model_handler.parser.java_parser": {"parse_java_function_call": None},
    "bfcl_eval.model_handler.parser.js_parser": {"parse_javascript_function_call": None},
    # only the tables of the leaderboard need these
    "numpy": {},
    "pandas": {},
}


def import_harness(request: dict[str, Any]) -> SimpleNamespace:
    """Import the parts of bfcl-eval that are used. Raises ImportError."""
    os.environ["BFCL_PROJECT_ROOT"] = request["folder"]
    os.environ["OPENAI_BASE_URL"] = request["base_url"]
    os.environ.setdefault("OPENAI_API_KEY", "EMPTY")
    add_placeholders(PLACEHOLDERS)
    names = {
        "utils": "bfcl_eval.utils",
        "runner": "bfcl_eval.eval_checker.eval_runner",
        "executor": "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils",
        "completion": "bfcl_eval.model_handler.api_inference.openai_completion",
        "openai": "openai",
    }
    return SimpleNamespace(**{key: importlib.import_module(it) for key, it in names.items()})


def create_handler(harness: SimpleNamespace, model: str, temperature: float) -> Any:
    """The official handler for chat completions with tools.

    The harness executes calls with `eval`. Names that are no function of the benchmark are replaced
    by ones that nothing has, so that the call fails as it would anyway instead of running Python.
    """
    known = load_function_names(harness)

    class Handler(harness.completion.OpenAICompletionsHandler):  # type: ignore[misc, name-defined]
        def decode_execute(self, result: Any, has_tool_call_tag: bool) -> Any:
            if isinstance(result, list):
                result = [replace_unknown(it, known) for it in result]
            return super().decode_execute(result, has_tool_call_tag)

    handler = Handler(
        model_name=model, temperature=temperature, registry_name=MODEL, is_fc_model=True
    )
    handler.model_name_underline_replaced = MODEL
    return handler


def load_function_names(harness: SimpleNamespace) -> frozenset[str]:
    """The names of all functions that the multi-turn categories offer."""
    folder = Path(harness.utils.MULTI_TURN_FUNC_DOC_PATH)
    return frozenset(
        json.loads(line)["name"]
        for file in sorted(folder.glob("*.json"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip()
    )


def replace_unknown(call: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The call with a name that cannot be Python's, unless the benchmark has the function."""
    return dict(
        (name, arguments)
        if is_harmless(name, arguments, known)
        else (f"undefined_{to_identifier(name)}", "{}")
        for name, arguments in call.items()
    )


def is_harmless(name: str, arguments: Any, known: frozenset[str]) -> bool:
    """Whether the source code of the call is that of a call with values, and nothing more."""
    if name not in known:
        # an undefined name fails by itself
        return False
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return True  # the harness cannot decode it either
    return not isinstance(arguments, dict) or all(
        it.isidentifier() and not keyword.iskeyword(it) for it in arguments
    )


def to_identifier(name: str) -> str:
    return "".join(it if it.isalnum() and it.isascii() else "_" for it in name)


def find_result_file(harness: SimpleNamespace, category: str) -> Path:
    folder = harness.utils.get_directory_structure_by_category(category)
    name = harness.utils.get_file_name_by_category(category, is_result_file=True)
    return Path(harness.utils.RESULT_PATH, MODEL, folder, name)


def load_results(harness: SimpleNamespace, category: str) -> list[dict[str, Any]]:
    file = find_result_file(harness, category)
    if not file.exists():
        return []
    results: list[dict[str, Any]] = harness.utils.load_file(file, sort_by_id=True)
    return results


def list_entries(harness: SimpleNamespace, category: str, count: int | None) -> list[Any]:
    return list(harness.utils.load_dataset_entry(category))[:count]


def answer(handler: Any, harness: SimpleNamespace, entry: dict[str, Any]) -> dict[str, Any]:
    """The line of an entry in the result file. Raises StoppedError if the endpoint fails."""
    openai = harness.openai
    try:
        result, metadata = handler.inference(entry, False, True)
    except (
        openai.APIConnectionError,
        openai.AuthenticationError,
        openai.PermissionDeniedError,
        openai.NotFoundError,
        openai.RateLimitError,
        openai.InternalServerError,
    ) as error:
        raise StoppedError(describe(error)) from error
    except Exception as error:  # noqa: BLE001
        # an error of the model, which bfcl-eval records as the entry's result in the same form
        code = f"{TOO_LONG}\n" if getattr(error, "code", None) == TOO_LONG else ""
        return {
            "id": entry["id"],
            "result": f"Error during inference: {error}",
            "traceback": f"{code}{traceback.format_exc()}",
        }
    return {"id": entry["id"], "result": result, **metadata}


def describe_failure(line: dict[str, Any]) -> str | None:
    """Why the entry failed, if the reason may be the endpoint's, and not the model's."""
    if "traceback" not in line or line["traceback"].startswith(TOO_LONG):
        return None
    result: str = line["result"]
    return result


def find_refusal(line: dict[str, Any]) -> str | None:
    """Why the entry has no answer: `TOO_LONG`, or what the endpoint or its client says."""
    if "traceback" not in line:
        return None
    if line["traceback"].startswith(TOO_LONG):
        return TOO_LONG
    message: str = line["result"]
    return message.removeprefix("Error during inference: ")[:300]


def evaluate(
    handler: Any, harness: SimpleNamespace, category: str, ids: set[str]
) -> dict[str, dict[str, Any]]:
    """Check the results with the official checkers: entries by id, with the error of wrong ones."""
    results = [it for it in load_results(harness, category) if it["id"] in ids]
    if not results:
        return {}
    score_path = Path(harness.utils.SCORE_PATH)
    harness.runner.evaluate_task(
        category,
        Path(harness.utils.RESULT_PATH),
        score_path,
        results,
        MODEL,
        handler,
        {},
        allow_missing=True,
    )
    folder = harness.utils.get_directory_structure_by_category(category)
    name = harness.utils.get_file_name_by_category(category, is_score_file=True)
    _, *wrong = harness.utils.load_file(score_path / MODEL / folder / name)
    errors = {it["id"]: it["error"] for it in wrong}
    return {
        it["id"]: {
            "valid": it["id"] not in errors,
            "error": errors.get(it["id"], {}).get("error_type"),
            "message": format_message(errors.get(it["id"], {}).get("error_message")),
            "refusal": find_refusal(it),
        }
        for it in results
    }


def format_message(message: Any) -> str | None:
    if message is None:
        return None
    return (" ".join(message) if isinstance(message, list) else str(message))[:300]


def run(harness: SimpleNamespace, request: dict[str, Any], reporter: Reporter) -> None:
    handler = create_handler(harness, request["model"], request["temperature"])
    categories: list[str] = request["categories"]
    entries = {it: list_entries(harness, it, request["count"]) for it in categories}
    drop_torn_lines((find_result_file(harness, it) for it in categories), reporter)
    done = {it["id"] for category in categories for it in load_results(harness, category)}
    total = sum(len(it) for it in entries.values())
    count = sum(it["id"] in done for list_ in entries.values() for it in list_)
    reporter.send(kind="entries", total=total, done=count)
    todo = [it for list_ in entries.values() for it in list_ if it["id"] not in done]
    stopped: str | None = None
    try:
        lines = generate(
            lambda entry: answer(handler, harness, entry),
            todo,
            request["threads"],
            describe_failure,
        )
        for line in lines:
            handler.write(line, result_dir=Path(harness.utils.RESULT_PATH))
            count += 1
            reporter.send(kind="entries", total=total, done=count)
    except StoppedError as error:
        stopped = str(error)
    for category in categories:
        file = find_result_file(harness, category)
        if file.exists():
            harness.utils.sort_file_content_by_id(file)
        ids = {it["id"] for it in entries[category]}
        reporter.send(kind="checking", category=category)
        for id_, score in evaluate(handler, harness, category, ids).items():
            reporter.send(kind="score", id=id_, category=category, **score)
    reporter.send(kind="end", stopped=stopped)


if __name__ == "__main__":
    serve(import_harness, run)
