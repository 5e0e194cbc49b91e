"""Starts the service with this folder's tasks, then the training with verl.

With PROVE_URL set, a service that runs already is used. Further arguments go to verl, for example
`python launch.py trainer.total_training_steps=10`. With --print, verl's command is only printed.
Ctrl-C ends both.
"""

import json
import os
import re
import shlex
import shutil
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..client import Json
from ..groups import append_metrics, cut_metrics, write_end, write_groups
from ..service import Service, ServiceError, run_training, serve

FOLDER = Path(__file__).resolve().parents[2]
"""The prepared folder, which has this package in it."""
LOG = FOLDER / "verl.jsonl"
ATTEMPTS = FOLDER / "attempts"

LOGS = {
    "loss": "actor/loss",
    "gradientNorm": "actor/grad_norm",
    "learningRate": "actor/lr",
    "tokensPerRollout": "response_length/mean",
    "kl": "actor/kl_loss",
    "clipShare": "actor/pg_clipfrac",
    "entropy": "actor/entropy",
    "seconds": "timing_s/step",
}
"""What verl logs, by our names."""


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
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    arguments = [it for it in sys.argv[1:] if it != "--print"]
    command = [sys.executable, "-m", "verl.trainer.main_ppo", *list_overrides(config), *arguments]
    if "--print" in sys.argv:
        print(shlex.join(command))
        return 0
    for name in ("verl", "ray", "vllm"):
        if find_spec(name) is None:
            print(f"{name} is not installed: run pip install -r requirements.txt in {FOLDER}")
            return 2
    with serve(config["serve"], FOLDER) as (url, service):
        print(f"PROVE_URL={url}", shlex.join(command), flush=True)
        return train(command, url, service, config["verl"]["trainer.total_training_steps"])


def list_overrides(config: Json) -> list[str]:
    """The arguments of verl: the settings of config.json and those that depend on the folder."""
    data = FOLDER / "data"
    tests = sorted(data.glob("heldout-*.parquet")) or [data / "train.parquet"]
    settings = {
        "actor_rollout_ref.model.path": config["model"],
        "data.train_files": str(data / "train.parquet"),
        "data.val_files": [str(it) for it in tests],
        "actor_rollout_ref.rollout.agent.agent_loop_config_path": str(FOLDER / "agent_loops.yaml"),
        "trainer.default_local_dir": str(FOLDER / "checkpoints"),
        **config["verl"],
    }
    return [f"{name}={format_value(value)}" for name, value in settings.items()]


def format_value(value: Any) -> str:
    """A value as Hydra reads it on the command line."""
    if isinstance(value, list):
        return f"[{','.join(format_value(it) for it in value)}]"
    if not isinstance(value, str):
        return json.dumps(value)
    if re.fullmatch(r"[\w./-]+", value):
        return value
    # Hydra reads a backslash before a quotation mark as a sign for the mark
    return "'" + re.sub(r"(\\*)'", r"\1\1\\'", value) + "'"


def train(command: list[str], url: str, service: Service | None, steps: int) -> int:
    """Run the training, and write what it does at each step as PROVE shows it."""
    paths = [str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PROVE_URL": url,
        "PROVE_RECORD": str(ATTEMPTS),
        "PYTHONPATH": os.pathsep.join(paths),
        "VERL_FILE_LOGGER_PATH": str(LOG),
    }
    shutil.rmtree(ATTEMPTS, ignore_errors=True)
    LOG.unlink(missing_ok=True)
    (FOLDER / "ended.json").unlink(missing_ok=True)
    log = StepLog()
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(1):
            log.read()

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        code = run_training(command, environment, service, FOLDER)
    finally:
        ended.set()
        thread.join()
    log.read()
    if code == 0:
        write_end(FOLDER, max(log.step, steps))
    return code


class StepLog:
    """Reads the steps from verl's log, and writes their attempts and metrics as PROVE has them."""

    def __init__(self) -> None:
        self.step = 0
        self._position = 0

    def read(self) -> None:
        """Read the lines that verl has written since."""
        if not LOG.exists():
            return
        with open(LOG, "rb") as file:
            file.seek(self._position)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._position += len(line)
                entry = json.loads(line)
                self._add(entry["step"], entry["data"])

    def _add(self, step: int, logged: Json) -> None:
        attempts = [json.loads(it.read_bytes()) for it in sorted(list_attempts(step))]
        if "timing_s/step" not in logged or not attempts:
            return
        if self.step == 0:
            cut_metrics(FOLDER, step - 1)
        self.step = step
        measured = {name: float(logged.get(key, 0.0)) for name, key in LOGS.items()}
        scored = [it for it in attempts if it["line"] is not None]
        # verl adds so little to the deviation of the rewards
        write_groups(FOLDER / "groups", step, scored, epsilon=1e-6)
        append_metrics(FOLDER, step, measured, len(attempts) - len(scored))
        shutil.rmtree(ATTEMPTS / str(step))


def list_attempts(step: int) -> list[Path]:
    return list((ATTEMPTS / str(step)).glob("*.json"))
