"""judges.py plays attempts before BFCL's own checker."""

import contextlib
import io
import itertools

import judges
from judges import Call, Task


def create_task(**options: object) -> Task:
    read = Call("get_order", {"order_id": "ord_1"}, True)
    write = Call("cancel_order", {"order_id": "ord_1", "amount": 25}, False)
    task = {"turns": [[read], [write]], "judge": lambda *_: True, "user": "Cancel my order."}
    return Task(**{**task, **options})  # type: ignore[arg-type]


def play(player: str, task: Task) -> judges.Attempt:
    attempt = judges.PLAYERS[player](task)
    assert attempt is not None
    return attempt


def test_players_change_what_they_say() -> None:
    task = create_task(told=["25"], asks=True)
    (read,), (write,) = task.turns
    assert play("no call", task) == ([[], []], "Done.")
    assert play("each look-up twice", task)[0] == [[read, read], [write]]
    assert play("all writes in the last turn", create_task(turns=[[write], [read]]))[0] == [
        [],
        [write, read],
    ]
    assert play("all calls, says OK", task) == (task.turns, "OK.")
    _, (guessed,) = play("made-up ids", task)[0]
    assert guessed.arguments == {"order_id": "ord_2", "amount": 25}
    _, (other,) = play("25.0 for 25", task)[0]
    assert repr(other.arguments["amount"]) == "25.0"
    assert play("right ids, never looked up", task) == ([[], [write]], "It is all done. 25")


def test_tasks_that_give_no_occasion_are_left_out() -> None:
    task = create_task(turns=[[], []])
    assert [name for name, player in judges.PLAYERS.items() if player(task)] == ["reference"]
    said = create_task(user="Cancel ord_1.")
    assert judges.PLAYERS["made-up ids"](said) is None
    assert judges.PLAYERS["right ids, never looked up"](said) is None


def test_bfcl_judges_the_reference_right_and_idle_wrong() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        benchmark = judges.load_bfcl()
        verdicts = [judges.play_task(it) for it in itertools.islice(benchmark.tasks, 5)]
    assert benchmark.software == "bfcl-eval 2026.3.23"
    assert benchmark.count == 200
    assert all(it["reference"] and not it["no call"] for it in verdicts)
