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

from .environment import Environment
from .processes import end_process, save_model, write_together
from .prove import Prove
from .template import prepare_template

__all__ = [
    "Environment",
    "Prove",
    "end_process",
    "prepare_template",
    "save_model",
    "write_together",
]
