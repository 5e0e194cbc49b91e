"""Trains the model of config.json on this folder's tasks with TRL's `GRPOTrainer`.

`prove-rl engine prepare trl` writes the folder, and launch.py starts this program in each process.
The service's address is in PROVE_URL. A training that was interrupted goes on from its last
checkpoint.
"""

import json
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

try:
    from peft import LoraConfig
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer
except ImportError as error:
    sys.exit(f"{error}: run pip install -r requirements.txt in {FOLDER}")

from prove_client import CONNECTION_ERRORS
from prove_run import RunMetrics
from prove_trl import Prove, end_process, save_model, write_together


def main() -> None:
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    checkpoints = FOLDER / "checkpoints"
    last = find_last_checkpoint(checkpoints)
    if last is not None and count_steps(last) >= config["grpo"]["max_steps"]:
        print(f"all steps are done: raise max_steps in {FOLDER / 'config.json'} to train on")
        return
    tokenizer = AutoTokenizer.from_pretrained(config["model"])
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
        model=config["model"],
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


if __name__ == "__main__":
    main()
