"""Trains the model of config.json on this folder's tasks with TRL's `GRPOTrainer`.

`prove-rl engine prepare trl` writes the folder, and launch.py starts this program in each process.
The service's address is in PROVE_URL. A training that was interrupted goes on from its last
checkpoint.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2]
"""The prepared folder, which has this package in it."""

try:
    import trl
    from peft import LoraConfig
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer
except ImportError as error:
    sys.exit(f"{error}: run pip install -r requirements.txt in {FOLDER}")

from ..client import CONNECTION_ERRORS
from ..trl import Prove, end_process, prepare_template, save_model, write_together
from ..trl.metrics import RunMetrics


def main() -> None:
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    checkpoints = FOLDER / "checkpoints"
    last = find_last_checkpoint(checkpoints)
    if last is not None and count_steps(last) >= config["grpo"]["max_steps"]:
        print(f"all steps are done: raise max_steps in {FOLDER / 'config.json'} to train on")
        return
    model = find_model(config["model"])
    tokenizer = load_tokenizer(model)
    try:
        prove = Prove(
            os.environ["PROVE_URL"],
            eos_token_id=tokenizer.eos_token_id,
            profile=config["profile"],
            record=FOLDER / "groups",
        )
    except CONNECTION_ERRORS as error:
        sys.exit(str(error))
    prove.add_menus(tokenizer)
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=prove.load_dataset(FOLDER / "data/train.jsonl"),
        environment_factory=prove.create_environment,
        reward_funcs=prove.reward_functions,
        callbacks=[RunMetrics(FOLDER)],
        peft_config=LoraConfig(**config["lora"]) if config["lora"] else None,
        args=GRPOConfig(
            output_dir=str(checkpoints),
            reward_weights=prove.reward_weights,
            **config["grpo"],
        ),
    )
    write_together(trainer)
    trainer.train(resume_from_checkpoint=None if last is None else str(last))
    save_model(trainer, FOLDER / "model")
    tokenizer.save_pretrained(str(FOLDER / "model"))
    end_process(trainer)


def find_model(name: str) -> str:
    """The folder of the model, which may be given relative to this one, or its name on the hub."""
    folder = FOLDER / name
    if folder.is_dir():
        return str(folder)
    if not re.fullmatch(r"\w[\w.-]*(/[\w.-]+)?", name):
        sys.exit(f"there is no model folder {folder}: name one in {FOLDER / 'config.json'}")
    return name


def load_tokenizer(model: str) -> Any:
    """The tokenizer of the model, with the chat template of this folder if there is one."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    file = FOLDER / "chat_template.jinja"
    if file.exists():
        tokenizer.chat_template = file.read_text(encoding="utf-8")
    try:
        prepare_template(tokenizer)
    except ValueError as error:
        sys.exit(
            f"TRL cannot train {model} with its chat template: {error}. Put another one into {file}, "
            f"for example that of a similar model from {Path(trl.__file__).parent / 'chat_templates'}"
        )
    return tokenizer


def find_last_checkpoint(folder: Path) -> Path | None:
    """The last checkpoint that was written to its end, which is the state of the trainer."""
    whole = [it for it in folder.glob("checkpoint-*") if is_json(it / "trainer_state.json")]
    return max(whole, key=count_steps, default=None)


def count_steps(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def is_json(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except (OSError, ValueError):
        return False
    return True
