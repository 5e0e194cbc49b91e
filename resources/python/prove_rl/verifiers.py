"""Trains with prime-rl and evaluates with verifiers on the tasks of `prove-rl serve`.

This module is a taskset with its harness and environment. Their id is `prove_rl`:

    vf-eval prove_rl --env.taskset.url http://127.0.0.1:8970 --env.taskset.split train

Each rollout has a session of its own, in which the model has the tools of the task, and the user
speaks again after a message without calls. The reward is that of `prove-rl score`; its five parts
and the success are metrics. It was tested with verifiers 0.4.0.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI
from pydantic import Field

from .client import AsyncClient, AsyncSession, Client, Json
from .service import Service

__all__ = ["ProveEnv", "ProveHarness", "ProveTaskset", "load_environment"]


class ProveConfig(vf.TasksetConfig):  # type: ignore[misc]
    url: str = ""
    """The service, by default that of the environment variable PROVE_URL."""
    file: str = ""
    """A tasks file, for which a service is started if there is no address of one."""
    split: str | None = None
    """All tasks, if absent."""
    tasks: list[str] = Field(default_factory=list)
    """The ids of tasks; all of the split, if absent."""
    profile: str | None = None
    """The weights of the reward, `paper` if absent."""
    max_messages: int | None = None
    """The most messages that the model may write, the task's own limit if absent."""


class ProveData(vf.TaskData):  # type: ignore[misc]
    task_id: str
    url: str
    opening: Json
    scoring: Json


class ProveState(vf.State):  # type: ignore[misc]
    score: Json = Field(default_factory=dict)


class ProveTask(vf.Task[ProveData, ProveState, vf.TaskConfig]):  # type: ignore[misc]
    @property
    def key(self) -> str:
        task_id: str = self.data.task_id
        return task_id

    @vf.reward  # type: ignore[untyped-decorator]
    async def reward(self, trace: Any) -> float:
        reward: float = trace.state.score["reward"]
        return reward

    @vf.metric  # type: ignore[untyped-decorator]
    async def parts(self, trace: Any) -> dict[str, float]:
        """The parts of the reward, and whether the user has what they wanted.

        That of the answer is absent where nothing was to be told.
        """
        score = trace.state.score
        values = {**score["components"], "success": score["success"]}
        return {name: float(it) for name, it in values.items() if it is not None}


class ProveTaskset(vf.Taskset[ProveTask, ProveConfig]):  # type: ignore[misc]
    """The tasks that the service offers."""

    def load(self) -> Iterator[ProveTask]:
        config = self.config
        url = config.url or os.environ.get("PROVE_URL")
        if not url and not config.file:
            raise ValueError(
                "there is no address of a service: give --env.taskset.url or set PROVE_URL, "
                "or give a tasks file with --env.taskset.file"
            )
        url = url or start(config.file).url
        with contextlib.closing(Client(url)) as client:
            listed = {it["task_id"]: it for it in client.tasks(config.split)}
            missing = [it for it in config.tasks if it not in listed]
            if missing:
                raise ValueError(
                    f"{url} does not offer {', '.join(missing)}: check tasks and split"
                )
            opening = {"policy": "verifiers"}
            if config.max_messages is not None:
                opening["max_messages"] = config.max_messages
            for task_id in config.tasks or listed:
                data = ProveData(
                    id=task_id,
                    name=task_id,
                    prompt=client.task(task_id)["messages"],
                    task_id=task_id,
                    url=url,
                    opening=opening,
                    scoring={} if config.profile is None else {"profile": config.profile},
                )
                yield ProveTask(data, config.task)


class ProveHarnessConfig(vf.HarnessConfig):  # type: ignore[misc]
    pass


class ProveHarness(vf.Harness[ProveHarnessConfig]):  # type: ignore[misc]
    """Lets the model write messages in a session. It runs in the process of verifiers."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
    ) -> Any:
        async with (
            AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as model,
            await connect(data.url).open(data.task_id, **data.opening) as session,
        ):
            try:
                await attempt(session, model, ctx.model, trace, data.system_prompt)
            except asyncio.CancelledError:
                # at a time limit, after which verifiers scores what there is
                trace.state.score = await session.score(**data.scoring)
                raise
            score = trace.state.score = await session.score(**data.scoring)
        if score["reward"] is None:
            # verifiers leaves out a rollout with an error
            raise RuntimeError(f"the attempt cannot be scored: {score['unscorable']}")
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class ProveEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    # the harness needs no sandbox
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class ProveEnv(vf.Env[ProveEnvConfig]):  # type: ignore[misc]
    async def run(self, task: Any, agents: Any) -> None:
        await agents.agent.run(task)


async def attempt(
    session: AsyncSession, model: AsyncOpenAI, name: str, trace: Any, system: str | None
) -> None:
    """Let the model write messages until the attempt ends, or verifiers refuses a message."""
    conversation: list[Any] = [*session.attempt["messages"]]
    if system is not None:
        others = [it for it in conversation if it["role"] != "system"]
        conversation = [{"role": "system", "content": system}, *others]
    while session.ended is None:
        # the user can bring more of them
        menu: Any = {"tools": session.tools} if session.tools else {}
        try:
            response = await model.chat.completions.create(
                model=name, messages=conversation, **menu
            )
        except APIStatusError:
            # a limit of the agent's configuration, such as max_turns
            if trace.stop_condition is not None:
                return
            raise
        choice = response.choices[0]
        message = choice.message.model_dump(exclude_none=True)
        spoken = {key: message[key] for key in ("role", "tool_calls") if key in message}
        answers = await session.message(
            {**spoken, "content": message.get("content", "")}, cut=choice.finish_reason == "length"
        )
        conversation += [message, *answers]


def load_environment(
    tasks: str | Path | None = None, *, url: str | None = None, **taskset: Any
) -> ProveEnv:
    """The environment, with the service at an address or one that is started for a tasks file.

    Further options are those of the taskset: `split`, `profile`, `max_messages`, and `tasks` as
    `ids`.
    """
    ids = taskset.pop("ids", [])
    options = {"id": "prove_rl", "url": url or "", "tasks": ids, **taskset}
    if tasks is not None:
        options["file"] = str(tasks)
    environment: ProveEnv = vf.load_environment(vf.resolve_env_config({"taskset": options}))
    return environment


@functools.cache
def start(file: str) -> Service:
    """The service for a tasks file. It ends with this process."""
    return Service.start(file)


@functools.cache
def connect(url: str) -> AsyncClient:
    """The client that all rollouts of this process share."""
    return AsyncClient(url)
