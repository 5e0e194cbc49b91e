"""Trainings in several processes, whose weights they may share."""

from __future__ import annotations

import copy
import logging
import os
import sys
from pathlib import Path
from typing import Any, NoReturn


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
