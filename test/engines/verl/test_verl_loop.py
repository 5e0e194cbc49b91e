"""`prove_rl.verl` in verl's own worker for rollouts, with the service that `prove-rl serve` starts."""

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Attempt, Served
from prove_rl import AsyncClient, AsyncSession, Client, ProveError
from tiny_qwen import END, ScriptedGeneration
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage
from verl.utils.config import validate_config
from verl_worker import (
    choose_rows,
    create_config,
    create_worker,
    list_written,
    run_batch,
    write_call,
)

PARTS = ["validity", "coverage", "efficiency", "name", "argument", "answer"]
KEYS = [*PARTS, "success", "unscorable"]

LISTING = write_call("banking_list_accounts", {})


@pytest.fixture(name="worker", scope="module")
def create_shared_worker(verl_folder: Path) -> Any:
    """A worker with responses of at most 6,000 tokens, which compute faster."""
    return create_worker(verl_folder, "data.max_response_length=6000")


@pytest.fixture(autouse=True)
def no_session_is_left(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PROVE_URL", served.url)
    yield
    assert served.count_sessions() == 0


def test_verl_knows_the_settings(verl_folder: Path) -> None:
    config = create_config(verl_folder)
    validate_config(config, use_reference_policy=True, use_critic=False)
    rollout = config.actor_rollout_ref.rollout
    assert (rollout.prompt_length, rollout.response_length, rollout.n) == (12_384, 16_384, 16)
    assert config.actor_rollout_ref.actor.kl_loss_coef == 0.01


def test_groups_have_the_scores_of_the_service(worker: Any, served: Served) -> None:
    """The same messages have the same parts through verl's worker and over HTTP."""
    scripted = ScriptedGeneration(worker.tokenizer, served.tasks)

    def write(prompt: str, number: int) -> str:
        return scripted.write(worker.tokenizer.encode(prompt), number)

    output = run_batch(worker, choose_rows(worker, range(5), 4), write)
    assert output.meta_info["reward_extra_keys"] == KEYS
    infos = output.non_tensor_batch["extra_info"]
    written = list_written(worker, output)
    rewards = output.batch["rm_scores"].sum(dim=1).tolist()
    for i, info in enumerate(infos):
        with Client(served.url).open(info["task_id"], max_messages=10) as session:
            for text in written[i].split(END)[:-1]:
                session.message(read_message(text))
            score = session.score()
        parts = {name: output.non_tensor_batch[name][i] for name in PARTS}
        assert parts == pytest.approx(fill_answer(score["components"]))
        assert rewards[i] == pytest.approx(score["reward"])
        assert output.non_tensor_batch["success"][i] == score["success"]
    assert not output.non_tensor_batch["unscorable"].any()
    assert 0 < output.non_tensor_batch["success"].mean() < 1
    advantages, _ = compute_grpo_outcome_advantage(
        output.batch["rm_scores"],
        output.batch["response_mask"],
        np.array([info["task_id"] for info in infos], dtype=object),
    )
    assert torch.isfinite(advantages).all()
    assert advantages.abs().max() > 0.1


def fill_answer(parts: Any) -> Any:
    """verl has 1 where nothing was to be told."""
    return {name: 1 if value is None else value for name, value in parts.items()}


def read_message(text: str) -> Any:
    calls = [it.split("</tool_call>")[0] for it in text.split("<tool_call>")[1:]]
    return {
        "role": "assistant",
        "content": text.split("<tool_call>")[0],
        "tool_calls": [{"function": json.loads(it)} for it in calls],
    }


def attempt(worker: Any, texts: list[str], task_id: str = "banking-11-1") -> Any:
    """The output of one attempt whose messages are these texts."""

    def write(prompt: str, number: int) -> str:
        written = len(worker.llm_client.prompts)
        return texts[written - 1] + END

    return run_batch(worker, choose_rows(worker, [task_id], 1), write)


def test_the_same_messages_have_the_same_score_as_elsewhere(
    worker: Any, attempts: list[Attempt]
) -> None:
    """Those of test_same_score.py."""
    for it in attempts:
        output = attempt(worker, [write_message(message) for message in it.messages], it.task_id)
        values = output.non_tensor_batch
        found = {name: values[name][0] for name in [*PARTS, "success"]}
        found["reward"] = output.batch["rm_scores"].sum().item()
        expected = {name: float(value) for name, value in fill_answer(it.here).items()}
        assert found == pytest.approx(expected), it


def write_message(message: Any) -> str:
    calls = [it["function"] for it in message.get("tool_calls", [])]
    texts = [write_call(it["name"], it["arguments"]) for it in calls]
    return "\n".join([message["content"], *texts])


def test_calls_of_a_message_are_executed_in_their_order(worker: Any, served: Served) -> None:
    calls: list[tuple[str, Any]] = [
        ("banking_pay_bill", {"account_id": "acc_677", "payee_id": "pay_482"}),
        ("banking_list_accounts", {}),
        ("banking_list_accounts", {"name": "joint"}),
    ]
    output = attempt(worker, ["\n".join(write_call(*it) for it in calls), "Done."])
    with Client(served.url).open("banking-11-1") as session:
        expected = [session.call(*it)["text"] for it in calls]
    read = worker.llm_client.prompts[1]
    for text in expected:
        assert text in read
        read = read.partition(text)[2]
    assert output.non_tensor_batch["__num_turns__"] == [6]


def test_the_user_speaks_again_after_a_text(worker: Any, served: Served) -> None:
    """What the user and the tools say is not trained on, and what the model wrote is."""
    texts = [write_call("payments_list_invoices", {}), "There are some.", "That is all.", "Bye."]
    output = attempt(worker, texts, "payments-11-0")
    assert list_written(worker, output) == ["".join(it + END for it in texts)]
    with Client(served.url).open("payments-11-0") as session:
        session.call("payments_list_invoices", {})
        said = [session.user(it) for it in texts[1:]]
    assert said[-1] is None
    prompts = worker.llm_client.prompts
    for text, prompt in zip(said[:-1], prompts[2:], strict=True):
        assert text is not None
        assert f"<|im_start|>user\n{text}{END}\n<|im_start|>assistant" in prompt
    # verl's own template renders the conversation as the worker appended it
    assert all(later.startswith(before) for before, later in pairwise(prompts))


def test_tools_are_shown_with_their_whole_schemas(worker: Any, served: Served) -> None:
    attempt(worker, ["Done."])
    with Client(served.url).open("banking-11-1") as session:
        tools = session.tools
    lines = worker.llm_client.prompts[0].split("<tools>\n")[1].split("\n</tools>")[0]
    assert [json.loads(it) for it in lines.splitlines()] == tools


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "banking_list_accounts", "arguments": {\n</tool_call>',
        "<tool_call>\n[1]\n</tool_call>",
        f"<tool_call>\n{'[' * 1_500}\n</tool_call>",
        write_call("banking_rob", {"all": True}),
        write_call("banking_get_transaction", "acc_101"),
        write_call("banking_get_transaction", {}),
        write_call("banking_get_transaction", {"transaction_id": math.nan}),
        write_call("banking_get_transaction", {"transaction_id": 0}).replace("0", "1e999"),
        write_call("banking_get_transaction", {"transaction_id": 10**400}),
    ],
    ids=[
        "malformed",
        "no call",
        "nested too deeply",
        "unknown tool",
        "arguments that are no object",
        "missing",
        "no number",
        "infinite",
        "too large",
    ],
)
def test_calls_that_cannot_be_executed_cost_validity(worker: Any, text: str) -> None:
    output = attempt(worker, [LISTING + text, "Sorry."])
    assert 0 < output.non_tensor_batch["validity"][0] < 1
    assert worker.llm_client.prompts[1].count("<tool_response>") == 2
    assert list_written(worker, output) == [f"{LISTING}{text}{END}Sorry.{END}"]


