"""Times the training of LoRA adapters with PyTorch and PEFT, on a processor or on a GPU.

`prove-rl bench training --model FOLDER --against torch` starts this program to compare speeds. It
needs the packages torch, transformers and peft.

The first line on stdout is `{"peft": "0.21.2"}`, or `{"problem": "..."}` if nothing can be timed.
Then each line on stdin is a request, answered by a line, or by `{"problem": "..."}`:

- `{"load": FOLDER, "rank": 8, "device": "cpu"}`, first, by `{"trained": 2442240}`
- `{"tokens": 256, "byBlock": false, "repeat": 1}` by `{"processor": 3.1, "clock": 1.6, "memory":
  1500}`: seconds of the processor and of the clock, and the most memory so far in millions of
  bytes; `deviceMemory` is that of a GPU. `byBlock` computes each block again in the backward pass.

The program ends when stdin is closed. On a processor, PyTorch computes with one thread: several
would wait for each other with the processor busy.
"""

import json
import resource
import sys
import time
from typing import Any

try:
    import peft
    import torch
    import torch.nn.functional as F
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM
except ImportError as error:
    print(json.dumps({"problem": f"it has no module {error.name}"}), flush=True)
    sys.exit(0)

MEGABYTE = 1_000_000


class Training:
    """A model with new adapters, and their optimizer."""

    def __init__(self, folder: str, rank: int, device: str) -> None:
        base: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear")
        self.model: Any = get_peft_model(base, config).to(device)
        self.model.enable_input_require_grads()
        self.model.train()
        self.device = device
        self.parameters = [it for it in self.model.parameters() if it.requires_grad]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=0)

    def step(self, tokens: int) -> None:
        """One sequence, of which the second half is predicted."""
        targets = tokens // 2
        ids = torch.arange(tokens + 1, device=self.device) % self.model.config.vocab_size
        logits = self.model(input_ids=ids[None, :-1], logits_to_keep=targets).logits[0]
        F.cross_entropy(logits, ids[-targets:]).backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def measure(self, request: dict[str, Any]) -> dict[str, float]:
        if request["byBlock"]:
            options = {"use_reentrant": False}
            self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=options)
        else:
            self.model.gradient_checkpointing_disable()
        if self.device == "cuda":
            # the first step of a length takes longer
            self.step(request["tokens"])
            torch.cuda.synchronize()
        processor, clock = time.process_time(), time.perf_counter()
        for _ in range(request["repeat"]):
            self.step(request["tokens"])
        if self.device == "cuda":
            torch.cuda.synchronize()
        measured = {
            "processor": time.process_time() - processor,
            "clock": time.perf_counter() - clock,
            "memory": read_memory(),
        }
        if self.device == "cuda":
            measured["deviceMemory"] = torch.cuda.max_memory_allocated() / MEGABYTE
        return measured


def read_memory() -> float:
    """The most memory that the process has had, in millions of bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / MEGABYTE


def load(request: dict[str, Any]) -> Training:
    if request["device"] == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"PyTorch {torch.__version__} finds no GPU")
    return Training(request["load"], request["rank"], request["device"])


def main() -> None:
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    print(json.dumps({"peft": peft.__version__}), flush=True)
    training: Training | None = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        try:
            if training is None:
                training = load(request)
                answer = {"trained": sum(it.numel() for it in training.parameters)}
            else:
                answer = training.measure(request)
        except (ValueError, OSError, RuntimeError) as error:
            answer = {"problem": str(error).splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
