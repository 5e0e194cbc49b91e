"""Trains with verl on the tasks of `prove-rl serve`: an agent loop for verl's rollouts.

The file that `actor_rollout_ref.rollout.agent.agent_loop_config_path` names has the entry

    - name: prove_agent
      _target_: prove_rl.verl.ProveAgentLoop

and the rows are those of `prove-rl export --to verl`. Each attempt has a session of its own, in
which a message's calls are executed in their order, and the user speaks again after a message
without calls. The reward is that of `prove-rl score`. It was tested with verl 0.9.1.
"""

from __future__ import annotations

import functools
import json
import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.utils.profiler import simple_timer
from verl.utils.rollout_trace import rollout_trace_op

from .calls import find_syntax, parse_arguments, read_message
from .client import AsyncClient, AsyncSession, Json, ProveError, create_session_id

logger = logging.getLogger(__name__)

COMPONENTS = ("validity", "coverage", "efficiency", "name", "argument", "answer")

WHOLE_TASK = -1
"""The turn of a row that is for the whole task."""


class AttemptError(Exception):
    """An attempt that cannot go on, as others can."""


NEEDS_A_PERSON = {"UNKNOWN_TASK", "UNAUTHORIZED", "FORBIDDEN", "INVALID_REQUEST"}
"""The codes of refusals that all other attempts would get, too."""


@dataclass
class Rollout:
    """An attempt so far. `mask` is 1 for the tokens that the model wrote."""

    messages: list[Json] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = None
    routed_experts: Any = None
    extra: Json = field(default_factory=dict)
    metrics: Json = field(default_factory=dict)


