"""Times the work of a training step in eager PyTorch, on one core.

`prove-rl bench training --against torch` starts this program to compare speeds. It needs the
package torch, nothing else.

The first line on stdout is `{"torch": "2.13.0"}`, or `{"problem": "..."}` if nothing can be timed.
Then each line on stdin is a request, answered by a line such as `{"processor": 0.5, "clock": 0.6}`:
seconds of the processor and of the clock. The keys of a request are `work` (see WORKS),
`architecture` (that of a model folder's config.json), `repeat`, and those of the work. The program
ends when stdin is closed.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

try:
    import torch
    import torch.nn.functional as F
    from torch import Tensor
except ImportError as error:
    print(json.dumps({"problem": f"it has no module {error.name}"}), flush=True)
    sys.exit(0)

BATCH_TOKENS = 3_000
"""The most tokens of a batch of sorted sequences, with padding: as many as PROVE packs."""

TRL_BATCH = 8
"""Sequences of a batch in TRL's layout: its default `per_device_train_batch_size`."""

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""Mixes the values of a layer by its queries and keys, all (B, heads, T, head width)."""


@dataclass(frozen=True)
class Attempt:
    """An attempt of a group: the prompt, then tokens of which some are targets."""

    prompt: list[int]
    completion: list[int]
    mask: list[int]
    """For each token of the completion, 1 if it is a target."""


class Transformer:
    """A transformer like Qwen3 with random weights, its output tied to the embedding."""

    def __init__(self, architecture: dict[str, Any]) -> None:
        self.layers: int = architecture["layers"]
        self.heads: int = architecture["heads"]
        self.kv_heads: int = architecture["kvHeads"]
        self.head_width: int = architecture["headWidth"]
        self.parameters: dict[str, Tensor] = {}
        width, hidden = architecture["width"], architecture["hidden"]
        queries, keys = self.heads * self.head_width, self.kv_heads * self.head_width
        random = torch.Generator().manual_seed(1)

        def add(name: str, *shape: int) -> None:
            values = torch.randn(shape, generator=random) * 0.02
            self.parameters[name] = values.requires_grad_()

        add("embedding", architecture["vocabulary"], width)
        for layer in range(self.layers):
            add(f"{layer}.attention.norm", width)
            add(f"{layer}.attention.qkv", queries + 2 * keys, width)
            add(f"{layer}.attention.query_norm", self.head_width)
            add(f"{layer}.attention.key_norm", self.head_width)
            add(f"{layer}.attention.out", width, queries)
            add(f"{layer}.feed.norm", width)
            add(f"{layer}.feed.gate_up", 2 * hidden, width)
            add(f"{layer}.feed.down", width, hidden)
        add("norm", width)
        half = self.head_width // 2
        waves = architecture["ropeBase"] ** (-torch.arange(half) / half)
        angles = torch.arange(architecture["context"])[:, None] * waves
        self.cos, self.sin = angles.cos(), angles.sin()

    def compute_states(self, ids: Tensor, positions: Tensor, attend: Attend) -> Tensor:
        """Compute the states after the last layer, (B, T, width), of tokens (B, T)."""
        batch, length = ids.shape
        heads = [self.heads, self.kv_heads, self.kv_heads]
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        x = F.embedding(ids, self.parameters["embedding"])
        for layer in range(self.layers):
            mixed = self.project(
                self.normalize(x, f"{layer}.attention.norm"), f"{layer}.attention.qkv"
            )
            mixed = mixed.view(batch, length, sum(heads), self.head_width).transpose(1, 2)
            queries, keys, values = mixed.split(heads, dim=1)
            queries = rotate(self.normalize(queries, f"{layer}.attention.query_norm"), cos, sin)
            keys = rotate(self.normalize(keys, f"{layer}.attention.key_norm"), cos, sin)
            mixed = attend(layer, queries, keys, values).transpose(1, 2).flatten(2)
            x = x + self.project(mixed, f"{layer}.attention.out")
            inner = self.project(self.normalize(x, f"{layer}.feed.norm"), f"{layer}.feed.gate_up")
            gate, up = inner.chunk(2, dim=-1)
            x = x + self.project(F.silu(gate) * up, f"{layer}.feed.down")
        return self.normalize(x, "norm")

    def compute_logits(self, states: Tensor) -> Tensor:
        return self.project(states, "embedding")

    def normalize(self, x: Tensor, name: str) -> Tensor:
        scale = self.parameters[name]
        return F.rms_norm(x, list(scale.shape), scale, 1e-6)

    def project(self, x: Tensor, name: str) -> Tensor:
        return F.linear(x, self.parameters[name])

    def drop_gradients(self) -> None:
        for parameter in self.parameters.values():
            parameter.grad = None


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def attend_causally(_layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True, enable_gqa=True)


def pad(lists: Sequence[list[int]], length: int, left: bool = False) -> Tensor:
    """Pad to (B, length) with 0."""
    padding = [[0] * (length - len(it)) for it in lists]
    rows = [(p + it if left else it + p) for it, p in zip(lists, padding, strict=True)]
    return torch.tensor(rows)


def train_dense(model: Transformer, request: dict[str, Any]) -> None:
    """Compute the gradients of sequences in which every token is a target."""
    random = torch.Generator().manual_seed(2)
    shape = (request["sequences"], request["length"] + 1)
    vocabulary = len(model.parameters["embedding"])
    ids = torch.randint(vocabulary, shape, generator=random)
    positions = torch.arange(request["length"]).expand(len(ids), -1)
    states = model.compute_states(ids[:, :-1], positions, attend_causally)
    F.cross_entropy(model.compute_logits(states).flatten(0, 1), ids[:, 1:].flatten()).backward()


def read_attempts(request: dict[str, Any]) -> list[Attempt]:
    return [
        Attempt(group["prefix"], branch["ids"], branch["mask"])
        for group in request["groups"]
        for branch in group["branches"]
    ]


def train_sorted(model: Transformer, request: dict[str, Any]) -> None:
    """Compute the gradients of attempts in batches of similar length, padded on the right.

    Logits are computed only where a target is predicted.
    """
    attempts = read_attempts(request)
    total = sum(sum(it.mask) for it in attempts)
    for batch in split_by_length(attempts):
        sequences = [it.prompt + it.completion for it in batch]
        length = max(len(it) for it in sequences)
        ids = pad(sequences, length)
        mask = pad([[0] * len(it.prompt) + it.mask for it in batch], length)
        positions = torch.arange(length - 1).expand(len(batch), -1)
        # what comes after a sequence is not attended to by the sequence
        states = model.compute_states(ids[:, :-1], positions, attend_causally)
        is_target = mask[:, 1:].bool()
        logits = model.compute_logits(states[is_target])
        (F.cross_entropy(logits, ids[:, 1:][is_target], reduction="sum") / total).backward()


def split_by_length(attempts: Sequence[Attempt]) -> Iterator[list[Attempt]]:
    """Split into batches of at most BATCH_TOKENS tokens, with padding."""
    batch: list[Attempt] = []
    for attempt in sorted(attempts, key=lambda it: len(it.prompt) + len(it.completion)):
        length = len(attempt.prompt) + len(attempt.completion)
        if batch and length * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(attempt)
    if batch:
        yield batch


def train_trl(model: Transformer, request: dict[str, Any]) -> None:
    """Compute the gradients of attempts in the layout of TRL's GRPOTrainer.

    All prompts are padded on the left to the longest, all completions on the right, and logits are
    computed for all tokens of completions.
    """
    attempts = read_attempts(request)
    total = sum(sum(it.mask) for it in attempts)
    prompt_length = max(len(it.prompt) for it in attempts)
    length = max(len(it.completion) for it in attempts)
    prompts = pad([it.prompt for it in attempts], prompt_length, left=True)
    prompt_mask = pad([[1] * len(it.prompt) for it in attempts], prompt_length, left=True)
    completions = pad([it.completion for it in attempts], length)
    completion_mask = pad([[1] * len(it.completion) for it in attempts], length)
    target_mask = pad([it.mask for it in attempts], length)
    ids = torch.cat((prompts, completions), dim=1)
    is_token = torch.cat((prompt_mask, completion_mask), dim=1)
    positions = (is_token.cumsum(1) - 1).clamp(min=0)
    causal = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    for start in range(0, len(attempts), TRL_BATCH):
        rows = slice(start, start + TRL_BATCH)
        # a row of padding attends to itself: nothing else would be left to attend to
        allowed = causal & (is_token[rows].bool()[:, None] | torch.eye(len(causal)).bool())

        def attend(
            _layer: int, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor = allowed
        ) -> Tensor:
            return F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=allowed[:, None], enable_gqa=True
            )

        states = model.compute_states(ids[rows], positions[rows], attend)
        logits = model.compute_logits(states[:, prompt_length - 1 : -1])
        losses = F.cross_entropy(
            logits.flatten(0, 1), completions[rows].flatten(), reduction="none"
        )
        ((losses * target_mask[rows].flatten()).sum() / total).backward()


def decode(model: Transformer, request: dict[str, Any]) -> None:
    """Sample tokens after a common prompt, with a cache of keys and values."""
    sequences, prompt, steps = request["sequences"], request["prompt"], request["steps"]
    shape = (model.layers, 2, sequences, model.kv_heads, prompt + steps, model.head_width)
    cache = torch.zeros(shape)
    filled = 0

    def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        end = filled + keys.shape[2]
        own = cache[layer, :, : len(queries), :, :end]
        own[0, :, :, filled:], own[1, :, :, filled:] = keys, values
        return F.scaled_dot_product_attention(
            queries, own[0], own[1], is_causal=filled == 0, enable_gqa=True
        )

    with torch.inference_mode():
        model.compute_states(
            torch.ones(1, prompt, dtype=torch.long), torch.arange(prompt)[None], attend
        )
        cache[:, :, 1:, :, :prompt] = cache[:, :, :1, :, :prompt]
        last = torch.ones(sequences, 1, dtype=torch.long)
        for filled in range(prompt, prompt + steps):
            states = model.compute_states(last, torch.tensor([[filled]]), attend)
            chances = model.compute_logits(states[:, -1]).softmax(-1)
            last = torch.multinomial(chances, 1)


WORKS: dict[str, Callable[[Transformer, dict[str, Any]], None]] = {
    "dense": train_dense,
    "sorted": train_sorted,
    "trl": train_trl,
    "decoding": decode,
}


def measure(request: dict[str, Any]) -> dict[str, float]:
    model = Transformer(request["architecture"])
    work = WORKS[request["work"]]
    # the first time allocates memory
    work(model, request)
    processor, clock = time.process_time(), time.perf_counter()
    for _ in range(request["repeat"]):
        model.drop_gradients()
        work(model, request)
    return {"processor": time.process_time() - processor, "clock": time.perf_counter() - clock}


def main() -> None:
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    print(json.dumps({"torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
