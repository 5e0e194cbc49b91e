"""Starts the service with this folder's tasks, then each stage with `accelerate launch`.

With PROVE_URL set, a service that runs already is used. Further arguments go to `accelerate
launch`, for example `python launch.py --num_machines 2 --machine_rank 0 ...`. Ctrl-C ends both.
"""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from ..client import Json
from ..service import ServiceError, run_training, serve
from .evaluations import BEFORE, format_table, read_evaluations

FOLDER = Path(__file__).resolve().parents[2]
"""The prepared folder, which has this package in it."""


def main() -> int:
    try:
        return launch()
    except KeyboardInterrupt:
        return 130
    except ServiceError as error:
        # after a progress bar
        print(f"\n{error}", file=sys.stderr)
        return 1


def launch() -> int:
    for name in ("accelerate", "trl"):
        if find_spec(name) is None:
            print(f"{name} is not installed: run pip install -r requirements.txt in {FOLDER}")
            return 2
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    data = ["data/train.jsonl", *(["data/sft/train.jsonl"] if "sft" in config["stages"] else [])]
    for name in data:
        if not (FOLDER / name).exists():
            print(f"{FOLDER} has no {name}: copy the whole folder, or prepare it again")
            return 2
    with serve(config["serve"], FOLDER) as (url, service):
        # the menus are set per row, which TRL calls experimental
        environment = {"TRL_EXPERIMENTAL_SILENCE": "1", **os.environ, "PROVE_URL": url}
        train = str(FOLDER / "train.py")
        for stage in list_stages(config):
            command = [sys.executable, "-m", "accelerate.commands.launch", "--quiet"]
            command += ["--config_file", str(FOLDER / "accelerate.yaml"), *sys.argv[1:], train]
            if stage == "merge":
                command = [sys.executable, train]
            print(f"PROVE_URL={url} PROVE_STAGE={stage}", *command, flush=True)
            environment["PROVE_STAGE"] = stage
            code = run_training(command, environment, service)
            if code != 0:
                return code
    print(format_table(FOLDER), flush=True)
    return 0


def list_stages(config: Json) -> list[str]:
    """The stages that are to be done, in their order. GRPO itself knows if all its steps are."""
    stages: list[str] = config["stages"]
    if "sft" not in stages or (FOLDER / "sft/model/config.json").exists():
        return ["grpo"]
    is_evaluated = BEFORE in read_evaluations(FOLDER) or not any(
        (FOLDER / "data").glob("heldout-*.jsonl")
    )
    has_adapters = (FOLDER / "sft/adapters/adapter_config.json").exists()
    return [
        *([] if is_evaluated else ["before"]),
        *([] if has_adapters else ["sft"]),
        *(["merge"] if config["lora"] else []),
        "grpo",
    ]
