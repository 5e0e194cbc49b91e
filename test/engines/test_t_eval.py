"""t_eval.py with an endpoint and evaluators that stand in for T-Eval's, which no package has."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prove_rl.benchmarks import t_eval
from prove_rl.benchmarks.harness import TOO_LONG, Reporter


class InstructEvaluator:
    """Half right: the format."""

    def __init__(self, _path: str, **_options: str) -> None:
        pass

    def _process_response(self, datum: Any) -> Any:
        return datum["prediction"]

    def _evaluate(self, prediction: Any) -> dict[str, float]:
        if prediction == "clean broken":
            raise ValueError("max() arg is an empty sequence")
        right = prediction == "clean right"
        return {"json_format_metric": 1, "json_args_em_metric": float(right)}


class ReasonRetrieveUnderstandEvaluator:
    def __init__(self, _path: str, **options: str) -> None:
        assert options == {"default_prompt_type": "json", "eval_type": "rru"}

    def _process_response(self, datum: Any) -> Any:
        return datum["prediction"], 0

    def _evaluate(self, sample: Any) -> Any:
        return sample

    def _post_process(self, samples: list[Any]) -> dict[str, float]:
        assert samples == ["clean right"]
        return {"thought": 0.25, "name": 1, "args": 0.99999, "parse_rate": 1}


class EndpointError(Exception):
    code = TOO_LONG


class Completions:
    """Answers with the last message, or refuses it as too long."""

    def create(self, *, model: str, messages: list[Any], temperature: float) -> Any:
        assert (model, temperature) == ("m", 0)
        assert {it["role"] for it in messages} <= {"system", "user", "assistant"}
        if messages[-1]["content"] == "long":
            raise EndpointError
        message = SimpleNamespace(content=messages[-1]["content"])
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])


def run(folder: Path, categories: list[str]) -> list[Any]:
    """The lines that the program writes."""
    completions = SimpleNamespace(completions=Completions())
    openai = SimpleNamespace(
        OpenAI=lambda base_url: SimpleNamespace(chat=completions),
        BadRequestError=EndpointError,
        OpenAIError=EndpointError,
    )
    harness = SimpleNamespace(
        openai=openai,
        evaluators=SimpleNamespace(
            InstructEvaluator=InstructEvaluator,
            ReasonRetrieveUnderstandEvaluator=ReasonRetrieveUnderstandEvaluator,
        ),
        clean_up=lambda text: f"clean {text}",
    )
    request = {
        "model": "m",
        "base_url": "http://127.0.0.1:1/v1",
        "temperature": 0,
        "threads": 2,
        "count": None,
        "embeddings": None,
        "categories": categories,
        "folder": str(folder),
        "data": str(folder),
    }
    stream = io.StringIO()
    t_eval.run(harness, request, Reporter(stream))
    return [json.loads(it) for it in stream.getvalue().splitlines()]


def test_cases_are_asked_once_and_scored_by_category(tmp_path: Path) -> None:
    ask = [{"role": "system", "content": "s"}]
    json_case = {"meta_data": {"response_format": "json"}}
    cases = {
        name: json_case | {"origin_prompt": [*ask, {"role": "user", "content": name}]}
        for name in ("right", "wrong", "long", "broken")
    }
    (tmp_path / "instruct_v2_subset.json").write_text(json.dumps(cases), encoding="utf-8")
    # a prompt as text, with the result of a call
    prompt = json.dumps([*ask, {"role": "function", "content": "right"}])
    (tmp_path / "reason_retrieve_understand_json_v2.json").write_text(
        json.dumps({"q": {"origin_prompt": prompt}}), encoding="utf-8"
    )
    categories = ["instruct_json", "retrieve_json", "understand_json"]
    lines = run(tmp_path, categories)
    scores = {it["id"]: (it["score"], it["valid"]) for it in lines if it["kind"] == "score"}
    assert scores == {
        "instruct_json/right": (1, True),
        "instruct_json/wrong": (0.5, False),
        "instruct_json/long": (0.5, False),
        "instruct_json/broken": (0, False),
        "retrieve_json/q": (1, True),
        "understand_json/q": (0.99999, True),
    }
    refusals = {it["id"]: it["refusal"] for it in lines if it["kind"] == "score" and it["refusal"]}
    assert refusals == {"instruct_json/long": TOO_LONG}
    answers = tmp_path / "answers/instruct.jsonl"
    text = answers.read_text(encoding="utf-8")
    answers.write_text(text[:-3], encoding="utf-8")
    again = run(tmp_path, categories)
    assert [it["kind"] for it in again[:2]] == ["torn", "entries"]
    assert again[1] == {"kind": "entries", "total": 5, "done": 4}
    assert sorted(answers.read_text(encoding="utf-8")) == sorted(text)


def test_a_function_is_taken_from_a_program(tmp_path: Path) -> None:
    file = tmp_path / "test.py"
    file.write_text("import missing\ndef clean(text):\n    return text.strip()\n", encoding="utf-8")
    assert t_eval.load_function(file, "clean")(" a ") == "a"
    with pytest.raises(ImportError, match="has no function other"):
        t_eval.load_function(file, "other")