class ProveAgentLoop(AgentLoopBase):  # type: ignore[misc]
    """One attempt at a task. verl creates an object for each attempt.

    The settings are those of the entry in the file: `url` of the service, by default that of the
    environment variable PROVE_URL; `profile`, the weights of the reward; and `record`, by default
    that of PROVE_RECORD, a folder to which the attempts at tasks of the split train are written.
    The limits are those of verl's configuration: `multi_turn.max_assistant_turns` messages of the
    model and `multi_turn.max_user_turns` of the user, among which results of calls do not count.
    """

    def __init__(
        self,
        *args: Any,
        url: str | None = None,
        profile: str | None = None,
        record: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._client = connect(url or os.environ["PROVE_URL"])
        folder = record or os.environ.get("PROVE_RECORD")
        self._record = None if folder is None else Path(folder)
        self._scoring = {
            **({} if profile is None else {"profile": profile}),
            **({} if folder is None else {"group": True}),
        }
        self._limits = self.rollout_config.multi_turn
        self._parser = ToolParser.get_tool_parser(self._limits.format, self.tokenizer)

    @rollout_trace_op  # type: ignore[untyped-decorator]
    async def run(self, sampling_params: Json, **row: Any) -> AgentLoopOutput:
        info = row["extra_info"]
        rollout = Rollout()
        score: Json = {}
        try:
            async with await self._open(info) as session:
                await self._attempt(session, rollout, sampling_params)
                with simple_timer("compute_score", rollout.metrics):
                    score = await session.score(**self._scoring)
        except (ProveError, AttemptError) as error:
            if isinstance(error, ProveError) and error.code in NEEDS_A_PERSON:
                raise
            logger.warning("an attempt at %s is not scored: %s", info["task_id"], error)
        if self._record is not None and info["split"] == "train":
            record_attempt(self._record / str(int(row.get("global_steps", 0))), info, score)
        return self._create_output(rollout, score)

    def _cap_text_prompt_length(self, prompt_ids: list[int]) -> list[int]:
        """verl cuts a prompt that is too long at its start, where the tools are."""
        limit = self.rollout_config.prompt_length
        if len(prompt_ids) > limit:
            raise AttemptError(
                f"its prompt has {len(prompt_ids)} tokens and data.max_prompt_length is {limit}"
            )
        return prompt_ids

    async def _open(self, info: Json) -> AsyncSession:
        options = {} if info["turn"] == WHOLE_TASK else {"turn": int(info["turn"])}
        if self._limits.max_assistant_turns:
            options["max_messages"] = self._limits.max_assistant_turns
        return await self._client.open(info["task_id"], policy="verl", **options)

    async def _attempt(
        self, session: AsyncSession, rollout: Rollout, sampling_params: Json
    ) -> None:
        """Let the model write messages until the attempt ends or a limit is reached."""
        rollout.messages = [*session.attempt["messages"]]
        tools = [*session.tools]
        request_id = create_session_id()
        rollout.ids = await self.ct_build_initial_tokens(rollout.messages, tools=tools)
        users = count_users(rollout.messages)
        while True:
            room = self.rollout_config.response_length - len(rollout.mask)
            written = await self._generate(rollout, request_id, sampling_params, room)
            is_cut = len(written) >= room and not self._is_end(written[-1])
            message = await self._read_message(written, is_cut, session.tools)
            rollout.messages.append(message)
            known = len(session.tools)
            with simple_timer("tool_calls", rollout.metrics):
                answers = await session.message(message, cut=is_cut)
            if session.ended is not None:
                return
            users += count_users(answers)
            if self._limits.max_user_turns and users > self._limits.max_user_turns:
                return
            shown = show_tools(answers, session.tools[known:])
            if not await self._append(rollout, shown, tools):
                return

    async def _generate(
        self, rollout: Rollout, request_id: str, sampling_params: Json, room: int
    ) -> list[int]:
        """Append a message that the model writes, of at most `room` tokens. Returns its tokens."""
        options = {**sampling_params, "max_tokens": room}
        if self._parser.stop_token_ids:
            stops = {*(sampling_params.get("stop_token_ids") or []), *self._parser.stop_token_ids}
            options["stop_token_ids"] = sorted(stops)
        with simple_timer("generate_sequences", rollout.metrics):
            output = await self.server_manager.generate(
                request_id=request_id, prompt_ids=rollout.ids, sampling_params=options
            )
        if output.stop_reason == "aborted" or not output.token_ids:
            raise AttemptError("verl's server wrote no message")
        keep_counts(rollout, output)
        if not rollout.mask and output.log_probs:
            rollout.logprobs = []
        merged, rollout.mask, rollout.logprobs = await self.ct_merge_assistant_token(
            rollout.ids,
            output.token_ids,
            rollout.mask,
            rollout.logprobs,
            assistant_logprobs=output.log_probs or None,
        )
        rollout.ids = merged.token_ids
        tokens: list[int] = output.token_ids
        return tokens

    def _is_end(self, token: int) -> bool:
        """Whether a message ends with this token."""
        return token == self.tokenizer.eos_token_id or token in self._parser.stop_token_ids

    async def _append(self, rollout: Rollout, answers: list[Json], tools: list[Json]) -> bool:
        """Append what the model reads next. Returns whether there is room for a message after it."""
        before = [*rollout.messages]
        rollout.messages += answers
        merged, mask, logprobs = await self.ct_merge_context_msg(
            before, rollout.messages, rollout.ids, rollout.mask, rollout.logprobs, tools=tools
        )
        if len(mask) >= self.rollout_config.response_length:
            return False
        rollout.ids, rollout.mask, rollout.logprobs = merged.token_ids, mask, logprobs
        return True

    async def _read_message(self, ids: list[int], is_cut: bool, tools: list[Json]) -> Json:
        """The message in OpenAI's format, with arguments as objects.

        One that was cut off is a text, so that none of its calls are executed. verl's own parser,
        which leaves out calls that it cannot read, is used for syntaxes without known tags.
        """
        schemas = {it["function"]["name"]: it["function"]["parameters"] for it in tools}
        text = self.tokenizer.decode(ids[:-1] if self._is_end(ids[-1]) else ids)
        syntax = "none" if is_cut else "hermes" if self._limits.format == "hermes" else None
        if is_cut or syntax or find_syntax(text):
            text, calls = read_message(text, syntax, schemas)
        else:
            text, parsed = await self._parser.extract_tool_calls(ids, [])
            calls = [{"name": it.name, "arguments": parse_arguments(it.arguments)} for it in parsed]
        for token in self.tokenizer.all_special_tokens:
            text = text.replace(token, "")
        message: Json = {"role": "assistant", "content": text.strip()}
        if calls:
            message["tool_calls"] = [
                {"id": f"call{i}", "type": "function", "function": it} for i, it in enumerate(calls)
            ]
        return message

    def _create_output(self, rollout: Rollout, score: Json) -> AgentLoopOutput:
        """The attempt as verl trains on it. One without a score has no tokens to train on."""
        length = self.rollout_config.response_length
        start = len(rollout.ids) - len(rollout.mask)
        prompt, ids, mask = rollout.ids[:start], rollout.ids[start:], rollout.mask
        logprobs = rollout.logprobs
        reward = score.get("reward")
        if reward is None:
            mask = [0] * len(mask)
        if not mask:
            # verl puts the reward on the last token
            padding = [self.tokenizer.pad_token_id or 0]
            prompt, ids, mask = prompt or padding, padding, [0]
            logprobs = [0.0] if self.rollout_config.calculate_log_probs else None
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=ids[:length],
            response_mask=mask[:length],
            response_logprobs=None if logprobs is None else logprobs[:length],
            routed_experts=rollout.routed_experts,
            reward_score=0.0 if reward is None else reward,
            num_turns=sum(it["role"] != "system" for it in rollout.messages),
            metrics=rollout.metrics,
            extra_fields={
                **rollout.extra,
                "turn_scores": [],
                "tool_rewards": [],
                "reward_extra_info": create_extra_info(score),
            },
        )


