"""Starts the service with this folder's tasks, then the training with `accelerate launch`.

With PROVE_URL set, a service that runs already is used. Further arguments go to `accelerate
launch`, for example `python launch.py --num_machines 2 --machine_rank 0 ...`. Ctrl-C ends both.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from ..service import serve

FOLDER = Path(__file__).resolve().parents[2]
"""The prepared folder, which has this package in it."""


def main() -> int:
    try:
        return launch()
    except KeyboardInterrupt:
        return 130


def launch() -> int:
    for name in ("accelerate", "trl"):
        if find_spec(name) is None:
            print(f"{name} is not installed: run pip install -r requirements.txt in {FOLDER}")
            return 2
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    with serve(config["serve"], FOLDER) as url:
        command = [sys.executable, "-m", "accelerate.commands.launch"]
        command += ["--config_file", str(FOLDER / "accelerate.yaml"), *sys.argv[1:]]
        command.append(str(FOLDER / "train.py"))
        print(f"PROVE_URL={url}", *command, flush=True)
        # the menus are set per row, which TRL calls experimental
        environment = {"TRL_EXPERIMENTAL_SILENCE": "1", **os.environ, "PROVE_URL": url}
        return subprocess.run(command, env=environment, check=False).returncode
