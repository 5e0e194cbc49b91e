"""`prove_rl.trl` in TRL's own `GRPOTrainer`, with the service that `prove-rl serve` starts."""

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from conftest import ROOT, Served, serve
from prove_rl import Client
from prove_rl.trl import Environment, Prove, prepare_template
from prove_rl.trl.environment import create_environment_class
from tiny_qwen import ScriptedGeneration, create_model, create_tokenizer, list_turns
from transformers import AutoTokenizer
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer

FAMILIES = ROOT / "test/model/huggingface/families"
PARTS = ["validity", "coverage", "efficiency", "name", "argument"]


def create_trainer(
    served: Served,
    rows: Path,
    out: Path,
    count: int,
    model: tuple[Any, Any] | None = None,
    peft_config: Any = None,
    **options: Any,
) -> Any:
    """A trainer for the rows with the shortest prompts, of a tiny Qwen3 if there is no model."""
    tokenizer = create_tokenizer(rows.read_text().splitlines()[:10]) if model is None else model[1]
    prove = Prove(served.url, eos_token_id=tokenizer.eos_token_id)
    prove.add_menus(tokenizer)
    data = prove.load_dataset(rows)
    # the menu is on the first message
    shortest = sorted(range(len(data)), key=lambda i: len(json.dumps(data[i]["prompt"])))
    settings = {
        "learning_rate": 0.1,
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "max_completion_length": 4_000,
        **options,
    }
    return GRPOTrainer(
        model=create_model(tokenizer) if model is None else model[0],
        processing_class=tokenizer,
        train_dataset=data.select(shortest[:count]),
        environment_factory=prove.Environment,
        reward_funcs=prove.reward_functions,
        peft_config=peft_config,
        args=GRPOConfig(
            output_dir=str(out),
            reward_weights=prove.reward_weights,
            use_cpu=True,
            bf16=False,
            report_to="none",
            save_strategy="no",
            logging_steps=1,
            max_tool_calling_iterations=12,
            chat_template_kwargs={"enable_thinking": False},
            **settings,
        ),
    )


# on PROVE's own servers, and on a third-party server
@pytest.mark.parametrize("served", ["example", "memory"], indirect=True)
def test_steps_on_real_tasks(served: Served, rows: Path, tmp_path: Path) -> None:
    trainer = create_trainer(served, rows, tmp_path, 3, max_steps=3)
    generation = ScriptedGeneration(trainer.processing_class, served.tasks)
    moved = train(trainer, generation)
    assert len(moved) == len(list(trainer.model.parameters()))
    for step in check_steps(trainer, 3):
        assert step["rewards/reward/std"] > 0.1
        # of four attempts, the first is the teacher's without errors
        assert 0.25 <= step["success"] < 1
    assert served.count_sessions() == 0


def train(trainer: Any, generation: Any) -> list[str]:
    """Train with this stand-in for `generate`, and return the names of what has changed."""
    before = {name: it.detach().clone() for name, it in trainer.model.named_parameters()}
    with patch.object(trainer.model, "generate", side_effect=generation):
        trainer.train()
    after = trainer.model.named_parameters()
    return [name for name, it in after if not torch.equal(it, before[name])]


def check_steps(trainer: Any, count: int) -> list[Any]:
    """What was logged at each step, after checks of what all trainings have in common."""
    steps = [it for it in trainer.state.log_history if "loss" in it]
    assert len(steps) == count
    for step in steps:
        assert math.isfinite(step["loss"])
        assert step["grad_norm"] > 0
        parts = {name: step[f"rewards/{name}/mean"] for name in PARTS}
        assert all(0 <= it <= 1 for it in parts.values()), parts
        assert step["reward"] == pytest.approx(step["rewards/reward/mean"])
        assert step["unscorable"] == 0
    return steps


def test_prompts_show_the_menu_of_their_row(served: Served, rows: Path) -> None:
    prove = Prove(served.url, eos_token_id=0)
    all_rows = prove.load_rows(rows)
    tokenizer = create_tokenizer(rows.read_text().splitlines()[:5])
    prove.add_menus(tokenizer)
    for row in all_rows[:5]:
        text = tokenizer.apply_chat_template(
            conversation=[row["prompt"]], tools=[print], tokenize=False
        )[0]
        shown = text.split("<tools>\n")[1].split("\n</tools>")[0].splitlines()
        assert [json.loads(it) for it in shown] == json.loads(row["menu"])
        assert row["prompt"][-1]["content"] in text
        assert '"menu"' not in text


def test_methods_have_the_schemas_of_the_catalog(served: Served) -> None:
    """transformers derives the same types, descriptions, enums and required keys from them."""
    prove = Prove(served.url, eos_token_id=0)
    environment = prove.Environment()
    tools = [it["function"] for it in prove.client.catalog()["tools"]]
    assert len(tools) == 343
    for tool in tools:
        derived = get_json_schema(getattr(environment, tool["name"]))["function"]
        assert derived["description"] == tool["description"]
        found, expected = derived["parameters"], tool["parameters"]
        assert set(found.get("required", [])) == set(expected.get("required", []))
        assert found["properties"].keys() == expected["properties"].keys()
        for name, schema in expected["properties"].items():
            kept = {key: schema[key] for key in ("type", "description", "enum") if key in schema}
            assert found["properties"][name].items() >= kept.items()


