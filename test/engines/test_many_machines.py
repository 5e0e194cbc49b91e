"""The example for Kubernetes: its parts fit together, and its command runs."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from conftest import ROOT, TASKS

FOLDER = ROOT / "resources/many-machines"
Json = dict[str, Any]

with open(FOLDER / "kubernetes.yaml", encoding="utf-8") as file:
    OBJECTS: dict[tuple[str, str], Json] = {
        (it["kind"], it["metadata"]["name"]): it for it in yaml.safe_load_all(file)
    }
MACHINES = OBJECTS["StatefulSet", "prove"]["spec"]
CONTAINER = MACHINES["template"]["spec"]["containers"][0]
PROXY = OBJECTS["Deployment", "prove-proxy"]["spec"]["template"]["spec"]
CONFIG: str = OBJECTS["ConfigMap", "prove-proxy"]["data"]["haproxy.cfg"]
OPTIONS = dict(it.removeprefix("--").split("=") for it in CONTAINER["command"][2:])


def test_the_options_exist() -> None:
    command = ["node", "dist/cli.js", "serve", "--help"]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in OPTIONS:
        assert re.search(rf"^\s+--{name} <", printed, re.MULTILINE), name


def test_ports_and_names_match() -> None:
    port = int(OPTIONS["port"])
    assert [it["containerPort"] for it in CONTAINER["ports"]] == [port]
    headless = OBJECTS["Service", MACHINES["serviceName"]]["spec"]
    assert headless["clusterIP"] == "None"
    assert [it["port"] for it in headless["ports"]] == [port]
    for spec in (headless, MACHINES["selector"]):
        labels = spec.get("selector") or spec["matchLabels"]
        assert labels.items() <= MACHINES["template"]["metadata"]["labels"].items()
    servers = re.findall(r"^\s+server (\S+) (\S+)$", CONFIG, re.MULTILINE)
    names = [f"prove-{i}" for i in range(MACHINES["replicas"])]
    assert servers == [(it, f"{it}.{MACHINES['serviceName']}:{port}") for it in names]
    assert f"bind :{PROXY['containers'][0]['ports'][0]['containerPort']}\n" in CONFIG
    # clients name the proxy's service in the header Host
    entrance = OBJECTS["Service", OPTIONS["allow-hosts"]]["spec"]
    assert (
        entrance["selector"]
        == OBJECTS["Deployment", "prove-proxy"]["spec"]["template"]["metadata"]["labels"]
    )


def test_volumes_and_times_match() -> None:
    mounts = {it["mountPath"]: it["name"] for it in CONTAINER["volumeMounts"]}
    volumes = {it["name"] for it in MACHINES["template"]["spec"]["volumes"]}
    claims = {it["metadata"]["name"] for it in MACHINES["volumeClaimTemplates"]}
    assert mounts[str(Path(OPTIONS["tasks"]).parent)] in volumes
    assert mounts[str(Path(OPTIONS["journal"]).parent)] in claims
    spec = MACHINES["template"]["spec"]
    assert spec["terminationGracePeriodSeconds"] > int(OPTIONS["drain"])
    secrets = [
        it["env"][0]["valueFrom"]["secretKeyRef"] for it in (CONTAINER, PROXY["containers"][0])
    ]
    assert secrets[0] == secrets[1]


def test_the_proxy_is_that_of_the_example_for_haproxy() -> None:
    example = (FOLDER / "haproxy.cfg").read_text()
    own = [it.strip() for it in CONFIG.splitlines()]
    rules = [
        it.strip() for it in example.splitlines() if re.match(r"\s+(http-request|balance|hash)", it)
    ]
    assert len(rules) == 5
    assert all(it in own for it in rules)


def test_haproxy_accepts_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text(CONFIG)
    command = ["haproxy", "-c", "-f", str(tmp_path / "haproxy.cfg")]
    env = {**os.environ, "PROVE_TOKEN": "0123456789abcdef"}
    subprocess.run(command, check=True, capture_output=True, env=env)


def test_the_command_serves_and_the_probe_sees_when_it_drains(tmp_path: Path) -> None:
    env = {**os.environ, "PROVE_TOKEN": "0123456789abcdef0123456789"}
    changed = {
        "tasks": str(TASKS),
        "journal": str(tmp_path / "journal"),
        "port": "0",
        "workers": "2",
    }
    options = [f"--{name}={changed.get(name, value)}" for name, value in OPTIONS.items()]
    command = ["node", "dist/cli.js", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=env) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        port = url.rpartition(":")[2]
        program = CONTAINER["readinessProbe"]["exec"]["command"][2].replace(OPTIONS["port"], port)

        def probe() -> int:
            return subprocess.run(["node", "-e", program], env=env, check=False).returncode

        assert probe() == 0
        token = {"authorization": f"Bearer {env['PROVE_TOKEN']}"}
        open_session(f"http://127.0.0.1:{port}", token)
        process.terminate()
        deadline = time.monotonic() + 300
        while probe() == 0:
            assert time.monotonic() < deadline
        assert process.poll() is None
        # another signal ends it at once, unless it comes so soon that it counts as the first one
        while process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
        assert process.returncode == -signal.SIGTERM
    assert probe() == 1
    # the session is there when the machine starts again
    assert len(list((tmp_path / "journal").glob("*.jsonl"))) == 1


def open_session(url: str, headers: dict[str, str]) -> None:
    from prove_rl import Client

    Client(url, token=headers["authorization"].removeprefix("Bearer ")).open("banking-11-1")
