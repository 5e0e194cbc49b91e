"""Starts the service for a training. The launch.py of each engine does the rest."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serve(command: list[str], folder: Path) -> Iterator[str]:
    """The URL of a service, which is started unless one is named."""
    url = os.environ.get("PROVE_URL")
    if url:
        yield url
        return
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            first = service.stdout.readline()
            if not first:
                sys.exit(f"the service did not start: {' '.join(command)}")
            yield json.loads(first)["url"]
        finally:
            service.terminate()
