"""A model in PyTorch that writes many conversations at once and learns from them.

It computes models of the Llama architecture with the modules of transformers. What `generate` of
transformers computes anew or copies for each message is kept here: the keys and values of each
conversation stay where they are until it ends, and a prompt that several conversations begin with
is read once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.nn.functional import log_softmax, rms_norm, scaled_dot_product_attention
from transformers import AutoModelForCausalLM
from transformers import logging as transformers_logging
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from ..service import ServiceError

Item = TypeVar("Item")
Attend = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""Attention in a layer: queries, keys and values [rows, heads, tokens, size] of the new tokens."""


@dataclass(frozen=True)
class Example:
    """Tokens, which of them the model learns to write, and how much it is to write them."""

    ids: list[int]
    mask: list[bool]
    weight: float = 1.0


class Cache:
    """Keys and values of conversations: [layers, 2, conversations, heads, tokens, size].

    `lengths` are the tokens of each conversation that have been read.
    """

    def __init__(self, network: Any, count: int, tokens: int) -> None:
        config = network.config
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, 2, count, config.num_key_value_heads, tokens, size)
        self.values = torch.zeros(shape, dtype=network.dtype, device=network.device)
        self.lengths = [0] * count

    def keep(self, indices: Sequence[int]) -> None:
        """Keep only the conversations at these indices, in their order. One may be repeated."""
        if list(indices) != list(range(len(self.lengths))):
            chosen = torch.tensor(indices, dtype=torch.long, device=self.values.device)
            self.values = self.values[:, :, chosen]
            self.lengths = [self.lengths[it] for it in indices]


