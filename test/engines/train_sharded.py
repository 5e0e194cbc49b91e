"""Runs train.py of a prepared folder in processes that each have a part of the weights.

test_sharded.py starts it with `accelerate launch`. accelerate has FSDP, and DeepSpeed in several
processes, for GPUs only: here it takes processes on the CPU, which are connected by gloo, for such.
"""

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from accelerate import PartialState
from accelerate.utils import DistributedType
from tiny_qwen import ScriptedGeneration
from transformers import AutoTokenizer, Qwen3ForCausalLM

folder, tasks = (Path(it) for it in sys.argv[1:])
initialize = PartialState.__init__
generate = Qwen3ForCausalLM.generate


def initialize_without_gpus(self: Any, *args: Any, **options: Any) -> None:
    initialize(self, *args, **options)
    if self.distributed_type == DistributedType.MULTI_CPU:
        # in which accelerate would not share the weights
        self.distributed_type = DistributedType.MULTI_GPU


def generate_as_scripted(self: Any, input_ids: torch.Tensor, **options: Any) -> torch.Tensor:
    """What the script says, after the model has written a token, for which it needs all weights."""
    options["generation_config"].max_new_tokens = 1
    generate(self, input_ids, **options)
    return scripted(input_ids)


if os.environ.get("ACCELERATE_USE_DEEPSPEED"):
    import deepspeed

    # it would be compiled
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
model = json.loads((folder / "config.json").read_text())["model"]
scripted = ScriptedGeneration(AutoTokenizer.from_pretrained(model), tasks)
sys.path.insert(0, str(folder))
sys.argv = [str(folder / "train.py")]
with (
    patch.object(
        PartialState, "_prepare_backend", return_value=("gloo", DistributedType.MULTI_CPU)
    ),
    patch.object(PartialState, "__init__", initialize_without_gpus),
    patch.object(Qwen3ForCausalLM, "generate", generate_as_scripted),
):
    runpy.run_path(sys.argv[0], run_name="__main__")
