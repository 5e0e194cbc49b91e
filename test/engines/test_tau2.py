"""tau2.py: the guard of the calculator, and what it makes of simulations."""

from types import SimpleNamespace
from typing import Any

import pytest
from prove_rl.benchmarks import tau2
from prove_rl.benchmarks.harness import TOO_LONG


class Environment:
    def make_tool_call(self, tool_name: str, requestor: str = "assistant", **arguments: Any) -> Any:
        return tool_name, requestor, arguments


def test_the_calculator_refuses_powers() -> None:
    class Guarded(Environment):
        pass

    tau2.guard_calculator(Guarded)
    call = Guarded().make_tool_call
    assert call("calculate", expression="2 * 3") == (
        "calculate",
        "assistant",
        {"expression": "2 * 3"},
    )
    assert call("note", requestor="user", expression="9**9")[1] == "user"
    with pytest.raises(ValueError, match="Invalid characters"):
        call("calculate", expression="9**9**9")


def create_simulation(
    reason: str, reward: float, breakdown: dict[str, float] | None, note: str | None = None
) -> dict[str, Any]:
    return {
        "task_id": "7",
        "termination_reason": reason,
        "skipped": note is not None,
        "reward_info": {
            "reward": reward,
            "reward_breakdown": breakdown,
            "info": {"note": note} if note else None,
        },
    }


@pytest.mark.parametrize(
    ("simulation", "valid", "error", "message", "failure"),
    [
        (create_simulation("user_stop", 1, {"DB": 1}), True, None, None, None),
        (
            create_simulation("user_stop", 0, {"DB": 0, "COMMUNICATE": 1}),
            False,
            "DB 0",
            None,
            None,
        ),
        (create_simulation("max_steps", 0, None), False, "max_steps", None, None),
        (
            create_simulation("agent_error", 0, None, "bad JSON"),
            False,
            "agent_error",
            "bad JSON",
            "bad JSON",
        ),
        (
            create_simulation("agent_error", 0, None, f"{TOO_LONG}: 9 tokens"),
            False,
            "agent_error",
            f"{TOO_LONG}: 9 tokens",
            None,
        ),
    ],
)
def test_simulations_have_verdicts(
    simulation: dict[str, Any],
    valid: bool,
    error: str | None,
    message: str | None,
    failure: str | None,
) -> None:
    score = {"id": "retail/7", "category": "retail", "valid": valid}
    assert tau2.create_score("retail", simulation) == {
        **score,
        "error": error,
        "message": message,
        "refusal": TOO_LONG if message is not None and failure is None else failure,
    }
    assert tau2.describe_failure(simulation) == failure


def test_errors_for_long_conversations_are_known_by_their_code() -> None:
    class TooLongError(Exception):
        pass

    class RefusedError(Exception):
        code = TOO_LONG

    harness = SimpleNamespace(errors=SimpleNamespace(ContextWindowExceededError=TooLongError))
    assert tau2.is_too_long(harness, TooLongError())
    assert tau2.is_too_long(harness, RefusedError())
    assert not tau2.is_too_long(harness, ValueError(TOO_LONG))