def test_types_of_other_schemas() -> None:
    properties = {
        "self": {"type": "string"},
        "not-a-name": {"type": "string"},
        "limit": {"type": ["integer", "null"], "description": "At most this many\nName: of rows"},
        "from": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {}}, "default": []},
        "any": {},
    }
    parameters = {"type": "object", "properties": properties, "required": ["from", "rows"]}
    tool = {"function": {"name": "find", "description": "Find rows.", "parameters": parameters}}
    environment: Any = create_environment_class([tool], Client("http://127.0.0.1:1"), {}, 1)()
    derived = get_json_schema(environment.find)["function"]
    assert derived["description"] == "Find rows."
    # `self` and names that are none in Python cannot be shown
    assert derived["parameters"]["required"] == ["from", "rows"]
    shown = derived["parameters"]["properties"]
    assert list(shown) == ["from", "rows", "limit", "any"]
    assert sorted(shown["from"]["type"]) == ["integer", "string"]
    assert shown["rows"]["items"]["type"] == "object"
    assert shown["limit"]["type"] == "integer" and shown["limit"]["nullable"]
    assert shown["limit"]["description"] == "At most this many Name: of rows"
    assert shown["any"] == {"description": "any"}


def test_calls_of_a_template_that_trl_does_not_know_are_parsed() -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(str(FAMILIES / "granite"))
    prepare_template(tokenizer)
    call = {"name": "look_up", "arguments": {"key": "</a>", "n": 1}}
    user = {"role": "user", "content": "Hello"}
    prompt = tokenizer.apply_chat_template([user], tokenize=False, add_generation_prompt=True)
    written = f"I look.\n<tool_call>{json.dumps(call)}</tool_call>{tokenizer.eos_token}"
    assert tokenizer.parse_response(written, prefix=prompt) == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"type": "function", "function": call}],
    }


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        ("llama", "does not write calls as JSON between <tool_call> tags"),
        ("llama2", "does not show tools, calls and their results"),
        ("qwen", "writes earlier messages differently"),
    ],
)
def test_templates_that_trl_cannot_use_are_refused(family: str, reason: str) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(str(FAMILIES / family))
    with pytest.raises(ValueError, match=reason):
        prepare_template(tokenizer)


def test_scores_are_those_of_the_service(served: Served, rows: Path) -> None:
    """The same calls have the same parts through TRL's environment and over HTTP."""
    client = Client(served.url)
    prove = Prove(served.url, eos_token_id=7)
    turns = {
        (it["task_id"], it["turn"]): it["prompt"][-1]["content"] for it in prove.load_rows(rows)
    }
    compared = 0
    for row in prove.load_rows(rows):
        messages = list_teacher_messages(served, turns[row["task_id"], row["turn"]])
        environment: Any = prove.Environment()
        environment.reset(**row)
        completion = []
        for message in messages:
            completion.append(message)
            for call in message.get("tool_calls", []):
                function = call["function"]
                text = getattr(environment, function["name"])(**function["arguments"])
                completion.append({"role": "tool", "name": function["name"], "content": text})
        values = {
            it.__name__: it([completion], [[1, 7]], [environment])[0]
            for it in prove.reward_functions
        }
        options = {} if row["turn"] == -1 else {"turn": row["turn"]}
        with client.open(row["task_id"], **options) as session:
            for message in messages:
                session.message(message)
            score = session.score()
        assert values == {"reward": score["reward"], **score["components"]}
        compared += 1
    assert compared > 20
    assert served.count_sessions() == 0


def test_an_attempt_in_which_the_service_fails_is_not_scored(served: Served, rows: Path) -> None:
    prove = Prove(served.url, eos_token_id=7)
    row = prove.load_rows(rows)[0]
    environment: Any = prove.Environment()
    environment.reset(**{**row, "task_id": "gone-1"})
    name = json.loads(row["menu"])[0]["function"]["name"]
    with pytest.raises(Exception, match="UNKNOWN_TASK"):
        getattr(environment, name)()
    # the service knows the task again
    environment._task["task_id"] = row["task_id"]
    completion = [{"role": "assistant", "content": "Done."}]
    assert prove.reward_functions[0]([completion], [[7]], [environment]) == [None]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "1" + "0" * 400])
