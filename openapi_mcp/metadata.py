"""What a package says of itself besides its tools: its versions, requirements, and the files that registries read.

Specifications: Python packaging (PEP 440, `pyproject.toml`), MCP registry `server.json`, MCPB `manifest.json`.
"""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from . import __version__, prose, python_names
from .bridge import Bridge
from .declaring import expression
from .document import join
from .literals import Source, layout, node
from .operations import Operation, operations
from .resolver import BrokenReference, Resolver
from .runtime.models import SecurityScheme

DISTRIBUTION: Final = "mcp-openapi-bridge"

REQUIREMENTS: Final = (
    "httptools>=0.6.3",
    "httpx>=0.27",
    "jsonschema>=4.24",
    "starlette>=0.40",
    "uvicorn>=0.30",
    "uvloop>=0.21; sys_platform != 'win32' and implementation_name == 'cpython'",
)
"""What the runtime imports: those of this distribution's own requirements (tests/test_metadata.py compares them)."""

REGISTRY_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
REGISTRY_DESCRIPTION: Final = 100
"""Characters of a description in the MCP registry."""

NAMESPACE: Final = "io.github.OWNER"
"""Stands for the namespace that a package is published under, which only its owner knows."""

_RELEASE: Final = re.compile(r"[vV]?\s*([0-9]{1,9}(?:[.-][0-9]{1,9})*)")


def version(given: str) -> str:
    """The version of an API as one of a Python package: its leading numbers, else 0."""
    found = _RELEASE.match(given.strip())
    return ".".join(str(int(part)) for part in re.split(r"[.-]", found[1])) if found else "0"


def semantic(plain: str) -> str:
    """The same as a semantic version, which has three parts."""
    return ".".join([*plain.split("."), "0", "0"][:3])


def requirements(runtime: Literal["vendored", "installed"]) -> list[str]:
    """What a package depends on."""
    return list(REQUIREMENTS) if runtime == "vendored" else [f"{DISTRIBUTION}=={__version__}"]


def summary(bridge: Bridge) -> str:
    """One line about the package."""
    return f"MCP tools for {prose.line(bridge.implementation.title, 80)}."


def description(bridge: Bridge) -> Source:
    """What the server says of itself, as the call that makes it."""
    said = bridge.description()
    return layout(node(expression(said)), before=len("DESCRIPTION = "))


def values(bridge: Bridge, name: str, schemes: Mapping[SecurityScheme, Source]) -> dict[str, Any]:
    """What templates show of the document as a whole."""
    plain = version(bridge.document.api_version)
    return {
        "title": prose.line(bridge.implementation.title, 80),
        "summary": summary(bridge),
        "version": plain,
        "description": description(bridge),
        **_names(name),
        **_client_settings(name, schemes),
        "server_name": bridge.implementation.name,
        "listed": Source(f"== {len(bridge.catalog.page()[0])}"),
        "schemes": [_scheme(scheme, constant) for scheme, constant in schemes.items()],
        "scheme_names": layout(node(tuple(schemes.values())), before=len("SECURITY_SCHEMES = ")),
        "server_json": server_json(bridge, name, plain),
        "manifest": manifest(bridge, name, plain),
    }


def script(name: str) -> Source:
    """The command of a distribution."""
    return Source(re.sub(r"[._]+", "-", name).lower())


def _names(name: str) -> dict[str, Any]:
    package = python_names.package(name)
    return {
        "name": name,
        "script": script(name),
        "package": package,
        "package_text": str(package),
        "vendored_folder": f"{package}/_runtime",
        "entry": f"{package}.__main__:main",
        "registry_name": Source(f"{NAMESPACE}/{name}"),
    }


def _client_settings(name: str, schemes: Iterable[SecurityScheme]) -> dict[str, Source]:
    """What clients keep in their settings, as blocks of Markdown."""
    variables = {scheme.variable: "…" for scheme in schemes if scheme.type != "mutualTLS"}
    server = {"command": "uvx", "args": [script(name)]} | ({"env": variables} if variables else {})
    plain = {script(name): server}
    return {
        "client_config": _block({"mcpServers": plain}),
        "vscode_config": _block({"servers": {script(name): {"type": "stdio", **server}}}),
    }


