"""Trains with TRL's `GRPOTrainer` on the tasks of `prove-rl serve`.

    prove = Prove(tasks="my.tasks.jsonl")
    trainer = GRPOTrainer(
        model=model,
        processing_class=prove.load_tokenizer(model),
        train_dataset=prove.train,
        eval_dataset=prove.heldout,
        environment_factory=prove.Environment,
        reward_funcs=prove.reward_functions,
        args=prove.config(GRPOConfig, gpus=8),
    )
    trainer.train()
    print(prove.evaluate(trainer))

The rewards are those of `prove-rl score`: the reward itself, which is trained on, and its parts,
which are logged. It was tested with TRL 1.16.0; `AsyncGRPOTrainer`, which runs attempts in another
process, was not.
"""

from ..evaluation import Evaluation
from .environment import Environment
from .processes import end_process, save_model, write_together
from .prove import Prove
from .template import prepare_template

__all__ = [
    "Environment",
    "Evaluation",
    "Prove",
    "end_process",
    "prepare_template",
    "save_model",
    "write_together",
]
