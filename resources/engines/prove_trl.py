"""Trains with TRL's `GRPOTrainer` on the tasks of `prove-rl serve`.

    prepare_template(tokenizer)
    prove = Prove("http://127.0.0.1:8970", eos_token_id=tokenizer.eos_token_id)
    prove.add_menus(tokenizer)
    trainer = GRPOTrainer(
        model=...,
        processing_class=tokenizer,
        train_dataset=prove.load_dataset("datasets/trl/train.jsonl"),
        environment_factory=prove.create_environment,
        reward_funcs=prove.reward_functions,
        args=GRPOConfig(reward_weights=prove.reward_weights, ...),
    )

The data set is written by `prove-rl export --to trl`. The rewards are those of `prove-rl score`: the
reward itself, which is trained on, and its five parts, which are logged. It was tested with TRL
1.16.0; `AsyncGRPOTrainer`, which runs attempts in another process, was not.
"""

from __future__ import annotations

import copy
import functools
import json
import keyword
import logging
import operator
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from prove_client import (
    BUSY,
    Client,
    Json,
    ProveError,
    create_delays,
    create_error,
    create_session_id,
    format_body,
)
from prove_groups import write_groups

if TYPE_CHECKING:
    from datasets import Dataset

RewardFunction = Callable[..., list[float | None]]

WHOLE_TASK = -1
"""The turn of a row that is for the whole task."""

BATCH_BYTES = 4_000_000
"""The size of a request with many scores; the service reads up to 8 MB."""


class Prove:
    """The service at a URL, as the parts that `GRPOTrainer` needs.

    With `record`, a folder, the attempts of each step are written to `<step>.jsonl` in it, as group
    files, which PROVE opens. `eos_token_id` is the token that ends a message, or several such
    tokens: a completion without it was cut off by the limit of tokens. `profile` names the reward
    profile, the service's default if absent. `options` are those of `prove_client.Client`.
    """

    def __init__(
        self,
        url: str,
        *,
        eos_token_id: int | Sequence[int],
        profile: str | None = None,
        record: str | Path | None = None,
        max_messages: int = 1_000,
        patience: float = 60,
        **options: Any,
    ) -> None:
        self.client = Client(url, patience=patience, **options)
        catalog = self.client.catalog()
        self.components: list[str] = catalog["components"]
        self._ends = {eos_token_id} if isinstance(eos_token_id, int) else set(eos_token_id)
        self._profile = {} if profile is None else {"profile": profile}
        self._record = None if record is None else Path(record)
        self._tools: dict[str, Json] = {it["function"]["name"]: it for it in catalog["tools"]}
        self._environment = create_environment_class(catalog["tools"])
        self._opening = {"policy": "trl", "max_messages": max_messages}
        self._patience = patience

    def create_environment(self) -> Environment:
        """The `environment_factory`. Each rollout has an environment, which TRL uses again."""
        return self._environment(self.client, self._opening, self._patience)

    @property
    def reward_functions(self) -> list[Any]:
        """The `reward_funcs`: the reward, then its parts. A batch is scored once for all."""
        names = ["reward", *self.components]
        functions = [create_reward_function(name, self._score) for name in names]
        if self._record is not None:
            functions[0] = record_groups(functions[0], self._record)
        return functions

    @property
    def reward_weights(self) -> list[float]:
        """The `reward_weights`: only the reward counts, because it is the sum of its parts."""
        return [1.0] + [0.0] * len(self.components)

    def load_dataset(self, file: str | Path) -> Dataset:
        """The rows of `load_rows` as a data set."""
        from datasets import Dataset

        return Dataset.from_list(self.load_rows(file))

    def load_rows(self, file: str | Path) -> list[Json]:
        """The rows that `prove-rl export --to trl` wrote, each menu on the first message."""
        with open(file, encoding="utf-8") as lines:
            rows: list[Json] = [json.loads(line) for line in lines if line.strip()]
        for row in rows:
            first, *others = row["prompt"]
            row["prompt"] = [{**first, "menu": row["menu"]}, *others]
        return rows

    def add_menus(self, tokenizer: Any) -> None:
        """Make the tokenizer's chat template show each row's own tools.

        TRL shows all tools of an environment in every prompt. Arguments of earlier calls, which
        the rows have as texts, become objects, as all chat templates accept them. Calls are parsed
        with the catalog's schemas instead of ones that transformers derives from all methods of an
        environment, again for each message.
        """
        render = tokenizer.apply_chat_template

        def apply_chat_template(conversation: Any, tools: Any = None, **options: Any) -> Any:
            is_one = len(conversation) > 0 and isinstance(conversation[0], Mapping)
            conversations = [conversation] if is_one else conversation
            menus = [menu for it in conversations if (menu := find_menu(it)) is not None]
            if len(set(menus)) > 1:
                raise ValueError("a chat template shows one menu at a time: render row by row")
            if menus:
                tools = json.loads(menus[0]) or None
            clean = [[clean_message(message) for message in it] for it in conversations]
            return render(clean[0] if is_one else clean, tools=tools, **options)

        tokenizer.apply_chat_template = apply_chat_template
        parse = tokenizer.parse_response

        def parse_response(*response: Any, tools: Any = None, **options: Any) -> Any:
            if tools:
                named = [(getattr(it, "__name__", ""), it) for it in tools]
                options["tools"] = [self._tools.get(name, it) for name, it in named]
            return parse(*response, **options)

        tokenizer.parse_response = parse_response

    def _score(
        self,
        environments: Sequence[Environment],
        completions: Sequence[Sequence[Json]],
        completion_ids: Sequence[Sequence[int]],
    ) -> list[Json]:
        """The scores of a batch, which closes its sessions."""
        if any(
            it._scored is not completion
            for it, completion in zip(environments, completions, strict=True)
        ):
            bodies = [
                {
                    **self._profile,
                    **({} if self._record is None else {"group": True}),
                    "messages": [it for it in completion if it["role"] == "assistant"],
                    "cut": len(ids) == 0 or ids[-1] not in self._ends,
                }
                for completion, ids in zip(completions, completion_ids, strict=True)
            ]
            for batch in split_batches(environments, bodies):
                self._score_batch(batch)
            for environment, completion in zip(environments, completions, strict=True):
                environment._scored = completion
        return [it._score for it in environments]

    def _score_batch(self, batch: list[tuple[Environment, Json]]) -> None:
        """Score attempts, again while the service is full or a process of it has ended.

        That is safe, because their messages are executed anew. Those for which it takes too long
        have no score.
        """
        deadline = time.monotonic() + self._patience
        for delay in create_delays():
            results = self.client.batch(
                [it for environment, body in batch for it in environment._finish(body)]
            )
            is_late = time.monotonic() + delay > deadline
            others: list[tuple[Environment, Json]] = []
            for i, (environment, body) in enumerate(batch):
                opened, scored, deleted = results[3 * i : 3 * i + 3]
                busy = [it for it in (opened, scored, deleted) if it["status"] == BUSY]
                if busy and not is_late:
                    others.append((environment, body))
                elif busy and scored["status"] >= 300:
                    environment._fault = str(create_result_error(busy[0]))
                    environment._score = {}
                else:
                    environment._score = read_result(scored)
            if not others:
                return
            batch = others
            time.sleep(delay)


