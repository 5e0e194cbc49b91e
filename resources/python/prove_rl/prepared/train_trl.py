"""A stage of the training of the model of config.json on this folder's tasks with TRL.

`prove-rl engine prepare trl` writes the folder, and launch.py starts this program in each process.
The service's address is in PROVE_URL, and the stage in PROVE_STAGE: `grpo`, if there is none, `sft`,
`merge` for adapters of that, or `before` for the evaluation of the model as it is. A stage that was
interrupted goes on from its last checkpoint.
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
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer
except ImportError as error:
    sys.exit(f"{error}: run pip install -r requirements.txt in {FOLDER}")

from ..client import CONNECTION_ERRORS, Json
from ..trl import Prove, end_process, prepare_template, save_model, write_together
from ..trl.metrics import RunMetrics
from . import sft_trl
from .evaluations import BEFORE, NAMES, add_evaluation, read_evaluations


def main() -> None:
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    stage = os.environ.get("PROVE_STAGE", "grpo")
    if stage == "merge":
        sft_trl.merge_adapters(FOLDER)
    elif stage == "sft":
        model = find_model(config["model"])
        checkpoint = find_last_checkpoint(FOLDER / "sft/checkpoints")
        sft_trl.train(FOLDER, config, model, load_tokenizer(model), checkpoint)
    else:
        try:
            run_grpo(config, trains=stage == "grpo")
        except ConnectionError as error:
            remedy = "and start the training again: it goes on from its last checkpoint"
            # after a progress bar
            sys.exit(f"\n{error}, {remedy}")


def run_grpo(config: Json, trains: bool) -> None:
    """Train with GRPO, with an evaluation before and after, or only evaluate the model."""
    checkpoints = FOLDER / "checkpoints"
    last = find_last_checkpoint(checkpoints)
    if trains and last is not None and count_steps(last) >= config["grpo"]["max_steps"]:
        print(f"all steps are done: raise max_steps in {FOLDER / 'config.json'} to train on")
        return
    is_warm = trains and "sft" in config["stages"]
    model = find_model("sft/model" if is_warm else config["model"])
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
    heldout = load_heldout(prove, config["evaluated"])
    evaluations = Evaluations(prove, heldout)
    starts_with_evaluation = evaluations.expect(NAMES["sft"] if is_warm else BEFORE)
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=prove.load_dataset(FOLDER / "data/train.jsonl"),
        environment_factory=prove.Environment,
        reward_funcs=prove.reward_functions,
        callbacks=[RunMetrics(FOLDER)],
        peft_config=LoraConfig(**config["lora"]) if config["lora"] else None,
        args=GRPOConfig(
            output_dir=str(checkpoints),
            reward_weights=prove.reward_weights,
            eval_on_start=trains and starts_with_evaluation,
            **config["grpo"],
        ),
        eval_dataset=Dataset.from_list(heldout) if heldout else None,
    )
    trainer.add_callback(evaluations)
    write_together(trainer)
    if not trains:
        trainer.evaluate()
        end_process(trainer)
    trainer.train(resume_from_checkpoint=None if last is None else str(last))
    save_model(trainer, FOLDER / "model")
    tokenizer.save_pretrained(str(FOLDER / "model"))
    if evaluations.expect(NAMES["grpo"]):
        trainer.evaluate()
    end_process(trainer)


def load_heldout(prove: Prove, count: int) -> list[Json]:
    """So many of the rows that are held out, evenly from all of them."""
    files = sorted((FOLDER / "data").glob("heldout-*.jsonl"))
    rows = [row for it in files for row in prove.load_rows(it)]
    chosen = min(count, len(rows))
    return [rows[i * len(rows) // chosen] for i in range(chosen)]


class Evaluations(TrainerCallback):
    """Keeps what evaluations measure. Their attempts are no groups of a step."""

    def __init__(self, prove: Prove, rows: list[Json]) -> None:
        self._prove = prove
        self._rows = rows
        self._name = ""

    def expect(self, name: str) -> bool:
        """Name the next evaluation. It is not needed if there is nothing new to measure."""
        self._name = name
        is_needed = len(self._rows) > 0 and name not in read_evaluations(FOLDER)
        self._prove.is_recording = not is_needed
        return is_needed

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Json | None = None, **_: Any
    ) -> None:
        self._prove.is_recording = True
        if state.is_world_process_zero:
            add_evaluation(FOLDER, self._name, len(self._rows), metrics or {})


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
