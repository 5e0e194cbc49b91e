"""Runs the official T-Eval, from a copy of its repository, against an OpenAI-compatible endpoint.

`prove-rl benchmark t-eval` starts this program; `harness` describes how they talk. The key of
the endpoint comes from the environment (`OPENAI_API_KEY`). The request names the folders of the
repository (`harness`), of the data (`data`), and of a model of sentence-transformers
(`embeddings`, or null). Prompts, evaluators and the clean-up of answers are T-Eval's.

The answers are written to `answers/<file>.jsonl`, one row with `messages` for each case.
"""

import ast
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

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


@dataclass(frozen=True)
class Kind:
    """A file of the data, and how T-Eval scores it."""

    evaluator: str
    options: dict[str, str]
    metrics: dict[str, str]
    """The category of each metric."""


RRU = "ReasonRetrieveUnderstandEvaluator"
KINDS = {
    # the category depends on the case: see `list_categories`
    "instruct": Kind("InstructEvaluator", {}, {"json": "instruct_json", "string": "instruct_str"}),
    "plan_json": Kind(
        "PlanningEvaluator", {"default_prompt_type": "json"}, {"f1_score": "plan_json"}
    ),
    "plan_str": Kind("PlanningEvaluator", {"default_prompt_type": "str"}, {"f1_score": "plan_str"}),
    "reason_retrieve_understand_json": Kind(
        RRU,
        {"default_prompt_type": "json", "eval_type": "rru"},
        {"thought": "reason_json", "name": "retrieve_json", "args": "understand_json"},
    ),
    "reason_str": Kind(
        RRU, {"default_prompt_type": "str", "eval_type": "reason"}, {"thought": "reason_str"}
    ),
    "retrieve_str": Kind(
        RRU, {"default_prompt_type": "str", "eval_type": "retrieve"}, {"name": "retrieve_str"}
    ),
    "understand_str": Kind(
        RRU, {"default_prompt_type": "str", "eval_type": "understand"}, {"args": "understand_str"}
    ),
    "review_str": Kind("ReviewEvaluator", {}, {"review_quality": "review_str"}),
}


class Case(NamedTuple):
    """A prompt of a file."""

    kind: str
    id: str
    prompt: list[dict[str, str]]


def no_embeddings() -> dict[str, Any]:
    """A module like sentence_transformers, for categories that do not compare sentences."""
    numpy: Any = importlib.import_module("numpy")
    zero = SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: numpy.zeros((1, 1))))

    class SentenceTransformer:
        def __init__(self, *_args: Any) -> None:
            pass

        def encode(self, texts: list[str], **_options: Any) -> list[str]:
            return texts

    return {
        "SentenceTransformer": SentenceTransformer,
        "util": SimpleNamespace(cos_sim=lambda _a, _b: zero),
    }


def import_harness(request: dict[str, Any]) -> SimpleNamespace:
    """Import T-Eval's evaluators from its folder. Raises ImportError."""
    os.environ.setdefault("OPENAI_API_KEY", "EMPTY")
    os.environ["HF_HUB_OFFLINE"] = "1"
    add_placeholders(
        {
            # only reads files, which this program does
            "mmengine": {"load": None},
            # imported and not used
            "evaluate": {},
            "termcolor": {"colored": None},
        }
    )
    if request["embeddings"] is None:
        add_placeholders({"sentence_transformers": no_embeddings()})
    folder = Path(request["harness"])
    sys.path.insert(0, str(folder))
    return SimpleNamespace(
        openai=importlib.import_module("openai"),
        evaluators=importlib.import_module("teval.evaluators"),
        clean_up=load_function(folder / "test.py", "split_special_tokens"),
    )


def load_function(file: Path, name: str) -> Callable[[str], str]:
    """A function of a program, without the packages that the rest of it imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = [it for it in tree.body if isinstance(it, ast.FunctionDef) and it.name == name]
    if not found:
        raise ImportError(f"{file} has no function {name}")
    scope: dict[str, Any] = {}
    exec(compile(ast.Module([*found], []), str(file), "exec"), scope)  # noqa: S102
    function: Callable[[str], str] = scope[name]
    return function


def find_data(data: Path, kind: str) -> Path:
    """The file with all cases, or with a fifth of them."""
    file = data / f"{kind}_v2.json"
    return file if file.exists() else data / f"{kind}_v2_subset.json"


def load_cases(data: Path, kind: str) -> dict[str, dict[str, Any]]:
    cases: dict[str, dict[str, Any]] = json.loads(find_data(data, kind).read_text(encoding="utf-8"))
    return cases


def create_prompt(case: dict[str, Any]) -> list[dict[str, str]]:
    """The messages, with results of calls as the user's, as T-Eval's chat templates have them."""
    prompt = case["origin_prompt"]
    messages: list[dict[str, str]] = json.loads(prompt) if isinstance(prompt, str) else prompt
    return [{**it, "role": "user"} if it["role"] == "function" else it for it in messages]


def get_answer_file(folder: Path, kind: str) -> Path:
    return folder / "answers" / f"{kind}.jsonl"


def load_answers(folder: Path, kind: str) -> dict[str, dict[str, Any]]:
    """The rows with the model's answers by case."""
    file = get_answer_file(folder, kind)
    if not file.exists():
        return {}
    rows = [json.loads(it) for it in file.read_text(encoding="utf-8").splitlines()]
    return {it["trajectory_id"].removeprefix(f"{kind}/"): it for it in rows}