@functools.cache
def connect(url: str) -> AsyncClient:
    """The client that all attempts of this process share."""
    return AsyncClient(url)


def create_extra_info(score: Json) -> dict[str, float]:
    """What verl logs besides the reward. verl needs the same keys for all attempts.

    Where nothing was to be told, nothing is wrong with the answer.
    """
    is_scored = score.get("reward") is not None
    components = score["components"] if is_scored else dict.fromkeys(COMPONENTS, 0.0)
    values = {name: components[name] for name in COMPONENTS}
    return {
        **{name: 1.0 if value is None else float(value) for name, value in values.items()},
        "success": float(is_scored and score["success"] is True),
        "unscorable": float(not is_scored),
    }


def keep_counts(rollout: Rollout, output: Any) -> None:
    """Keep what verl's own loops keep of the outputs of a server."""
    if rollout.extra:
        newest = output.extra_fields.get("max_global_steps")
        rollout.extra |= {} if newest is None else {"max_global_steps": newest}
    else:
        rollout.extra = dict(output.extra_fields)
    preempted = -1 if output.num_preempted is None else output.num_preempted
    before = rollout.metrics.get("num_preempted")
    rollout.metrics["num_preempted"] = preempted if before is None else before + max(0, preempted)
    if output.routed_experts is not None:
        rollout.routed_experts = output.routed_experts


def show_tools(answers: list[Json], added: list[Json]) -> list[Json]:
    """The messages, of which the last shows the tools that came onto the menu with it.

    The menu in the first message has been read by then and cannot change.
    """
    if not added:
        return answers
    lines = "\n".join(json.dumps(it, ensure_ascii=False) for it in added)
    text = f"You can call these functions from now on:\n<tools>\n{lines}\n</tools>"
    *others, last = answers
    return [*others, {**last, "content": f"{last['content']}\n\n{text}"}]


def count_users(messages: list[Json]) -> int:
    return sum(it["role"] == "user" for it in messages)


def record_attempt(folder: Path, info: Json, score: Json) -> None:
    """Write an attempt to a file of its own, because many processes on many machines do."""
    folder.mkdir(parents=True, exist_ok=True)
    reward = score.get("reward")
    line = None if reward is None else score["group"]
    attempt = {"turn": int(info["turn"]), "reward": reward, "line": line}
    name = create_session_id()
    unfinished = folder / f"{name}.tmp"
    unfinished.write_text(json.dumps(attempt), encoding="utf-8")
    unfinished.replace(folder / f"{name}.json")
