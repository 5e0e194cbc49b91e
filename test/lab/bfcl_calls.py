"""Plays the scenarios of BFCL's multi-turn benchmark through BFCL's own Python classes.

`prove-rl bench environment --against bfcl` starts this program to compare speeds. It needs the
package bfcl-eval and the modules that its classes import, nothing else.

The first line on stdout is `{"scenarios": 200, "calls": 1142}`, or `{"problem": "..."}` if the
scenarios cannot be played. Then each line on stdin is a request such as
`{"calls": 10000, "seed": 1}`, answered by a line such as `{"calls": 10003, "seconds": 0.5}`. The
program ends when stdin is closed.
"""

import ast
import copy
import importlib
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

DATA_FILE = "BFCL_v4_multi_turn_base.json"


@dataclass(frozen=True)
class Call:
    """A call of the ground truth, with its arguments parsed."""

    instance: int
    """Which of the scenario's classes has the method."""
    method: str
    positional: tuple[Any, ...]
    named: dict[str, Any]

    def copy_arguments(self) -> "Call":
        """Return the same call with arguments of its own: methods may keep and change lists."""
        if not any(isinstance(it, (list, dict)) for it in (*self.positional, *self.named.values())):
            return self
        return replace(
            self,
            positional=copy.deepcopy(self.positional),
            named=copy.deepcopy(self.named),
        )


@dataclass(frozen=True)
class Scenario:
    """A task of the benchmark: classes with their initial states, and the calls of all turns."""

    classes: tuple[type, ...]
    states: tuple[Any, ...]
    """One for each class; None for a class without a state."""
    calls: tuple[Call, ...]

    def copy_arguments(self) -> "Scenario":
        return replace(self, calls=tuple(it.copy_arguments() for it in self.calls))


def read_json_lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def load_scenarios() -> list[Scenario]:
    """Load the scenarios. Parses the calls, so that the time for that is not measured."""
    data = Path(importlib.import_module("bfcl_eval").__path__[0], "data")
    truth = {
        entry["id"]: entry["ground_truth"]
        for entry in read_json_lines(data / "possible_answer" / DATA_FILE)
    }
    return [
        create_scenario(entry, truth[entry["id"]]) for entry in read_json_lines(data / DATA_FILE)
    ]


def create_scenario(entry: Any, turns: Sequence[Sequence[str]]) -> Scenario:
    config = importlib.import_module("bfcl_eval.constants.executable_backend_config")
    names = entry["involved_classes"]
    classes = tuple(
        getattr(importlib.import_module(config.CLASS_FILE_PATH_MAPPING[name]), name)
        for name in names
    )
    states = tuple(
        None if name in config.STATELESS_CLASSES else entry["initial_config"].get(name, {})
        for name in names
    )
    calls = tuple(parse_call(text, classes) for turn in turns for text in turn)
    return Scenario(classes, states, calls)


def parse_call(text: str, classes: Sequence[type]) -> Call:
    """Parse a call such as `mv(source='a.txt', destination='b')`, whose arguments are literals."""
    call = ast.parse(text.strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise TypeError(f"{text} is not a call")
    method = call.func.id
    for instance, cls in enumerate(classes):
        if callable(getattr(cls, method, None)):
            break
    else:
        raise ValueError(f"no class of the scenario has a method {method}")
    return Call(
        instance,
        method,
        tuple(ast.literal_eval(it) for it in call.args),
        {str(it.arg): ast.literal_eval(it.value) for it in call.keywords},
    )


def play(scenario: Scenario) -> list[Any]:
    """Load the scenario into new instances, make its calls, and return the results.

    Initial states are copied each time, as the benchmark's own executor does, because instances
    change them. They may change arguments too; copying these is left to the caller, so that the
    time for it is not measured.
    """
    instances = []
    for cls, state in zip(scenario.classes, scenario.states):
        instance: Any = cls()
        if state is not None:
            instance._load_scenario(copy.deepcopy(state), long_context=False)
        instances.append(instance)
    return [
        getattr(instances[it.instance], it.method)(*it.positional, **it.named)
        for it in scenario.calls
    ]


def choose_order(scenarios: Sequence[Scenario], call_count: int, seed: int) -> list[Scenario]:
    """Repeat all scenarios, shuffled each time, until they have that many calls."""
    shuffle = random.Random(seed).shuffle
    order: list[Scenario] = []
    remaining = call_count
    while True:
        visit = list(scenarios)
        shuffle(visit)
        for scenario in visit:
            if remaining <= 0:
                return order
            order.append(scenario.copy_arguments())
            remaining -= len(scenario.calls)


def measure(scenarios: Sequence[Scenario], call_count: int, seed: int) -> dict[str, float]:
    order = choose_order(scenarios, call_count, seed)
    start = time.perf_counter()
    for scenario in order:
        play(scenario)
    seconds = time.perf_counter() - start
    return {"calls": sum(len(it.calls) for it in order), "seconds": seconds}


def prepare() -> tuple[list[Scenario], dict[str, Any]]:
    """Load the scenarios and play each once. Returns them with the first line to write."""
    try:
        scenarios = load_scenarios()
        for scenario in scenarios:
            play(scenario.copy_arguments())
    except ModuleNotFoundError as error:
        return [], {"problem": f"it has no module {error.name}"}
    except FileNotFoundError as error:
        return [], {"problem": f"its bfcl-eval has no file {error.filename}"}
    return scenarios, {
        "scenarios": len(scenarios),
        "calls": sum(len(it.calls) for it in scenarios),
    }


def main() -> None:
    answers = sys.stdout
    # what BFCL's classes print is not an answer
    sys.stdout = sys.stderr
    scenarios, first_line = prepare()
    print(json.dumps(first_line), file=answers, flush=True)
    if not scenarios:
        return
    for line in sys.stdin:
        request = json.loads(line)
        answer = measure(scenarios, request["calls"], request["seed"])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