def answer(harness: SimpleNamespace, client: Any, request: dict[str, Any], case: Case) -> Any:
    """The row of a case. Raises StoppedError if the endpoint fails."""
    openai = harness.openai
    failure: str | None = None
    try:
        completion = client.chat.completions.create(
            model=request["model"], messages=case.prompt, temperature=request["temperature"]
        )
        text: str = completion.choices[0].message.content or ""
    except openai.BadRequestError as error:
        failure = TOO_LONG if error.code == TOO_LONG else describe(error)
        text = ""
    except openai.OpenAIError as error:
        raise StoppedError(describe(error)) from error
    messages = [*case.prompt, {"role": "assistant", "content": text}]
    return {
        "trajectory_id": f"{case.kind}/{case.id}",
        "messages": messages,
        **({} if failure is None else {"failure": failure}),
    }


def describe_failure(row: dict[str, Any]) -> str | None:
    """Why the case failed, if the reason may be the endpoint's, and not the model's."""
    failure: str | None = row.get("failure")
    return None if failure == TOO_LONG else failure


def list_categories(kind: Kind, datum: dict[str, Any]) -> list[str]:
    """The categories that a case counts for."""
    if kind.evaluator == "InstructEvaluator":
        return [kind.metrics[datum["meta_data"]["response_format"]]]
    return list(kind.metrics.values())


def score_case(evaluator: Any, kind: Kind, datum: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The score of each category, by T-Eval's evaluator for a file with this case only."""
    sample = evaluator._process_response(datum)
    if isinstance(sample, tuple):
        sample = sample[0]
    metrics = evaluator._evaluate(sample)
    if kind.evaluator == "InstructEvaluator":
        form = datum["meta_data"]["response_format"]
        score = (metrics[f"{form}_format_metric"] + metrics[f"{form}_args_em_metric"]) / 2
        (category,) = list_categories(kind, datum)
        yield category, float(score)
        return
    means = evaluator._post_process([metrics])
    for metric, category in kind.metrics.items():
        yield category, float(means[metric])


def run(harness: SimpleNamespace, request: dict[str, Any], reporter: Reporter) -> None:
    folder, data = Path(request["folder"]), Path(request["data"])
    categories: list[str] = request["categories"]
    kinds = {
        name: it for name, it in KINDS.items() if any(c in categories for c in it.metrics.values())
    }
    (folder / "answers").mkdir(exist_ok=True)
    drop_torn_lines((get_answer_file(folder, it) for it in kinds), reporter)
    cases = {name: load_cases(data, name) for name in kinds}
    chosen = {name: list(them)[: request["count"]] for name, them in cases.items()}
    done = {name: set(load_answers(folder, name)) for name in kinds}
    todo = [
        Case(name, id_, create_prompt(cases[name][id_]))
        for name, ids in chosen.items()
        for id_ in ids
        if id_ not in done[name]
    ]
    total = sum(len(it) for it in chosen.values())
    count = total - len(todo)
    reporter.send(kind="entries", total=total, done=count)
    client = harness.openai.OpenAI(base_url=request["base_url"])
    stopped: str | None = None
    try:
        lines = generate(
            lambda case: answer(harness, client, request, case),
            todo,
            request["threads"],
            describe_failure,
        )
        for line in lines:
            name = line["trajectory_id"].partition("/")[0]
            with get_answer_file(folder, name).open("a", encoding="utf-8") as output:
                output.write(f"{json.dumps(line)}\n")
            count += 1
            reporter.send(kind="entries", total=total, done=count)
    except StoppedError as error:
        stopped = str(error)
    for name, kind in kinds.items():
        reporter.send(kind="checking", category=name)
        models = (
            {} if request["embeddings"] is None else {"bert_score_model": request["embeddings"]}
        )
        evaluator = getattr(harness.evaluators, kind.evaluator)("", **kind.options, **models)
        for id_, row in load_answers(folder, name).items():
            if id_ not in cases[name]:
                continue
            datum = cases[name][id_] | {
                "prediction": harness.clean_up(row["messages"][-1]["content"])
            }
            fault: str | None = None
            try:
                scores = dict(score_case(evaluator, kind, datum))
            except Exception as raised:  # noqa: BLE001
                # T-Eval would end, for example for a plan with nothing but its end
                scores = dict.fromkeys(list_categories(kind, datum), 0.0)
                fault = f"cannot be scored: {describe(raised)}"
            for category, score in scores.items():
                if category in categories:
                    reporter.send(
                        kind="score",
                        id=f"{category}/{id_}",
                        category=category,
                        # T-Eval adds 1e-5 to numbers that it divides by
                        valid=score > 0.999,
                        # a cosine may be beyond by a rounding error
                        score=min(max(score, 0.0), 1.0),
                        error=fault,
                        message=None,
                        refusal=row.get("failure"),
                    )
    reporter.send(kind="end", stopped=stopped)


if __name__ == "__main__":
    serve(import_harness, run)