def _block(value: Any) -> Source:
    return Source(textwrap.indent(json.dumps(value, indent=2, ensure_ascii=False), "    "))


def _scheme(scheme: SecurityScheme, constant: Source) -> dict[str, Any]:
    return {
        "name": constant,
        "value": layout(node(expression(scheme)), before=len(constant) + 3),
        "variable": Source(scheme.variable),
        "said": secret(scheme),
    }


def secret(scheme: SecurityScheme) -> str:
    """What a person puts into a scheme's environment variable."""
    if scheme.type == "http" and scheme.scheme == "basic":
        return "user:password"
    return {"apiKey": "an API key", "mutualTLS": "nothing: the certificate is given with --client-cert"}.get(
        scheme.type, "a token"
    )


def server_json(bridge: Bridge, name: str, plain: str) -> dict[str, Any]:
    """The MCP registry's description of the package; its owner's namespace is to be filled in."""
    variables = [
        {"name": scheme.variable, "description": f"Credential: {secret(scheme)}.", "isSecret": True}
        for scheme in bridge.security_schemes()
        if scheme.type != "mutualTLS"
    ]
    package: dict[str, Any] = {
        "registryType": "pypi",
        "identifier": name,
        "version": plain,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
    }
    if variables:
        package["environmentVariables"] = variables
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": f"{NAMESPACE}/{name}",
        "description": prose.line(summary(bridge), REGISTRY_DESCRIPTION),
        "version": plain,
        "packages": [package],
    }


def manifest(bridge: Bridge, name: str, plain: str) -> dict[str, Any]:
    """What desktop clients install the package by (MCPB 0.4, with uv for Python and what it needs)."""
    schemes = [scheme for scheme in bridge.security_schemes() if scheme.type != "mutualTLS"]
    found: dict[str, Any] = {
        "manifest_version": "0.4",
        "name": name,
        "display_name": prose.line(bridge.implementation.title, 80),
        "version": semantic(plain),
        "description": summary(bridge),
        "author": {"name": "OWNER"},
        "server": {
            "type": "uv",
            "entry_point": f"{python_names.package(name)}/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", script(name)],
                "env": {scheme.variable: f"${{user_config.{scheme.variable.lower()}}}" for scheme in schemes},
            },
        },
        "tools": [{"name": tool.name, "description": tool.title or tool.name} for tool in bridge.tools],
        "compatibility": {"platforms": ["darwin", "win32", "linux"], "runtimes": {"python": ">=3.11"}},
    }
    if schemes:
        found["user_config"] = {
            scheme.variable.lower(): {
                "type": "string",
                "title": scheme.variable,
                "description": f"Credential of the API: {secret(scheme)}.",
                "sensitive": True,
                "default": "",  # what an environment variable is where nothing was filled in
                "required": False,
            }
            for scheme in schemes
        }
    return found


def output_names(bridge: Bridge) -> dict[str, str]:
    """What the document calls the answers of its tools, by tool, where it calls them something."""
    resolver = Resolver(bridge.document)
    found, _ = operations(bridge.document, resolver)
    by_label = {operation.label: operation for operation in found}
    named = {tool.name: by_label.get(f"{tool.method} {tool.path}") for tool in bridge.tools}
    said = {tool: next(_answer_names(operation, resolver), "") for tool, operation in named.items() if operation}
    return {tool: name for tool, name in said.items() if name}


def _answer_names(operation: Operation, resolver: Resolver) -> Iterator[str]:
    """The names of the schemas of successful answers; a list is named after its items."""
    responses = operation.value.get("responses")
    for status, response in responses.items() if isinstance(responses, dict) else ():
        if str(status)[:1] != "2":
            continue
        try:
            node, _ = resolver.follow(response, join(operation.pointer, "responses", status))
        except BrokenReference:
            continue
        content = node.get("content") if isinstance(node, dict) else None
        for media in content.values() if isinstance(content, dict) else ():
            schema = media.get("schema") if isinstance(media, dict) else None
            yield from _reference_name(schema)


def _reference_name(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("$ref"), str):
        yield schema["$ref"].rpartition("/")[2]
    elif isinstance(schema.get("items"), dict) and isinstance(schema["items"].get("$ref"), str):
        yield schema["items"]["$ref"].rpartition("/")[2] + " list"
