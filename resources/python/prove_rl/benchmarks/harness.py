"""What the programs share that run an official benchmark against an OpenAI-compatible endpoint.

`prove-rl benchmark` starts such a program with a request, a JSON object, as first line on stdin.
The program imports the benchmark's package, answers the entries that have no answer yet, and
reports in lines of JSON on stdout.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TextIO

MAX_FAILURES = 5
"""So many entries may fail before one succeeds."""
HEARTBEAT = 10
"""Seconds between signs of life."""
TOO_LONG = "context_length_exceeded"
"""The code of an endpoint's error if a conversation is too long for its model."""


class StoppedError(Exception):
    """Why no further entry can be answered."""


class Reporter:
    """Writes lines of JSON; what the harness prints goes nowhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, **line: Any) -> None:
        with self._lock:
            self._stream.write(f"{json.dumps(line)}\n")
            self._stream.flush()


def add_placeholders(placeholders: dict[str, dict[str, Any]]) -> None:
    """Put modules with these values in the place of ones that are imported but not used."""
    for name, values in placeholders.items():
        module = ModuleType(name)
        vars(module).update(values)
        sys.modules[name] = module


def describe(error: BaseException) -> str:
    cause = error.__cause__
    text = str(error) if cause is None else f"{error} {cause}"
    return " ".join(text.split())[:300]


def drop_torn_line(file: Path) -> int | None:
    """Cut off a last line that was not written to its end, and return its number."""
    data = file.read_bytes()
    lines = data.splitlines(keepends=True)
    if not lines:
        return None
    try:
        json.loads(lines[-1])
        if lines[-1].endswith(b"\n"):
            return None
        file.write_bytes(data + b"\n")
    except ValueError:
        file.write_bytes(b"".join(lines[:-1]))
        return len(lines)
    return None


def drop_torn_lines(files: Iterable[Path], reporter: Reporter) -> None:
    """Cut off the torn last lines of those files that exist, and report them."""
    for file in files:
        line = drop_torn_line(file) if file.exists() else None
        if line is not None:
            reporter.send(kind="torn", file=str(file), line=line)


def generate(
    answer: Callable[[Any], dict[str, Any]],
    entries: list[Any],
    threads: int,
    describe_failure: Callable[[dict[str, Any]], str | None],
) -> Iterator[dict[str, Any]]:
    """Answer the entries and yield their lines. Failures are held back until one succeeds.

    `answer` raises StoppedError if the endpoint fails. `describe_failure` says why an entry failed
    for a reason that may be the endpoint's, and not the model's.
    """
    failed: list[dict[str, Any]] = []
    has_succeeded = False
    waiting = iter(entries)
    with ThreadPoolExecutor(max_workers=threads) as pool:
        running: set[Future[dict[str, Any]]] = set()

        def refill() -> None:
            while len(running) < threads:
                entry = next(waiting, None)
                if entry is None:
                    return
                running.add(pool.submit(answer, entry))

        stop: BaseException | None = None
        refill()
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    line = future.result()
                except StoppedError as error:
                    # the others are let finish: their answers have been paid for
                    stop = stop or error
                    continue
                if has_succeeded or describe_failure(line) is None:
                    has_succeeded = True
                    yield from failed
                    failed = []
                    yield line
                else:
                    failed.append(line)
            if (
                stop is None
                and not has_succeeded
                and len(failed) >= min(MAX_FAILURES, len(entries))
            ):
                reason = (describe_failure(failed[0]) or "")[:300]
                stop = StoppedError(f"{len(failed)} entries failed alike: {reason}")
            if stop is None:
                refill()
        if stop is not None:
            raise stop
        yield from failed


def serve(
    import_harness: Callable[[dict[str, Any]], SimpleNamespace],
    run: Callable[[SimpleNamespace, dict[str, Any], Reporter], None],
) -> None:
    """Read the request and carry it out. `import_harness` raises ImportError."""
    reporter = Reporter(sys.stdout)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    request = json.loads(sys.stdin.readline())
    Path(request["folder"]).mkdir(parents=True, exist_ok=True)
    finished = threading.Event()

    def beat() -> None:
        while not finished.wait(HEARTBEAT):
            reporter.send(kind="working")

    threading.Thread(target=beat, daemon=True).start()
    try:
        try:
            harness = import_harness(request)
        except ImportError as error:
            reporter.send(kind="problem", problem=str(error))
            return
        run(harness, request, reporter)
    finally:
        finished.set()
