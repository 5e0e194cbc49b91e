"""OpenEnv's client of `prove-rl serve`, with a service that it can start itself.

    with ProveEnv(tasks="my.tasks.jsonl").sync() as env:
        observation = env.reset(seed=0).observation
        result = env.step({"type": "call_tool", "tool_name": ..., "arguments": {...}})
        last = env.step({"type": "finish", "text": "I am done."})

It was tested with openenv 0.10.0.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from openenv.core.generic_client import GenericEnvClient

from .service import Service


class ProveEnv(GenericEnvClient):  # type: ignore[misc]
    """An episode at a time, which is an attempt at a task.

    The service is the one at `base_url`, by default that of the environment variable PROVE_URL, or
    else one that is started for the file `tasks` and ends with this client.
    """

    def __init__(
        self, base_url: str | None = None, *, tasks: str | Path | None = None, **options: Any
    ) -> None:
        url = base_url or os.environ.get("PROVE_URL")
        self._service: Service | None = None
        if url is None:
            if tasks is None:
                raise ValueError("give a tasks file: ProveEnv(tasks='my.tasks.jsonl')")
            self._service = Service.start(tasks)
            url = self._service.url
        super().__init__(base_url=url, **options)

    async def close(self) -> None:
        await super().close()
        if self._service is not None:
            self._service.close()