class Environment:
    """One rollout at a time. Its public methods are the tools, which subclasses add.

    A session is opened with the first call, so that a rollout without calls needs none.
    """

    def __init__(self, client: Client, opening: Json, patience: float) -> None:
        self._client = client
        self._opening = opening
        self._patience = patience
        self._session_id = create_session_id()
        self._task: Json = {}
        self._seq = 0
        self._fault: str | None = None
        self._score: Json = {}
        self._scored: object = None

    def reset(self, **row: Any) -> None:
        """Begin an attempt at the task of a row."""
        turn = row["turn"]
        self._task = {
            "task_id": row["task_id"],
            "trajectory_id": row["trajectory_id"],
            **({} if turn == WHOLE_TASK else {"turn": turn}),
            **self._opening,
        }
        self._session_id = create_session_id()
        self._seq = 0
        self._fault = None

    def _open(self) -> Json:
        return {"do": "open", "session_id": self._session_id, "body": self._task}

    def _call(self, name: str, arguments: Json) -> str:
        """The result of a call, as the model should see it."""
        call = {"seq": self._seq + 1, "name": name, "arguments": arguments}
        requests = [{"do": "call", "session_id": self._session_id, "body": call}]
        if self._seq == 0:
            requests.insert(0, self._open())
        try:
            result = self._run(requests)
        except Exception as error:
            # TRL shows the error to the model and goes on
            self._fault = str(error)
            raise
        self._seq += 1
        text: str = result["text"]
        return text

    def _run(self, requests: list[Json]) -> Json:
        """The result of the last request. Waits while the service has too many sessions."""
        deadline = time.monotonic() + self._patience
        while True:
            results = self._client.batch(requests)
            is_busy = any(it["status"] == BUSY for it in results)
            if not is_busy or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        return [read_result(it) for it in results][-1]

    def _finish(self, score: Json) -> list[Json]:
        """The requests that score the attempt and close its session.

        The messages are executed anew, so it does not matter if the session had to be opened
        again. An attempt in which the service failed is not scored.
        """
        requests = [self._open(), {"do": "score", "session_id": self._session_id, "body": score}]
        return [*requests, {"do": "delete", "session_id": self._session_id}]


