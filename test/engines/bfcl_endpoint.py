"""An endpoint that answers as BFCL's ground truth does, for the tests of `prove-rl benchmark`.

Prints its address. With a number as argument, it goes down after so many responses; with `short`,
every conversation is too long for it.
"""

import ast
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

CATEGORIES = ["base", "miss_func", "miss_param", "long_context"]


def find_data() -> Path:
    file = import_module("bfcl_eval").__file__
    assert file is not None
    return Path(file).parent / "data"


def load_lines(file: Path) -> list[Any]:
    return [json.loads(it) for it in file.read_text(encoding="utf-8").splitlines() if it.strip()]


def load_parameters(data: Path) -> dict[str, list[str]]:
    """The names of the parameters of each function, in their order."""
    return {
        it["name"]: list(it["parameters"]["properties"])
        for file in sorted((data / "multi_turn_func_doc").glob("*.json"))
        for it in load_lines(file)
    }


def parse_call(text: str, parameters: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
    """A call of the ground truth, such as `cd('a')`, with its arguments by name."""
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    name = tree.func.id
    named = dict(zip(parameters[name], map(ast.literal_eval, tree.args), strict=False))
    return name, named | {it.arg or "": ast.literal_eval(it.value) for it in tree.keywords}


class GroundTruth:
    """The calls of each turn of each entry."""

    def __init__(self) -> None:
        data = find_data()
        parameters = load_parameters(data)
        prompts = import_module("bfcl_eval.constants.default_prompts")
        prompt: str = prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC
        self.entries: list[tuple[list[str], list[list[tuple[str, dict[str, Any]]]]]] = []
        for category in CATEGORIES:
            name = f"BFCL_v4_multi_turn_{category}.json"
            answers = load_lines(data / "possible_answer" / name)
            for entry, truth in zip(load_lines(data / name), answers, strict=True):
                # a turn without text brings the function that was missing
                said = [turn[0]["content"] if turn else prompt for turn in entry["question"]]
                calls = [
                    [parse_call(it, parameters) for it in turn] for turn in truth["ground_truth"]
                ]
                self.entries.append((said, calls))

    def answer(self, messages: list[Any], offered: set[str]) -> list[tuple[str, dict[str, Any]]]:
        """The calls of the turn that has just begun; none after they were made."""
        if messages[-1]["role"] != "user":
            return []
        said = [it["content"] for it in messages if it["role"] == "user"]
        return max(self._find(said, offered), key=len)

    def _find(
        self, said: list[str], offered: set[str]
    ) -> Iterator[list[tuple[str, dict[str, Any]]]]:
        yield []
        for texts, calls in self.entries:
            if texts[: len(said)] == said:
                turn = calls[len(said) - 1]
                if all(name in offered for name, _ in turn):
                    yield turn


def create_completion(calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else "Done."}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call{i}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for i, (name, arguments) in enumerate(calls)
        ]
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def create_refusal(count: int) -> dict[str, Any]:
    message = f"the prompt has {500 + count} tokens, and the limit is 256"
    return {"error": {"message": message, "code": "context_length_exceeded"}}


def main() -> None:
    truth = GroundTruth()
    is_short = sys.argv[1:] == ["short"]
    limit = int(sys.argv[1]) if len(sys.argv) > 1 and not is_short else None
    count = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal count
            if self.path != "/v1/chat/completions":
                self.send_error(404)
                return
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            count += 1
            if limit is not None and count > limit:
                self.send_error(503)
                return
            offered = {it["function"]["name"] for it in request.get("tools", [])}
            answer = (
                create_refusal(count)
                if is_short
                else create_completion(truth.answer(request["messages"], offered))
            )
            body = json.dumps(answer).encode()
            self.send_response(400 if is_short else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
