"""A student behind chat completions, asked with the official client for Python."""

import asyncio
import json
import subprocess
from collections.abc import Iterator

import pytest
from conftest import ROOT
from openai import AsyncOpenAI, BadRequestError, NotFoundError, OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

TOOL: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "banking_list_accounts",
        "description": "List the accounts.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
ASKED: list[ChatCompletionMessageParam] = [
    {"role": "user", "content": "What is the balance of my savings account?"}
]


@pytest.fixture(scope="module", name="url")
def serve_student() -> Iterator[str]:
    command = ["node", "dist/cli.js", "serve", "--port", "0", "--policy", "small"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, "the service did not start; npm run build creates the program"
        yield json.loads(first)["url"] + "/v1"
        process.terminate()
        assert process.wait(10) == 0


@pytest.fixture(name="client")
def open_client(url: str) -> OpenAI:
    return OpenAI(base_url=url, api_key="none", max_retries=0)


def test_a_call_its_result_and_the_next_message(client: OpenAI) -> None:
    first = client.chat.completions.create(
        model="small", messages=ASKED, tools=[TOOL], temperature=0, logprobs=True
    )
    [choice] = first.choices
    assert choice.finish_reason == "tool_calls"
    [call] = choice.message.tool_calls or []
    assert call.type == "function"
    assert call.function.name == "banking_list_accounts"
    assert json.loads(call.function.arguments).keys() <= {"name"}
    assert first.usage is not None
    assert choice.logprobs is not None
    tokens = choice.logprobs.content or []
    assert len(tokens) == first.usage.completion_tokens
    assert all(it.logprob <= 0 for it in tokens)
    result = {"accounts": [{"account_id": "acc_101", "name": "Savings", "balance": 12.5}]}
    second = client.chat.completions.create(
        model="small",
        messages=[
            *ASKED,
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {
                            "name": call.function.name,
                            "arguments": call.function.arguments,
                        },
                    }
                ],
            },
            {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)},
        ],
        tools=[TOOL],
        temperature=0,
        tool_choice="none",
    )
    assert second.choices[0].finish_reason == "stop"
    assert second.choices[0].message.content


def test_a_stream_has_the_text_and_the_usage(client: OpenAI) -> None:
    whole = client.chat.completions.create(
        model="small", messages=ASKED, temperature=0, tool_choice="none"
    )
    text = ""
    usage = None
    for chunk in client.chat.completions.create(
        model="small",
        messages=ASKED,
        temperature=0,
        tool_choice="none",
        stream=True,
        stream_options={"include_usage": True},
    ):
        text += "".join(it.delta.content or "" for it in chunk.choices)
        usage = chunk.usage or usage
    assert text == whole.choices[0].message.content
    assert usage == whole.usage


def test_requests_at_the_same_time_do_not_change_each_other(url: str) -> None:
    async def ask(client: AsyncOpenAI, seed: int) -> str:
        answer = await client.chat.completions.create(
            model="small", messages=ASKED, seed=seed, temperature=1.5, tool_choice="none"
        )
        return answer.choices[0].message.content or ""

    async def ask_all() -> tuple[list[str], list[str]]:
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            together = await asyncio.gather(*[ask(client, seed) for seed in range(32)])
            return together, [await ask(client, seed) for seed in range(32)]

    together, alone = asyncio.run(ask_all())
    assert together == alone
    assert len(set(together)) > 10


def test_errors_are_those_of_the_client(client: OpenAI) -> None:
    assert [it.id for it in client.models.list()] == ["small"]
    with pytest.raises(NotFoundError) as missing:
        client.chat.completions.create(model="large", messages=ASKED)
    assert missing.value.code == "model_not_found"
    with pytest.raises(BadRequestError) as long:
        client.chat.completions.create(
            model="small", messages=[{"role": "user", "content": "word " * 2_000}]
        )
    assert long.value.code == "context_length_exceeded"
