"""bfcl_calls.py plays BFCL's own data through BFCL's own classes, and counts what it plays."""

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import bfcl_calls
import pytest
from bfcl_calls import Scenario


@pytest.fixture(scope="module", name="scenarios")
def load_scenarios() -> list[Scenario]:
    return bfcl_calls.load_scenarios()


def run_program(requests: list[Any], *options: str) -> list[Any]:
    """Run the program to its end and return its lines."""
    result = subprocess.run(
        [sys.executable, "-E", *options, bfcl_calls.__file__],
        input="".join(f"{json.dumps(it)}\n" for it in requests),
        capture_output=True,
        check=True,
        text=True,
        timeout=300,
    )
    assert result.stderr == ""
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_all_scenarios_are_loaded(scenarios: list[Scenario]) -> None:
    assert len(scenarios) == 200
    assert sum(len(it.calls) for it in scenarios) == 1142
    classes = {cls.__name__ for it in scenarios for cls in it.classes}
    assert classes == {
        "GorillaFileSystem",
        "MathAPI",
        "MessageAPI",
        "TicketAPI",
        "TradingBot",
        "TravelAPI",
        "TwitterAPI",
        "VehicleControlAPI",
    }


def test_scenarios_can_be_repeated(scenarios: list[Scenario]) -> None:
    """Neither the initial states nor the arguments are changed by what is played."""
    before = repr(scenarios)
    first, second = (
        [repr(bfcl_calls.play(it.copy_arguments())) for it in scenarios] for _ in range(2)
    )
    assert first == second
    assert repr(scenarios) == before


def test_ground_truth_succeeds(scenarios: list[Scenario]) -> None:
    results = [it for scenario in scenarios for it in bfcl_calls.play(scenario.copy_arguments())]
    assert [it for it in results if isinstance(it, dict) and "error" in it] == []


def test_order_is_shuffled_and_repeats(scenarios: list[Scenario]) -> None:
    order = bfcl_calls.choose_order(scenarios, 2 * 1142 + 1, seed=1)
    calls = [len(it.calls) for it in order]
    assert sum(calls) > 2 * 1142 >= sum(calls[:-1])
    assert len(order) == 401
    names = [repr(it) for it in order]
    assert Counter(names[:200]) == Counter(names[200:400]) == Counter(map(repr, scenarios))
    assert names[:200] != names[200:400]
    assert names == [repr(it) for it in bfcl_calls.choose_order(scenarios, 2285, seed=1)]
    assert names != [repr(it) for it in bfcl_calls.choose_order(scenarios, 2285, seed=2)]


class Files:
    def move(self, source: str, destination: str) -> None: ...


def test_calls_are_parsed() -> None:
    call = bfcl_calls.parse_call("move('a', destination=['b', -1, None])", [dict, Files])
    assert (call.instance, call.method) == (1, "move")
    assert (call.positional, call.named) == (("a",), {"destination": ["b", -1, None]})


@pytest.mark.parametrize(
    "text", ["move", "Files.move('a')", "copy('a')", "move(open('a'))", "move('a'); move('b')"]
)
def test_other_code_is_refused(text: str) -> None:
    with pytest.raises((SyntaxError, TypeError, ValueError)):
        bfcl_calls.parse_call(text, [Files])


def test_program_answers_requests_until_stdin_ends() -> None:
    first, *answers = run_program([{"calls": 10, "seed": 1}, {"calls": 3000, "seed": 2}])
    assert first == {"scenarios": 200, "calls": 1142}
    assert [set(it) for it in answers] == [{"calls", "seconds"}] * 2
    assert 10 <= answers[0]["calls"] < 30
    assert 3000 <= answers[1]["calls"] < 3020
    assert 0 < answers[0]["seconds"] < answers[1]["seconds"]


def test_program_says_that_bfcl_is_missing() -> None:
    # -S: without the installed packages
    assert run_program([], "-S") == [{"problem": "it has no module bfcl_eval"}]