def test_a_number_that_is_no_json_costs_validity(served: Served, rows: Path, number: str) -> None:
    prove = Prove(served.url, eos_token_id=7)
    row = prove.load_rows(rows)[0]
    environment: Any = prove.Environment()
    environment.reset(**row)
    name = json.loads(row["menu"])[0]["function"]["name"]
    arguments = {"amount": json.loads(number)}
    text = getattr(environment, name)(**arguments)
    assert "error_type" in text
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    completion = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": name, "content": text},
        {"role": "assistant", "content": "Sorry."},
    ]
    values = {
        it.__name__: it([completion], [[1, 7]], [environment]) for it in prove.reward_functions
    }
    assert 0 <= values["validity"][0] < 1
    assert values["reward"] != [None]
    assert served.count_sessions() == 0


def test_scores_wait_for_a_service_that_is_full(rows: Path) -> None:
    """TRL scores rollouts without calls, too, for which no session was opened before."""
    with serve("--capacity", "1") as full:
        other = Client(full.url).open("banking-11-1")
        free = threading.Timer(0.5, other.close)
        free.start()
        prove = Prove(full.url, eos_token_id=7)
        values = score_texts(prove, rows, [prove.Environment() for _ in range(3)])
        free.join()
        assert None not in values["reward"]
        assert full.count_sessions() == 0


def test_an_attempt_is_left_out_if_the_service_stays_full(rows: Path) -> None:
    with serve("--capacity", "1") as full:
        prove = Prove(full.url, eos_token_id=7, patience=0.5)
        environments = [prove.Environment() for _ in range(2)]
        with Client(full.url).open("banking-11-1"):
            values = score_texts(prove, rows, environments)
        assert values == {name: [None, None] for name in ["reward", *PARTS, "answer"]}
        # in the next step, the environments are used again
        values = score_texts(prove, rows, environments)
        assert all(None not in values[name] for name in ["reward", *PARTS])


def test_only_attempts_whose_process_ended_are_scored_again(
    served: Served, rows: Path, tmp_path: Path
) -> None:
    """The first of three attempts has a score at once, the second later, and the third never."""
    prove = Prove(served.url, eos_token_id=7, record=tmp_path, patience=1)
    run, sizes = prove.client.batch, []
    ended = {"code": "UNAVAILABLE", "message": "the worker process of the session ended"}

    def batch(requests: Sequence[Any]) -> list[Any]:
        results = run(requests)
        sizes.append(len(requests))
        for it in results[-6:] if len(sizes) == 1 else results[-3:]:
            it.update(status=503, body={"error": ended})
        return results

    with patch.object(prove.client, "batch", side_effect=batch):
        values = score_texts(prove, rows, [prove.Environment() for _ in range(3)])
    assert sizes[:3] == [9, 6, 3]
    for name in ["reward", *PARTS]:
        assert [it is None for it in values[name]] == [False, False, True]
    # the others are recorded
    assert len((tmp_path / "1.jsonl").read_text().splitlines()) == 2
    assert served.count_sessions() == 0


def score_texts(
    prove: Prove, rows: Path, environments: Sequence[Environment]
) -> dict[str, list[float | None]]:
    """The values of attempts whose only message is a text."""
    for environment, row in zip(environments, prove.load_rows(rows), strict=False):
        environment.reset(**row)
    completions = [[{"role": "assistant", "content": "Done."}] for _ in environments]
    ids = [[1, 7] for _ in environments]
    return {
        it.__name__: it(completions=completions, completion_ids=ids, environments=environments)
        for it in prove.reward_functions
    }


def test_two_processes(served: Served, rows: Path, tmp_path: Path) -> None:
    """`accelerate launch` with two processes, each with its own sessions."""
    program = [str(Path(__file__).parent / "train_tiny.py"), served.url, str(rows), str(tmp_path)]
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2"]
    # the processes find no GPU and use the CPU
    options = ["--multi_gpu", "--num_machines", "1", "--mixed_precision", "no"]
    options += ["--dynamo_backend", "no", "--main_process_port", "0"]
    paths = [str(ROOT / "resources/python"), str(ROOT / "test/engines")]
    result = subprocess.run(
        [*launch, *options, *program, str(served.tasks)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr[-4_000:]
    logs = [json.loads((tmp_path / f"rank{rank}.json").read_text()) for rank in (0, 1)]
    assert [it["processes"] for it in logs] == [2, 2]
    # the weights are the same in both, and not those from before
    assert logs[0]["after"] == logs[1]["after"] != logs[0]["before"]
    steps = [it for it in logs[0]["history"] if "loss" in it]
    assert len(steps) == 2
    assert all(math.isfinite(it["loss"]) and it["rewards/coverage/mean"] > 0 for it in steps)
    assert served.count_sessions() == 0


def list_teacher_messages(served: Served, said: str) -> list[Any]:
    """The teacher's messages in one turn, as TRL has them."""
    lines = served.tasks.read_text().splitlines()
    turn = next(it for line in lines for it in list_turns(line) if it["user"] == said)
    return [
        {
            "role": "assistant",
            "content": it["text"],
            "tool_calls": [{"type": "function", "function": call} for call in it["calls"]],
        }
        for it in turn["messages"]
    ]
