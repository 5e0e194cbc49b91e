"""verl's own worker for rollouts, in a folder of `prove-rl engine prepare verl`."""

import asyncio
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# Ray and Hydra write reports and colours otherwise
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["HF_HUB_OFFLINE"] = "1"

from hydra import compose, initialize_config_module
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

Json = dict[str, Any]
Writer = Callable[[str, int], str]
"""What writes the next message: of the prompt as text, for an attempt with this number."""


def list_overrides(folder: Path) -> list[str]:
    """The arguments that launch.py of a folder gives to verl."""
    command = [sys.executable, str(folder / "launch.py"), "--print"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    _, option, module, *overrides = shlex.split(printed)
    assert (option, module) == ("-m", "verl.trainer.main_ppo")
    return overrides


def create_config(folder: Path, *overrides: str) -> Any:
    """verl's own configuration with the settings of a folder."""
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=[*list_overrides(folder), *overrides])


def create_worker(folder: Path, *overrides: str) -> Any:
    """verl's worker for rollouts. `run_batch` says what its model writes."""
    config = create_config(folder, *overrides)
    worker = AgentLoopWorker(config, Server())
    worker.llm_client.tokenizer = worker.tokenizer
    return worker


class Server:
    """Stands in for the client of verl's model servers.

    A random model writes no calls, and without calls there is nothing to test.
    """

    def __init__(self) -> None:
        self.tokenizer: Any = None
        self.write: Writer = lambda prompt, number: "Done."
        self.prompts: list[str] = []
        self._numbers: dict[str, int] = {}

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: Json
    ) -> Any:
        number = self._numbers.setdefault(request_id, len(self._numbers))
        # others go on meanwhile
        await asyncio.sleep(0)
        prompt = self.tokenizer.decode(prompt_ids)
        self.prompts.append(prompt)
        ids = self.tokenizer.encode(self.write(prompt, number))[: sampling_params["max_tokens"]]
        return TokenOutput(
            token_ids=ids,
            log_probs=[-0.5] * len(ids),
            stop_reason="completed",
            extra_fields={"max_global_steps": 1, "min_global_steps": 1},
        )


def choose_rows(worker: Any, chosen: Iterable[int | str], attempts: int) -> Any:
    """Rows of the data set as verl reads them, by number or task, each with some attempts."""
    config = worker.config.data
    dataset = RLHFDataset([config.train_files, *config.val_files], worker.tokenizer, config)
    numbers = {it["extra_info"]["task_id"]: i for i, it in enumerate(dataset.dataframe)}
    rows = [dataset[numbers[it] if isinstance(it, str) else it] for it in chosen]
    batch = DataProto.from_single_dict(collate_fn(rows))
    batch.meta_info["global_steps"] = 1
    return batch.repeat(attempts, interleave=True)


def run_batch(worker: Any, batch: Any, write: Writer) -> Any:
    """The attempts of a batch, whose messages `write` writes."""
    worker.llm_client.write = write
    worker.llm_client.prompts = []
    return asyncio.run(worker.generate_sequences(batch))


def write_call(name: str, arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def list_written(worker: Any, output: Any) -> Sequence[str]:
    """The parts of each response that are trained on, as text."""
    masked = [
        np.asarray(ids)[np.asarray(mask) == 1]
        for ids, mask in zip(output.batch["responses"], output.batch["response_mask"], strict=True)
    ]
    return [worker.tokenizer.decode(it.tolist()) for it in masked]