def test_a_message_that_a_limit_cuts_off_is_not_executed(worker: Any) -> None:
    output = attempt(worker, [LISTING, LISTING + " word" * 7_000])
    assert output.batch["response_mask"].shape[1] == 6_000
    assert int(output.batch["response_mask"][0, -1]) == 1
    assert output.non_tensor_batch["unscorable"] == [0]
    # the first call only
    assert output.non_tensor_batch["validity"] == [1]
    assert output.non_tensor_batch["success"] == [0]


def test_an_attempt_ends_when_there_is_no_room_for_a_message(verl_folder: Path) -> None:
    worker = create_worker(verl_folder, "data.max_response_length=100")
    output = attempt(worker, [LISTING, "never written"])
    assert len(worker.llm_client.prompts) == 1
    assert list_written(worker, output) == [LISTING + END]
    assert output.non_tensor_batch["validity"] == [1]


def test_the_model_writes_ten_messages_at_most(worker: Any) -> None:
    attempt(worker, [LISTING] * 12)
    assert len(worker.llm_client.prompts) == 10


def test_a_prompt_that_is_too_long_is_not_trained_on(verl_folder: Path) -> None:
    worker = create_worker(
        verl_folder, "data.max_prompt_length=100", "data.max_response_length=100"
    )
    output = attempt(worker, ["never written"])
    assert worker.llm_client.prompts == []
    assert output.meta_info["reward_extra_keys"] == KEYS
    assert output.non_tensor_batch["unscorable"] == [1]
    assert output.batch["response_mask"].sum() == 0


class FailingClient(AsyncClient):
    """Every second session that it opens is deleted before the attempt begins."""

    opened = 0

    async def open(self, task_id: str, **options: Any) -> AsyncSession:
        session = await super().open(task_id, **options)
        FailingClient.opened += 1
        if FailingClient.opened % 2 == 0:
            await session.close()
        return session


def test_a_service_that_fails_leaves_attempts_without_a_score(
    worker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others of the batch are trained on, because all have the same keys."""
    monkeypatch.setattr("prove_rl.verl.connect", lambda url: FailingClient(url))
    output = run_batch(worker, choose_rows(worker, ["banking-11-1"], 6), lambda *_: LISTING + END)
    unscorable = output.non_tensor_batch["unscorable"]
    assert 0 < unscorable.sum() < 6
    trained = output.batch["response_mask"].sum(dim=1) > 0
    assert trained.tolist() == [it == 0 for it in unscorable]
    assert output.meta_info["reward_extra_keys"] == KEYS


def test_a_task_that_the_service_does_not_have_ends_the_training(worker: Any) -> None:
    batch = choose_rows(worker, ["banking-11-1"], 1)
    batch.non_tensor_batch["extra_info"][0]["task_id"] = "gone-1"
    with pytest.raises(ProveError, match="UNKNOWN_TASK"):
        run_batch(worker, batch, lambda *_: END)


def test_many_attempts_run_at_the_same_time(verl_folder: Path) -> None:
    worker = create_worker(
        verl_folder, "data.max_prompt_length=6000", "data.max_response_length=3000"
    )
    texts = [LISTING, write_call("banking_list_payees", {}), "Done."]

    def write(prompt: str, number: int) -> str:
        return texts[prompt.count("<|im_start|>assistant") - 1] + END

    output = run_batch(worker, choose_rows(worker, ["banking-11-1"], 64), write)
    rewards = output.batch["rm_scores"].sum(dim=1)
    assert len(rewards) == 64
    assert rewards.min() == rewards.max() > 0
    assert len(set(list_written(worker, output))) == 1