def write_together(trainer: Any) -> None:
    """Make processes that share the weights write the same number of messages. Call it before
    `train`.

    With FSDP and ZeRO-3, no process can write without all others. TRL writes once for each round
    of calls, and the attempts of one process can have more rounds than those of another.
    """
    from accelerate.utils import gather_object

    deepspeed = trainer.accelerator.state.deepspeed_plugin
    is_shared = trainer.is_fsdp_enabled or (deepspeed is not None and deepspeed.zero_stage == 3)
    # vLLM has all weights
    if not is_shared or trainer.use_vllm:
        return
    write = trainer._generate_single_turn
    call_tools = trainer._tool_call_loop

    def is_anyone_writing(is_writing: bool) -> bool:
        return any(gather_object([is_writing]))

    def write_with_others(*batch: Any, **options: Any) -> Any:
        is_anyone_writing(True)
        return write(*batch, **options)

    def call_tools_with_others(prompts: Any, prompt_ids: Any, *batch: Any) -> Any:
        results = call_tools(prompts, prompt_ids, *batch)
        settings = trainer.generation_config
        trainer.generation_config = copy.deepcopy(settings)
        trainer.generation_config.max_new_tokens = 1
        # while the attempts of others go on, a token that nobody reads
        while is_anyone_writing(False):
            write(prompt_ids[:1], None, {}, num_generations=1)
        trainer.generation_config = settings
        return results

    trainer._generate_single_turn = write_with_others
    trainer._tool_call_loop = call_tools_with_others


def save_model(trainer: Any, folder: str | Path) -> None:
    """Save the model with all its weights, also if processes share them.

    By default, a trainer whose checkpoints are in parts, as they are with FSDP, saves no weights.
    """
    if trainer.is_fsdp_enabled:
        trainer.accelerator.state.fsdp_plugin.set_state_dict_type("FULL_STATE_DICT")
    trainer.save_model(str(folder))


def end_process(trainer: Any) -> NoReturn:
    """End this process of a training that has saved everything, without Python's shutdown.

    During the shutdown, a thread of torch.distributed that still holds a tensor can abort the
    process, and the launcher then reports a failed training
    (https://github.com/pytorch/pytorch/pull/179291).
    """
    trainer.accelerator.end_training()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def create_environment_class(tools: Sequence[Json]) -> type[Environment]:
    """An environment that has these tools as methods, as TRL expects them."""
    functions = [it["function"] for it in tools]
    return type(
        "ProveEnvironment", (Environment,), {it["name"]: create_method(it) for it in functions}
    )


def create_method(function: Json) -> Callable[..., str]:
    """The method of a tool, with a signature and a docstring, from which transformers derives a
    schema. Calls may have any other arguments, too: the service checks them."""
    name = function["name"]

    # a tool may have an argument named self
    def call(self: Environment, /, **arguments: Any) -> str:
        return self._call(name, arguments)

    parameters = list_parameters(function["parameters"])
    signature = Signature(
        [Parameter("self", Parameter.POSITIONAL_ONLY), *parameters], return_annotation=str
    )
    described = function["parameters"].get("properties", {})
    lines = [f"    {it.name}: {format_line(described[it.name], it.name)}" for it in parameters]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = "\n".join(
        [format_line(function, name)] + (["", "Args:", *lines] if lines else [])
    )
    call.__annotations__ = {**{it.name: it.annotation for it in parameters}, "return": str}
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def list_parameters(schema: Json) -> list[Parameter]:
    """The arguments of a schema as parameters. Names that Python does not allow are left out.

    An argument that is not required has the default None but not the type, because null is none
    of its values.
    """
    required = schema.get("required", [])
    names = [it for it in schema.get("properties", {}) if it.isidentifier() and it != "self"]
    # only these may be called `from`; those without a default come first
    has_keywords = any(keyword.iskeyword(it) for it in names)
    kind = Parameter.POSITIONAL_ONLY if has_keywords else Parameter.KEYWORD_ONLY
    if has_keywords:
        names.sort(key=lambda it: it not in required)
    return [
        Parameter(
            name,
            kind,
            annotation=create_type(schema["properties"][name]),
            default=Parameter.empty
            if name in required
            else schema["properties"][name].get("default"),
        )
        for name in names
    ]


