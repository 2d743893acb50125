"""The metadata of a package: version, requirements, client settings, and the files that registries read.

Specifications: Python packaging (PEP 440, `pyproject.toml`), MCP registry `server.json`, MCPB `manifest.json`.
"""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from .. import __version__, plain_text
from ..bridge import Bridge
from ..runtime.request.credentials import credential_hosts
from ..runtime.tool import SecurityScheme, Tool
from . import python_names
from .declarations import expression
from .literals import Source, layout, node

DISTRIBUTION: Final = "mcp-openapi-bridge"

REQUIREMENTS: Final = (
    "httptools>=0.6.3",
    "httpx>=0.27",
    "jsonschema-rs>=0.60",
    "starlette>=0.49.1",
    "uvicorn>=0.30",
    "uvloop>=0.21; sys_platform != 'win32' and implementation_name == 'cpython'",
)
"""The requirements of the runtime, the same as in `pyproject.toml` (tests/generator/test_metadata.py)."""

SELECTION: Final = "jmespath>=1.0.1"
"""The requirement of tools whose `x-mcp` selects a part of their answers."""

REGISTRY_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
REGISTRY_DESCRIPTION: Final = 100
"""Characters of a description in the MCP registry."""

NAMESPACE: Final = "io.github.OWNER"
"""A placeholder for the namespace of the package's owner in the registry."""

_RELEASE: Final = re.compile(r"[vV]?\s*([0-9]{1,9}(?:[.-][0-9]{1,9})*)")


def version(api_version: str) -> str:
    """Return the version of a package for the version of an API: its leading numbers, or 0."""
    match = _RELEASE.match(api_version.strip())
    return ".".join(str(int(part)) for part in re.split(r"[.-]", match[1])) if match else "0"


def semantic_version(release: str) -> str:
    """Return a version with three parts (semver.org)."""
    return ".".join([*release.split("."), "0", "0"][:3])


def requirements(runtime: Literal["vendored", "installed"], tools: Iterable[Tool] = ()) -> list[str]:
    """Return the requirements of a package with these tools."""
    if runtime == "installed":
        return [f"{DISTRIBUTION}=={__version__}"]
    return sorted([*REQUIREMENTS, *([SELECTION] if any(tool.select is not None for tool in tools) else [])])


def summary(bridge: Bridge) -> str:
    """Return one line about the package."""
    return f"MCP tools for {plain_text.line(bridge.implementation.title, 80)}."


def description(bridge: Bridge) -> Source:
    """Return the expression for the server's description."""
    description = replace(bridge.description(lists_all=True), tasks=False)  # which a package's runtime does not have
    return layout(node(expression(description)), before=len("DESCRIPTION = "))


def values(bridge: Bridge, name: str, schemes: Mapping[SecurityScheme, Source]) -> dict[str, Any]:
    """Return the values of templates that describe the whole package."""
    plain = version(bridge.document.api_version)
    return {
        "title": plain_text.line(bridge.implementation.title, 80),
        "summary": summary(bridge),
        "version": plain,
        "description": description(bridge),
        **_names(name),
        **_client_settings(name, [variable for variable, _ in _variables(bridge)], needs_base_url(bridge)),
        "server_name": bridge.implementation.name,
        "listed": Source(f"== {len(bridge.catalog.page()[0])}"),
        "schemes": [_scheme(scheme, constant, bridge.tools) for scheme, constant in schemes.items()],
        "scheme_names": layout(node(tuple(schemes.values())), before=len("SECURITY_SCHEMES = ")),
        "server_json": server_json(bridge, name, plain),
        "manifest": manifest(bridge, name, plain),
    }


def needs_base_url(bridge: Bridge) -> bool:
    """Return whether a call of any tool needs the base URL of the API, since the document names no server for it."""
    return any(tool.base_url is None for tool in bridge.tools)


BASE_URL_VARIABLE: Final = "OPENAPI_MCP_BASE_URL"
"""Environment variable that a package reads the base URL from: it may hold a user and a password."""

BASE_URL_NEED: Final = "URL of the API, such as https://api.example.com; needed, since its document names no server"
"""The purpose of `--base-url` in packages of such documents."""


def script(name: str) -> Source:
    """Return the command of a distribution."""
    return Source(re.sub(r"[._]+", "-", name).lower())


def _names(name: str) -> dict[str, Any]:
    package = python_names.package(name)
    return {
        "name": name,
        "script": script(name),
        "package": package,
        "package_text": str(package),
        "vendored_folder": f"{package}/_runtime",
        "vendored_modules": f"{package}._runtime.*",
        "entry": f"{package}.__main__:main",
        "registry_name": Source(f"{NAMESPACE}/{name}"),
    }


