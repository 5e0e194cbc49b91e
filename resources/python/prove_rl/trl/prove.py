"""The service as the parts that `GRPOTrainer` needs: data, environments and rewards."""

from __future__ import annotations

import functools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..calls import read_message
from ..client import BUSY, Client, Json, create_delays, format_body
from ..evaluation import Evaluation
from ..groups import write_groups
from ..service import Service, run_program
from .environment import (
    WHOLE_TASK,
    Environment,
    create_environment_class,
    create_result_error,
    read_result,
)
from .template import (
    clean_message,
    create_message,
    find_call_syntax,
    find_menu,
    prepare_template,
)
from .version import check_trl

if TYPE_CHECKING:
    from datasets import Dataset
    from typing_extensions import Self

RewardFunction = Callable[..., list[float | None]]

BATCH_BYTES = 4_000_000
"""The size of a request with many scores; the service reads up to 8 MB."""


class Prove:
    """A service as the parts that `GRPOTrainer` needs.

    The service is the one at `url`, by default that of the environment variable PROVE_URL, or else
    one that is started for the file `tasks`, on a free port unless `port` names one. `train`,
    `heldout` and `config` need the file in either case.

    With `record`, a folder, the attempts of each step are written to `<step>.jsonl` in it, as group
    files, which PROVE opens. `eos_token_id` is the token that ends a message, or several such
    tokens: a completion without it was cut off by the limit of tokens. By default it is that of
    the tokenizer that `add_menus` or `load_tokenizer` gets. `profile` names the reward profile,
    the service's default if absent. `options` are those of `prove_rl.Client`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        tasks: str | Path | None = None,
        eos_token_id: int | Sequence[int] | None = None,
        profile: str | None = None,
        record: str | Path | None = None,
        port: int = 0,
        max_messages: int = 1_000,
        patience: float = 60,
        **options: Any,
    ) -> None:
        check_trl()
        url = url or os.environ.get("PROVE_URL")
        self._tasks = None if tasks is None else Path(tasks).resolve()
        self._service: Service | None = None
        if url is None:
            self._service = Service.start(self._require_tasks(), port=port)
            url = self._service.url
            options["on_lost"] = self._service.check
        self.url = url
        self.client = Client(url, patience=patience, **options)
        catalog = self.client.catalog()
        self.components: list[str] = catalog["components"]
        self._ends = {eos_token_id} if isinstance(eos_token_id, int) else set(eos_token_id or [])
        self._model: str | None = None
        self._profile = {} if profile is None else {"profile": profile}
        self._record = None if record is None else Path(record)
        self.is_recording = True
        """Whether attempts are those of a step; those of an evaluation are not."""
        self._tools: dict[str, Json] = {it["function"]["name"]: it for it in catalog["tools"]}
        self._patience = patience
        self.Environment = create_environment_class(
            catalog["tools"], self.client, {"policy": "trl", "max_messages": max_messages}, patience
        )
        """The `environment_factory`. Each rollout has an environment, which TRL uses again."""

    def close(self) -> None:
        """End the service, if it was started for this object. It ends with Python, too."""
        self.client.close()
        if self._service is not None:
            self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @functools.cached_property
    def train(self) -> Dataset:
        """The rows of the tasks of the split `train`."""
        return self._create_dataset("train.jsonl")

    @functools.cached_property
    def heldout(self) -> Dataset:
        """The rows of all tasks that are held out."""
        return self._create_dataset("heldout-*.jsonl")

    @property
    def reward_functions(self) -> list[Any]:
        """The `reward_funcs`: the reward, then its parts. A batch is scored once for all."""
        names = ["reward", *self.components]
        functions = [create_reward_function(name, self._score) for name in names]
        if self._record is not None:
            functions[0] = record_groups(functions[0], self._record, lambda: self.is_recording)
        return functions

    @property
    def reward_weights(self) -> list[float]:
        """The `reward_weights`: only the reward counts, because it is the sum of its parts."""
        return [1.0] + [0.0] * len(self.components)

    def config(
        self, create: Any, *, model: str | None = None, gpus: int | None = None, **settings: Any
    ) -> Any:
        """The `args`: a `GRPOConfig` with the settings of `prove-rl engine prepare trl`.

        `create` is the class. The settings depend on the model, by default the one of
        `load_tokenizer`, and on the number of GPUs, by default those of this machine. They include
        an evaluation before the first step; `settings` come before all of them.
        """
        import torch

        name = model or self._model
        if name is None:
            raise ValueError("give the name or the folder of the model: config(..., model=...)")
        count = torch.cuda.device_count() if gpus is None else gpus
        arguments = ["--model", name, "--gpus", str(count)]
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "trl"
            tasks = str(self._require_tasks())
            run_program("engine", "prepare", "trl", "--tasks", tasks, *arguments, "--out", str(out))
            prepared = json.loads((out / "config.json").read_text(encoding="utf-8"))["grpo"]
        evaluation: Json = {"eval_on_start": True} if len(self.heldout) > 0 else {}
        values = {"reward_weights": self.reward_weights, **prepared, **evaluation, **settings}
        return create(**values)

    def evaluate(self, trainer: Any) -> Evaluation:
        """Attempt the rows of the trainer's `eval_dataset`, and compare with earlier evaluations.

        Every process of a training has to call it. As a text, what it returns is a table.
        """
        state = trainer.state
        evaluated = [it["step"] for it in state.log_history if "eval_reward" in it]
        if state.global_step not in evaluated:
            self.is_recording = False
            try:
                trainer.evaluate()
            finally:
                self.is_recording = True
        return Evaluation(state.log_history)

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

    def load_tokenizer(self, model: str) -> Any:
        """The tokenizer of a model, the `processing_class`: it shows each row's own tools.

        Raises a `ValueError` if TRL cannot train with the model's chat template.
        """
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(model)
        prepare_template(tokenizer)
        self.add_menus(tokenizer)
        self._model = model
        return tokenizer

    @functools.cached_property
    def _rows(self) -> dict[str, list[Json]]:
        """The rows of the tasks file by the files that `prove-rl export` writes."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            tasks = str(self._require_tasks())
            run_program("export", "--to", "trl", "--tasks", tasks, "--out", str(out))
            return {it.name: self.load_rows(it) for it in sorted(out.glob("*.jsonl"))}

    def _create_dataset(self, pattern: str) -> Dataset:
        from datasets import Dataset

        chosen = [rows for name, rows in self._rows.items() if fnmatch(name, pattern)]
        return Dataset.from_list([row for rows in chosen for row in rows])

    def _require_tasks(self) -> Path:
        if self._tasks is None:
            raise ValueError("give the tasks file: Prove(tasks='my.tasks.jsonl')")
        return self._tasks

    def add_menus(self, tokenizer: Any) -> None:
        """Make the tokenizer's chat template show each row's own tools.

        TRL shows all tools of an environment in every prompt. Arguments of earlier calls, which
        the rows have as texts, become objects, as all chat templates accept them. Calls between
        `<tool_call>` tags are read as everywhere in PROVE; others are parsed with the catalog's
        schemas instead of ones that transformers derives from all methods of an environment, again
        for each message.
        """
        self._ends = self._ends or {tokenizer.eos_token_id}
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
        syntax = find_call_syntax(tokenizer)
        schemas = {name: it["function"]["parameters"] for name, it in self._tools.items()}

        def parse_response(*response: Any, tools: Any = None, **options: Any) -> Any:
            if syntax in ("hermes", "xml") and isinstance(response[0], list):
                ids = response[0]
                is_cut = not ids or ids[-1] not in self._ends
                text = tokenizer.decode(ids if is_cut else ids[:-1])
                return create_message(*read_message(text, "none" if is_cut else syntax, schemas))
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


def record_groups(
    function: RewardFunction, folder: Path, is_recording: Callable[[], bool]
) -> RewardFunction:
    """The function, which also writes the attempts of all processes to `<step>.jsonl`."""
    from accelerate import PartialState
    from accelerate.utils import gather_object

    def reward(
        environments: Sequence[Environment], trainer_state: Any = None, **options: Any
    ) -> list[float | None]:
        rewards = function(environments=environments, **options)
        if not is_recording():
            return rewards
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
