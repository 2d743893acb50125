"""The Dockerfile and the examples of deployments: linted, and their commands and paths are those of the program."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from openapi_mcp.options.table import of_command

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "examples" / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))

pytestmark = pytest.mark.process


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(name: str) -> str:
    """The path of a program that a Python package installed beside this Python."""
    path = Path(sys.executable).parent / name
    assert path.exists(), f"{name} is not installed"
    return str(path)


def test_the_dockerfile_has_no_finding() -> None:
    assert run(tool("hadolint"), "Dockerfile") == ""


def test_the_image_holds_what_its_installation_needs() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert names == allowed
    assert all((ROOT / name).exists() for name in names)


def test_the_compose_file_is_valid() -> None:
    run(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yaml"))


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: str(item["kind"]))
def test_a_kubernetes_object_is_valid(item: dict[str, Any]) -> None:
    import kubernetes_validate

    kubernetes_validate.validate(item, "1.32", strict=True)


def test_kubernetes_has_all_that_was_promised() -> None:
    kinds = {item["kind"] for item in OBJECTS}
    assert kinds == {"Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy"}


def test_the_proxy_configuration_is_valid(tmp_path: Path) -> None:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    if nginx is None:
        pytest.skip("nginx is not installed (Debian: apt install nginx)")
    text = (DEPLOY / "nginx.conf").read_text().replace("replica-1", "127.0.0.1").replace("replica-2", "127.0.0.1")
    file = tmp_path / "nginx.conf"
    file.write_text(f"pid {tmp_path}/pid; error_log {tmp_path}/log;\n{text}")
    run(nginx, "-t", "-q", "-c", str(file), "-p", str(tmp_path))


def commands() -> dict[str, list[str]]:
    """The arguments of the servers in the examples, by file."""
    (deployment,) = (item for item in OBJECTS if item["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return {"compose": COMPOSE["services"]["replica-1"]["command"].split(), "kubernetes": container["args"]}


@pytest.mark.parametrize("name", commands())
def test_every_option_of_an_example_exists(name: str) -> None:
    used = {word.partition("=")[0] for word in commands()[name] if word.startswith("--")}
    known = {f"--{option.setting}" for option in of_command("serve")}
    assert used
    assert used <= known


def test_every_variable_of_an_example_exists() -> None:
    known = {option.variable for option in of_command("serve")} | {"API_PETSTORE_SHOPKEY"}
    assert COMPOSE["services"]["replica-1"]["environment"].keys() <= known