PYTHON_TYPES = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}


def create_type(schema: Json) -> Any:
    """The Python type of the values of a schema."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values and all(isinstance(it, (str, int, float, bool)) or it is None for it in values):
        return Literal[tuple(values)]
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return functools.reduce(operator.or_, map(create_type, branches))
    kind = schema.get("type")
    if isinstance(kind, list):
        return create_type({"anyOf": [{**schema, "type": it} for it in kind]})
    if kind == "array":
        return list[create_type(schema.get("items", {}))]  # type: ignore[misc]
    if kind == "object":
        return dict[str, Any]
    return PYTHON_TYPES.get(str(kind), Any)


def format_line(described: Json, name: str) -> str:
    return " ".join(described.get("description", name).split()) or name


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


def create_reward_function(
    name: str, score: Callable[[Any, Any, Any], list[Json]]
) -> RewardFunction:
    """A function for `reward_funcs`: one value of the scores, None if an attempt has no score."""

    def get_values(
        completions: Sequence[Any],
        completion_ids: Sequence[Any],
        environments: Sequence[Environment],
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        **_: Any,
    ) -> list[float | None]:
        scores = score(environments, completions, completion_ids)
        scored = [
            None if environment._fault else it
            for environment, it in zip(environments, scores, strict=True)
        ]
        if name == "reward" and log_metric is not None:
            successes = [it["success"] for it in scored if it and it["success"] is not None]
            if successes:
                log_metric("success", sum(successes) / len(successes))
            log_metric("unscorable", sum(not it or it["reward"] is None for it in scored))
        if name == "reward" and log_extra is not None:
            # by these, `prove-rl import trl` knows the attempt of a logged completion
            for column in ("task_id", "turn"):
                log_extra(column, [it._task.get(column, WHOLE_TASK) for it in environments])
        return [get_value(it) for it in scored]

    def get_value(it: Json | None) -> float | None:
        if it is None:
            return None
        value: float | None = it["reward"] if name == "reward" else it["components"][name]
        return value

    get_values.__name__ = name
    return get_values


def record_groups(function: RewardFunction, folder: Path) -> RewardFunction:
    """The function, which also writes the attempts of all processes to `<step>.jsonl`."""
    from accelerate import PartialState
    from accelerate.utils import gather_object

    def reward(
        environments: Sequence[Environment], trainer_state: Any = None, **options: Any
    ) -> list[float | None]:
        rewards = function(environments=environments, **options)
        attempts = [
            {"turn": it._task.get("turn"), "reward": value, "line": it._score["group"]}
            for it, value in zip(environments, rewards, strict=True)
            if value is not None and "group" in it._score
        ]
        state = PartialState()
        everything = gather_object(attempts) if state.num_processes > 1 else attempts
        if state.is_main_process:
            step = 1 if trainer_state is None else trainer_state.global_step + 1
            # that of TRL's default, `scale_rewards`
            write_groups(folder, step, everything, epsilon=1e-4)
        return rewards

    reward.__name__ = function.__name__
    return reward


def split_batches(
    environments: Sequence[Environment], bodies: Sequence[Json]
) -> Iterator[list[tuple[Environment, Json]]]:
    """The attempts in batches that the service accepts."""
    batch: list[tuple[Environment, Json]] = []
    size = 0
    for environment, body in zip(environments, bodies, strict=True):
        length = len(format_body(body))
        if batch and (size + length > BATCH_BYTES or len(batch) == 1_000):
            yield batch
            batch, size = [], 0
        batch.append((environment, body))
        size += length
    if batch:
        yield batch


def read_result(result: Json) -> Json:
    """The body of a batch's result. Raises a `ProveError` if the request was refused."""
    body: Json = result["body"]
    if result["status"] >= 300:
        raise create_result_error(result)
    return body


def create_result_error(result: Json) -> ProveError:
    """The error of a batch's result that was refused."""
    return create_error(result["status"], json.dumps(result["body"]).encode())


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
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        return call
    return {**call, "function": {**function, "arguments": arguments}}
