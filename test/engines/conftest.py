"""What the tests of the engines share: a service with tasks, as a user starts it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prove_rl import Client

# read when these packages are imported
os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

ROOT = Path(__file__).parents[2]
TASKS = ROOT / "resources/example/prove/tasks/example.tasks.jsonl"


@dataclass(frozen=True)
class Served:
    """A running service, the tasks file that it offers, and the folder that it was started in."""

    url: str
    tasks: Path
    folder: Path

    def count_sessions(self) -> int:
        count: int = Client(self.url).health()["sessions"]
        return count

    def run(self, program: str, *arguments: object) -> str:
        """What a program of this repository prints in that folder."""
        return run_program(self.folder, program, *arguments)


def run_program(folder: Path, program: str, *arguments: object) -> str:
    command = ["node", str(ROOT / program), *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=folder,
        env=create_variables(folder),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def create_variables(folder: Path) -> dict[str, str]:
    """Where the consent for servers of a folder is stored."""
    return {**os.environ, **({} if folder == ROOT else {"XDG_DATA_HOME": str(folder / "home")})}


@pytest.fixture(scope="session", name="served")
def serve_tasks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """With tasks of the example; with the parameter `memory`, on a third-party server."""
    if getattr(request, "param", "example") == "example":
        with serve() as served:
            yield served
        return
    folder = tmp_path_factory.mktemp("memory")
    tasks = create_memory_tasks(folder)
    with serve(tasks=tasks, folder=folder) as served:
        yield served


def create_memory_tasks(folder: Path) -> Path:
    """Tasks on `server-memory`, made as docs/own-servers.md says."""
    script = ROOT / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
    entry = {
        "command": "node",
        "args": [str(script)],
        "env": {"MEMORY_FILE_PATH": "${sandbox}/memory.jsonl"},
        "reset": {"folder": "seed"},
    }
    (folder / "prove").mkdir()
    (folder / "prove/mcp.json").write_text(json.dumps({"servers": {"memory": entry}}))
    people = {
        "Dana Fox": ("person", ["Likes tea", "Draws maps"]),
        "Lee Park": ("person", ["Plays the cello"]),
        "Northwind": ("company", ["Opens at eight"]),
    }
    lines: list[dict[str, Any]] = [
        {"type": "entity", "name": name, "entityType": kind, "observations": known}
        for name, (kind, known) in people.items()
    ]
    for start, end, kind in [
        ("Dana Fox", "Northwind", "works at"),
        ("Lee Park", "Dana Fox", "knows"),
    ]:
        lines.append({"type": "relation", "from": start, "to": end, "relationType": kind})
    (folder / "seed").mkdir()
    (folder / "seed/memory.jsonl").write_text("\n".join(json.dumps(it) for it in lines))
    tasks = folder / "memory.tasks.jsonl"
    run_program(folder, "dist/cli.js", "connect", "memory", "--trust-server")
    made = ["synthesize", "--servers", "memory", "--preset", "student"]
    # with this seed, some of the tasks have a single turn
    run_program(folder, "dist/cli.js", *made, "--count", "3", "--seed", "2", "--out", tasks)
    return tasks


@contextmanager
def serve(*options: str, tasks: Path = TASKS, folder: Path = ROOT) -> Iterator[Served]:
    command = ["node", str(ROOT / "dist/cli.js"), "serve", "--port", "0", "--tasks", str(tasks)]
    with subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=create_variables(folder),
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, "the service did not start; npm run build creates the program"
        try:
            yield Served(json.loads(first)["url"], tasks, folder)
        finally:
            process.terminate()
        assert process.wait(10) == 0


@dataclass(frozen=True)
class Attempt:
    """A scripted attempt, with its score in another process and over MCP, and as recorded."""

    task_id: str
    policy: str
    turns: int
    messages: list[dict[str, Any]]
    here: dict[str, Any]
    mcp: dict[str, Any]
    trajectory: str


@pytest.fixture(scope="session", name="attempts")
def make_attempts(served: Served) -> list[Attempt]:
    printed = served.run("test/engines/attemptHere.ts", served.tasks, served.url)
    return [Attempt(**json.loads(line)) for line in printed.splitlines()]


@pytest.fixture(scope="session", name="rows")
def export_rows(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tasks of the split `train`, as `prove-rl export --to trl` writes them."""
    out = tmp_path_factory.mktemp("trl") / "out"
    served.run("dist/cli.js", "export", "--to", "trl", "--tasks", served.tasks, "--out", out)
    return out / "train.jsonl"


@pytest.fixture(scope="session", name="tiny_model")
def create_tiny_model(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random Qwen3."""
    from tiny_qwen import create_model, create_tokenizer

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = create_tokenizer(rows.read_text().splitlines()[:10])
    create_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def create_python(requirements: Path) -> Path:
    """The Python of a virtual environment with these packages and no others.

    It is kept in .engines for the next tests with the same requirements.
    """
    folder = ROOT / ".engines/prepared"
    python = folder / "bin/python"
    installed = folder / "installed.txt"
    if not installed.exists() or installed.read_text() != requirements.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--requirement"]
        subprocess.run([*pip, str(requirements)], check=True)
        shutil.copy(requirements, installed)
    return python


@pytest.fixture(scope="session", name="verl_folder")
def prepare_verl(
    served: Served, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder of `prove-rl engine prepare verl` for the tiny model."""
    out = tmp_path_factory.mktemp("verl") / "out"
    command = ["node", "dist/cli.js", "engine", "prepare", "verl", "--tasks", str(served.tasks)]
    subprocess.run([*command, "--model", str(tiny_model), "--out", str(out)], cwd=ROOT, check=True)
    return out


def find_example(heading: str) -> str:
    """The first Python program under a heading of docs/python.md."""
    page = (ROOT / "docs/python.md").read_text()
    section = page.partition(f"\n## {heading}\n")[2]
    return section.partition("```python\n")[2].partition("```")[0]
