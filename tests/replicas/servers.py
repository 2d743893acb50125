"""Redis and nginx of the distribution, in the foreground, on free ports of 127.0.0.1, for the duration of a block."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import free_port

START_SECONDS = 20


def program(name: str) -> str:
    """Return the path of a program of the distribution; skip the test where it is not installed."""
    found = shutil.which(name, path="/usr/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: apt install {name})")
    return found


@contextmanager
def started(command: Sequence[str], port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a server until the block ends."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + START_SECONDS
            while True:
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, f"{command[0]} ended with {process.returncode}"
                assert time.monotonic() < end, f"{command[0]} does not listen"
            yield process
        finally:
            process.terminate()


@contextmanager
def redis(folder: Path, port: int | None = None, password: str = "") -> Iterator[str]:
    """Run Redis without files; yield its URL, which has the password that it asks for."""
    port = port or free_port()
    options = ["--requirepass", password] if password else []
    options += ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    with started([program("redis-server"), *options], port):
        yield f"redis://{f':{password}@' if password else ''}127.0.0.1:{port}/0"


@contextmanager
def nginx(folder: Path, upstreams: Sequence[str]) -> Iterator[str]:
    """Run nginx in front of some servers (host:port); yield its base URL. It sends no request twice."""
    port = free_port()
    servers = "".join(f"server {each} max_fails=1 fail_timeout=60s;" for each in upstreams)
    file = folder / "nginx.conf"
    file.write_text(
        f"""daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
        events {{ worker_connections 1024; }}
        http {{
          access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
          uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
          upstream replicas {{ {servers} }}
          server {{
            listen 127.0.0.1:{port};
            location / {{
              proxy_pass http://replicas; proxy_http_version 1.1;
              proxy_set_header Host $http_host; proxy_buffering off; proxy_read_timeout 120s;
            }}
          }}
        }}"""
    )
    with started([program("nginx"), "-c", str(file), "-p", str(folder)], port):
        yield f"http://127.0.0.1:{port}"