def _client_settings(name: str, variables: Iterable[str], needs_url: bool) -> dict[str, Any]:
    """Return the settings of clients as blocks of Markdown, and what `--base-url` is for."""
    url = ["--base-url", "https://api.example.com"] if needs_url else []
    need = "; needed, since its document names no server" if needs_url else ""
    arguments = ["run", "--no-dev", "--directory", "/path/to/this/folder", script(name), *url]
    server = {"command": "uv", "args": arguments} | ({"env": env} if (env := dict.fromkeys(variables, "…")) else {})
    return {
        "client_config": _block({"mcpServers": {script(name): server}}),
        "vscode_config": _block({"servers": {script(name): {"type": "stdio", **server}}}),
        "needs_base_url": needs_url,
        "base_url_argument": Source("".join(f" {part}" for part in url)),
        "base_url_help": f"URL of the API{need}; default: {BASE_URL_VARIABLE}",
        "base_url_variable": BASE_URL_VARIABLE,
    }


def _block(value: Any) -> Source:
    return Source(textwrap.indent(json.dumps(value, indent=2, ensure_ascii=False), "    "))


def _scheme(scheme: SecurityScheme, constant: Source, tools: Iterable[Tool]) -> dict[str, Any]:
    return {
        "name": constant,
        "value": layout(node(expression(scheme)), before=len(constant) + 3),
        "variable": Source(scheme.variable),
        "credential": credential(scheme),
        "hosts": credential_hosts(tools, scheme),
    }


def credential(scheme: SecurityScheme) -> str:
    """Return the kind of credential that the environment variable of a scheme holds."""
    if scheme.type == "http" and scheme.scheme == "basic":
        return "user:password"
    return {"apiKey": "an API key", "mutualTLS": "no value; use --client-cert for the certificate"}.get(
        scheme.type, "a token"
    )


def _purpose(bridge: Bridge, scheme: SecurityScheme) -> str:
    """Return one sentence about the credential in a scheme's variable: its kind, and the hosts that get it."""
    hosts = credential_hosts(bridge.tools, scheme)
    return f"Credential of the API: {credential(scheme)}{f', sent to {hosts}' if hosts else ''}."


def _variables(bridge: Bridge) -> Iterator[tuple[str, str]]:
    """Yield the environment variables that the package reads secrets from, each with a sentence about its value."""
    for scheme in bridge.security_schemes():
        if scheme.type != "mutualTLS":
            yield scheme.variable, _purpose(bridge, scheme)
    arguments: dict[str, str] = {}
    for preset in (preset for tool in bridge.tools for preset in tool.presets):
        if preset.variable is not None:
            arguments.setdefault(preset.variable, preset.argument.wire_name or preset.argument.name)
    for variable, name in arguments.items():
        yield variable, f"Value of the argument {plain_text.line(name, 80)} of the API."


def server_json(bridge: Bridge, name: str, plain: str) -> dict[str, Any]:
    """Return the package's entry for the MCP registry; its owner replaces the namespace."""
    variables = [
        {"name": variable, "description": purpose, "isSecret": True} for variable, purpose in _variables(bridge)
    ]
    package: dict[str, Any] = {
        "registryType": "pypi",
        "identifier": name,
        "version": plain,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
    }
    if needs_base_url(bridge):
        package["packageArguments"] = [
            {"type": "named", "name": "--base-url", "description": f"{BASE_URL_NEED}.", "isRequired": True}
        ]
    if variables:
        package["environmentVariables"] = variables
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": f"{NAMESPACE}/{name}",
        "description": plain_text.line(summary(bridge), REGISTRY_DESCRIPTION),
        "version": plain,
        "packages": [package],
    }


def manifest(bridge: Bridge, name: str, plain: str) -> dict[str, Any]:
    """Return the manifest for desktop clients (MCPB 0.4); uv installs Python and the requirements.

    Not those of development: by default `uv run` installs the group `dev` too, which is four times the rest.
    """
    needs_url = needs_base_url(bridge)
    variables = dict(_variables(bridge))
    content: dict[str, Any] = {
        "manifest_version": "0.4",
        "name": name,
        "display_name": plain_text.line(bridge.implementation.title, 80),
        "version": semantic_version(plain),
        "description": summary(bridge),
        "author": {"name": "OWNER"},
        "server": {
            "type": "uv",
            "entry_point": f"{python_names.package(name)}/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--no-dev", "--directory", "${__dirname}", script(name)]
                + (["--base-url", "${user_config.base_url}"] if needs_url else []),
                "env": {variable: f"${{user_config.{variable.lower()}}}" for variable in variables},
            },
        },
        "tools": [{"name": tool.name, "description": tool.title or tool.name} for tool in bridge.tools],
        "compatibility": {"platforms": ["darwin", "win32", "linux"], "runtimes": {"python": ">=3.11"}},
    }
    if needs_url or variables:
        content["user_config"] = _user_config(bridge, variables)
    return content


def _user_config(bridge: Bridge, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that a desktop client asks its user for: the base URL where it is needed, and credentials."""
    url = {"type": "string", "title": "URL of the API", "description": f"{BASE_URL_NEED}.", "required": True}
    return ({"base_url": url} if needs_base_url(bridge) else {}) | {
        variable.lower(): {
            "type": "string",
            "title": variable,
            "description": purpose,
            "sensitive": True,
            "default": "",  # the environment variable where the user leaves the field empty
            "required": False,
        }
        for variable, purpose in variables.items()
    }
