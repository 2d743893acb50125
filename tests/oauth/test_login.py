"""Sign-ins at a real authorization server: with a browser, on another device, used by calls, and ended."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp.oauth.code_flow import read_code
from openapi_mcp.oauth.endpoints import OAuthFailure
from tests.oauth.apis import Backend, write_document
from tests.oidc import CLIENT_ID, CLIENT_SECRET, authorization_server, sign_in
from tests.servers import free_port, running

pytestmark = pytest.mark.process


@contextmanager
def backend(tmp_path: Path, issuer: str, flows: Any = None) -> Iterator[tuple[str, Backend]]:
    """An API that any token of the issuer may use, and its document."""

    class _AnyToken(set[str]):
        def __contains__(self, token: object) -> bool:
            return isinstance(token, str) and token.startswith("eyJ")

    api = Backend([{}], _AnyToken())
    with running(api.app) as url:
        metadata = {"type": "openIdConnect", "openIdConnectUrl": f"{issuer}/.well-known/openid-configuration"}
        yield write_document(tmp_path, url, flows or {}, **({} if flows else metadata)), api


def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "OPENAPI_MCP_CACHE": str(tmp_path / "cache"),
        "OPENAPI_MCP_TOKENS": str(tmp_path / "tokens"),
        "API_PETS_KEY_CLIENT_ID": CLIENT_ID,
        "API_PETS_KEY_CLIENT_SECRET": CLIENT_SECRET,
    }


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "openapi_mcp", *arguments]
    return subprocess.run(command, check=False, env=environment(tmp_path), capture_output=True, text=True, timeout=90)


@contextmanager
def started(tmp_path: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-u", "-m", "openapi_mcp", *arguments]
    with subprocess.Popen(
        command, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        timer = threading.Timer(90, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()


def test_a_user_signs_in_with_a_browser_calls_and_signs_out(node: Path, tmp_path: Path) -> None:
    port = free_port()
    redirect = f"http://127.0.0.1:{port}/callback"
    with (
        authorization_server(node, redirects=[redirect]) as issuer,
        backend(tmp_path, issuer) as (spec, api),
    ):
        with started(tmp_path, "login", spec, "--no-browser", "--redirect-port", str(port)) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            page = process.stdout.readline().strip()
            assert page.startswith(f"{issuer}/auth?")
            assert httpx.get(f"{redirect}?code=stolen&state=guessed").status_code == 400
            answer = httpx.get(sign_in(page, until=redirect))
            assert "You can close this page" in answer.text
            assert process.wait(60) == 0, process.stderr.read()
            assert "signed in for the security scheme key" in process.stderr.read()
        called = run(tmp_path, "call", spec, "listPets")
        assert called.returncode == 0, called.stderr
        (stored,) = (tmp_path / "tokens").glob("*.json")
        stored.write_text(json.dumps(json.loads(stored.read_text()) | {"expires_at": 1}))
        again = run(tmp_path, "call", spec, "listPets")  # the token has expired and is renewed
        assert again.returncode == 0, again.stderr
        tokens = {*api.calls}
        assert len(tokens) == 2
        assert not any(token in called.stdout + again.stdout for token in tokens)
        gone = run(tmp_path, "logout", spec)
        assert (gone.returncode, gone.stderr) == (0, "signed out\n")
        assert "Nobody has signed in" not in run(tmp_path, "logout", spec).stderr
        assert not list((tmp_path / "tokens").glob("*.json"))


def test_a_user_signs_in_on_another_device(node: Path, tmp_path: Path) -> None:
    with authorization_server(node) as issuer:
        flows = {
            "deviceAuthorization": {"deviceAuthorizationUrl": f"{issuer}/device/auth", "tokenUrl": f"{issuer}/token"}
        }
        with backend(tmp_path, issuer, flows) as (spec, _), started(tmp_path, "login", spec, "--device") as process:
            assert process.stdout is not None
            assert process.stderr is not None
            page = process.stdout.readline().strip()
            sign_in(page, until="http://nowhere")
            assert process.wait(60) == 0, process.stderr.read()
            said = process.stderr.read()
            assert re.search(r"enter the code \S{4}-\S{4}", said)
            assert "signed in" in said
            called = run(tmp_path, "call", spec, "listPets")
            assert called.returncode == 0, called.stderr


def test_a_refused_sign_in_is_an_error(node: Path, tmp_path: Path) -> None:
    port = free_port()
    redirect = f"http://127.0.0.1:{port}/callback"
    with (
        authorization_server(node) as issuer,
        backend(tmp_path, issuer) as (spec, _),
        started(tmp_path, "login", spec, "--no-browser", "--redirect-port", str(port)) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        page = process.stdout.readline().strip()
        state = httpx.URL(page).params["state"]
        httpx.get(redirect, params={"error": "access_denied", "state": state, "iss": issuer})
        assert process.wait(60) == 2
        assert "The sign-in was refused: access_denied" in process.stderr.read()


@pytest.mark.parametrize(
    ("answer", "metadata", "message"),
    [
        ({"code": "x", "iss": "https://evil.test"}, {"issuer": "https://good.test"}, "another authorization server"),
        (
            {"code": "x"},
            {"issuer": "https://good.test", "authorization_response_iss_parameter_supported": True},
            "another authorization server",
        ),
        ({"error": "denied\x1b"}, {}, "refused: denied\ufffd"),
        ({}, {}, "no code"),
    ],
)
def test_an_answer_of_another_server_is_refused(answer: Any, metadata: Any, message: str) -> None:
    with pytest.raises(OAuthFailure, match=message):
        read_code(answer, metadata)


def test_what_is_missing_is_reported_before_anything_is_opened(tmp_path: Path) -> None:
    spec = write_document(tmp_path, "http://127.0.0.1:9", {"authorizationCode": {}})
    assert "no such OAuth security scheme: nope" in run(tmp_path, "login", spec, "--scheme", "nope").stderr
    assert "--oauth key.authorization-url" in run(tmp_path, "login", spec, "--no-browser").stderr
    assert run(tmp_path, "logout", spec).stderr == "nobody is signed in for the security scheme key\n"
