"""verl is killed while the attempts of a batch are open: the service closes their sessions."""

import os
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from json import loads
from pathlib import Path

import pytest
from conftest import ROOT, TASKS
from prove_rl import Client

ATTEMPTS = 8

# the clock that finds idle sessions can be put forward, and is read more often
PRELOAD = """
let shift = 0;
const [now, every] = [performance.now.bind(performance), setInterval];
performance.now = () => now() + shift;
process.on("SIGUSR2", () => (shift += 31 * 60_000));
globalThis.setInterval = (work, ms, ...rest) => every(work, ms === 15_000 ? 100 : ms, ...rest);
"""

# verl's worker with a model that never writes the second message of an attempt
WORKER = """
import asyncio, sys
from pathlib import Path
from verl_worker import Server, choose_rows, create_worker, run_batch, write_call

class Stuck(Server):
    async def generate(self, request_id, **options):
        if request_id in self._numbers:
            print("stuck", flush=True)
            await asyncio.Event().wait()
        return await super().generate(request_id, **options)

worker = create_worker(Path(sys.argv[1]), "data.max_response_length=3000")
worker.llm_client.__class__ = Stuck
rows = choose_rows(worker, ["banking-11-1"], int(sys.argv[2]))
run_batch(worker, rows, lambda *_: write_call("banking_list_accounts", {}) + "<|im_end|>")
"""


@pytest.fixture(name="service")
def serve() -> Iterator[tuple[subprocess.Popen[str], str]]:
    preload = f"data:text/javascript,{urllib.parse.quote(PRELOAD)}"
    command = ["node", "--import", preload, "dist/cli.js", "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, "--tasks", str(TASKS)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        yield process, loads(process.stdout.readline())["url"]
        process.terminate()


def count_sessions(url: str) -> int:
    count: int = Client(url).health()["sessions"]
    return count


def test_sessions_of_a_killed_verl_are_closed_when_they_were_idle(
    service: tuple[subprocess.Popen[str], str], verl_folder: Path
) -> None:
    process, url = service
    paths = os.pathsep.join(it for it in sys.path if it)
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(verl_folder), str(ATTEMPTS)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PROVE_URL": url, "PYTHONPATH": paths},
    ) as engine:
        assert engine.stdout is not None
        for _ in range(ATTEMPTS):
            line = engine.stdout.readline()
            while line and line != "stuck\n":
                line = engine.stdout.readline()
            assert line, "verl has ended"
        assert count_sessions(url) == ATTEMPTS
        engine.send_signal(signal.SIGKILL)
        engine.wait(120)
    # the service cannot know that nobody goes on with them
    time.sleep(0.3)
    assert count_sessions(url) == ATTEMPTS
    process.send_signal(signal.SIGUSR2)
    deadline = time.monotonic() + 300
    while count_sessions(url) > 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with urllib.request.urlopen(f"{url}/metrics") as response:
        metrics = response.read().decode()
    assert f'prove_sessions_closed_total{{why="idle"}} {ATTEMPTS}\n' in metrics
    # there is room for new ones
    with Client(url).open("banking-11-1") as session:
        assert session.tools