class Policy:
    """The model of a folder, its weights in 32 bits, and the optimizer.

    `batch_tokens` are computed at once in training, and `cache_tokens` are kept of conversations.
    With `dtype` bfloat16, the weights are rounded for computing and updated in 32 bits.
    """

    def __init__(
        self, folder: Path, device: str, dtype: torch.dtype, batch_tokens: int, cache_tokens: int
    ) -> None:
        transformers_logging.disable_progress_bar()
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True
        )
        network, info = loaded
        if network.config.model_type != "llama":
            raise ServiceError(
                f"{folder} is a model of the type {network.config.model_type}: this recipe trains "
                "models of the type llama"
            )
        wrong = [str(it) for kind in info.values() for it in kind]
        if wrong:
            raise ServiceError(
                f"the weights in {folder} are not those that config.json describes, for example "
                f"{wrong[0]}: make the folder again"
            )
        network.to(device)
        self.masters = [it.detach().clone() for it in network.parameters()]
        self.network: Any = network.to(dtype)
        self.device = torch.device(device)
        self.batch_tokens = batch_tokens
        self.cache_tokens = cache_tokens
        self.optimizer: Any = None

    def start_training(self) -> None:
        """Begin with an optimizer that has seen nothing."""
        self.optimizer = torch.optim.AdamW(self.masters, betas=(0.9, 0.95), weight_decay=0)

    @torch.no_grad()
    def set_weights(self, weights: Sequence[torch.Tensor]) -> None:
        for master, own, it in zip(self.masters, self.network.parameters(), weights, strict=True):
            master.copy_(it)
            own.copy_(it)

    def learn(self, examples: Sequence[Example], rate: float) -> float:
        """One step: raises Σ weight · log p of the tokens to learn. Returns the loss per token.

        Raises an `ArithmeticError` if it is not a number; the weights are then as before.
        """
        count = sum(sum(it.mask[1:]) for it in examples)
        total = 0.0
        for batch in fill_batches(examples, lambda it: len(it.ids), self.batch_tokens):
            found = self.compute_logprobs(batch)
            weighted = [-it.weight * own.sum() for it, own in zip(batch, found, strict=True)]
            loss = torch.stack(weighted).sum() / count
            loss.backward()
            total += float(loss.detach())
            for master, own in zip(self.masters, self.network.parameters(), strict=True):
                # sums of many gradients would lose digits in 16 bits
                gradient = own.grad.float()
                master.grad = gradient if master.grad is None else master.grad + gradient
                own.grad = None
        norm = torch.nn.utils.clip_grad_norm_(self.masters, 1.0)
        if not math.isfinite(total) or not bool(torch.isfinite(norm)):
            self.optimizer.zero_grad()
            raise ArithmeticError(
                "the loss is not a number: compute in 32 bits (--dtype float32), or lower the rate"
            )
        for it in self.optimizer.param_groups:
            it["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.set_weights(self.masters)
        return total

    def compute_logprobs(self, examples: Sequence[Example]) -> list[torch.Tensor]:
        """The log-probabilities [tokens] of the tokens to learn in each example, in 32 bits."""
        longest = max(len(it.ids) for it in examples)
        ids = torch.zeros((len(examples), longest), dtype=torch.long)
        chosen = torch.zeros((len(examples), longest), dtype=torch.bool)
        for i, it in enumerate(examples):
            ids[i, : len(it.ids)] = torch.tensor(it.ids)
            chosen[i, : len(it.ids)] = torch.tensor(it.mask)
        ids, chosen = ids.to(self.device), chosen.to(self.device)
        positions = torch.arange(longest, device=self.device)[None]
        # what fills up the rows comes after their tokens, which therefore do not see it
        hidden = self._compute_hidden(ids, positions, attend_to_earlier)
        # a token is predicted at the place before it
        places = chosen[:, 1:]
        logits = self.network.lm_head(hidden[:, :-1][places]).float()
        found = log_softmax(logits, -1).gather(1, ids[:, 1:][places][:, None])[:, 0]
        return list(found.split(places.sum(1).tolist()))

    @torch.no_grad()
    def open(self, prompts: Sequence[list[int]], tokens: int) -> Cache:
        """Read the prompts, except for their last tokens. `tokens` is the limit of each row."""
        unique = {it: i for i, it in enumerate(dict.fromkeys(map(tuple, prompts)))}
        # one more place for what fills up rows at their limit
        cache = Cache(self.network, len(unique), tokens + 1)
        if any(len(it) > 1 for it in unique):
            self._read(cache, [list(it[:-1]) for it in unique])
        cache.keep([unique[tuple(it)] for it in prompts])
        return cache

    @torch.no_grad()
    def write(
        self, cache: Cache, parts: Sequence[list[int]], end: int, limit: int, heat: float
    ) -> list[list[int]]:
        """Read a part that each conversation continues with, and write up to `limit` tokens.

        A message stops after the token `end`. The last token that was written has not been read.
        With a `heat` of 0, the most probable token is chosen each time.
        """
        hidden = self._read(cache, parts)
        starts = torch.tensor(cache.lengths, device=self.device)
        finished = torch.zeros(len(parts), dtype=torch.bool, device=self.device)
        columns: list[torch.Tensor] = []
        while True:
            logits = self.network.lm_head(hidden).float()
            if heat > 0:
                chosen = torch.multinomial(torch.softmax(logits / heat, -1), 1)[:, 0]
            else:
                chosen = logits.argmax(-1)
            columns.append(chosen.masked_fill(finished, end))
            finished |= chosen == end
            if len(columns) == limit or bool(finished.all()):
                break
            # a row that is finished reads its last token again and again, at the same place
            positions = starts[:, None]
            reach = max(cache.lengths) + len(columns)
            hidden = self._read_at(cache, columns[-1][:, None], positions, reach)[:, 0]
            starts = starts + ~finished
        rows: list[list[int]] = torch.stack(columns, 1).tolist()
        written = [it[: it.index(end) + 1] if end in it else it for it in rows]
        cache.lengths = [
            start + len(it) - 1 for start, it in zip(cache.lengths, written, strict=True)
        ]
        return written

    def _read(self, cache: Cache, parts: Sequence[list[int]]) -> torch.Tensor:
        """Read a part of each conversation. Returns the last hidden states [rows, width]."""
        longest = max(map(len, parts))
        ids = torch.zeros((len(parts), longest), dtype=torch.long)
        for i, it in enumerate(parts):
            ids[i, : len(it)] = torch.tensor(it)
        starts = torch.tensor(cache.lengths)[:, None]
        last = cache.values.shape[4] - 1
        positions = (starts + torch.arange(longest)).clamp(max=last).to(self.device)
        reach = min(last + 1, max(cache.lengths) + longest)
        hidden = self._read_at(cache, ids.to(self.device), positions, reach)
        cache.lengths = [it + len(part) for it, part in zip(cache.lengths, parts, strict=True)]
        ends = torch.tensor([len(it) - 1 for it in parts], device=self.device)
        return hidden[torch.arange(len(parts), device=self.device), ends]

    def _read_at(
        self, cache: Cache, ids: torch.Tensor, positions: torch.Tensor, reach: int
    ) -> torch.Tensor:
        """Read tokens [rows, tokens] at their positions; all of them are below `reach`."""
        rows = torch.arange(len(ids), device=self.device)[:, None]
        places = torch.arange(reach, device=self.device)
        sees = (places <= positions[:, :, None])[:, None, None]

        def attend(
            layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
        ) -> torch.Tensor:
            keys, values = cache.values[layer]
            keys[rows, :, positions] = key.transpose(1, 2)
            values[rows, :, positions] = value.transpose(1, 2)
            count, heads, tokens, size = query.shape
            # the heads that share keys become further tokens, so that no key is repeated
            shared = heads // keys.shape[1]
            grouped = query.unflatten(1, (-1, shared)).flatten(2, 3)
            mask = sees.expand(-1, 1, shared, -1, -1).flatten(2, 3)
            seen = scaled_dot_product_attention(
                grouped, keys[:, :, :reach], values[:, :, :reach], attn_mask=mask
            )
            return seen.reshape(count, heads, tokens, size)

        return self._compute_hidden(ids, positions, attend)

    def _compute_hidden(
        self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend
    ) -> torch.Tensor:
        """The hidden states [rows, tokens, width] behind the last layer."""
        core = self.network.model
        hidden = core.embed_tokens(ids)
        cos, sin = core.rotary_emb(hidden, positions)
        for index, layer in enumerate(core.layers):
            own = layer.self_attn
            normed = normalize(layer.input_layernorm, hidden)
            query, key, value = (
                it(normed).unflatten(-1, (-1, own.head_dim)).transpose(1, 2)
                for it in (own.q_proj, own.k_proj, own.v_proj)
            )
            query, key = apply_rotary_pos_emb(query, key, cos, sin)
            seen = attend(index, query, key, value)
            hidden = hidden + own.o_proj(seen.transpose(1, 2).flatten(2))
            hidden = hidden + layer.mlp(normalize(layer.post_attention_layernorm, hidden))
        return normalize(core.norm, hidden)


def attend_to_earlier(
    _: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> torch.Tensor:
    # with `enable_gqa`, the kernels for processors keep the attention of all pairs of tokens
    shared = query.shape[1] // key.shape[1]
    keys, values = (it.repeat_interleave(shared, 1) for it in (key, value))
    return scaled_dot_product_attention(query, keys, values, is_causal=True)


def normalize(module: Any, hidden: torch.Tensor) -> torch.Tensor:
    return rms_norm(hidden, hidden.shape[-1:], module.weight, module.variance_epsilon)


def fill_batches(
    items: Sequence[Item], length: Callable[[Item], int], limit: int
) -> Iterator[list[Item]]:
    """Items of similar lengths, as many as fit when they are filled up; at least one."""
    batch: list[Item] = []
    for it in sorted(items, key=length, reverse=True):
        if batch and (len(batch) + 1) * length(batch[0]) > limit:
            yield batch
            batch = []
        batch.append(it)
    if batch:
        yield batch
