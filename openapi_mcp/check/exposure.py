"""Rules about what tools cost and expose: tokens, limits of clients, annotations, servers and credentials."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from ..clients.limits import broken_limits
from ..clients.profiles import GENERIC, PROFILES, installed_name
from ..document.model import join
from ..runtime.tool import DESTRUCTIVE_WORDS, READ_ONLY_METHODS, Tool, named_segments, words
from ..selection import read_only_candidates
from ..token_budget import BUDGET, tokens_of_bytes, total
from .rules import Finding
from .subject import JudgedDocument

MAX_TOOL_TOKENS: Final = 2_000
"""Tokens of one tool. The median of real documents is 250; one of more crowds out eight others."""

_CHANGING: Final = DESTRUCTIVE_WORDS | {"create", "update", "insert", "modify", "send"}
_PRIVATE: Final = ("localhost", "127.", "10.", "192.168.", "[::1]")


def exposure_findings(subject: JudgedDocument) -> Iterator[Finding]:
    """Yield the findings about tokens, limits, annotations, servers and security."""
    yield from _costs(subject)
    yield from _annotations(subject)
    yield from _servers(subject)
    yield from _security(subject)


def _costs(subject: JudgedDocument) -> Iterator[Finding]:
    sizes = subject.bridge.sizes
    for tool in subject.tools:
        cost = tokens_of_bytes(sizes[tool.name])
        if cost > MAX_TOOL_TOKENS:
            yield _finding("tool-large", subject, tool, f"{tool.name} costs about {cost:,} tokens")
    everything = total(sizes.values())
    if everything > BUDGET:
        message = f"all {len(subject.tools):,} tools together cost about {everything:,} tokens"
        yield Finding(rule="list-large", pointer="#/paths", message=message)
    yield from _client_limits(subject)


def _client_limits(subject: JudgedDocument) -> Iterator[Finding]:
    """Yield the limits of clients: the numbers of tools of all, or with --client those of one, for each tool."""
    chosen = subject.bridge.config.profile
    for profile in PROFILES.values() if chosen is GENERIC else [chosen]:
        if profile.max_tools is not None and len(subject.tools) > profile.max_tools:
            message = (
                f"{profile.title} takes {profile.max_tools} tools, and there are {len(subject.tools):,} "
                f"({profile.sources['max_tools']})"
            )
            yield Finding(rule="client-limit", pointer="#/paths", message=message)
    if chosen is GENERIC:
        return
    server = installed_name(subject.bridge.implementation.name)
    for tool, name in zip(subject.tools, subject.names, strict=True):
        if broken := list(broken_limits(tool, name, chosen, server)):
            yield _finding(
                "client-change", subject, tool, f"{tool.name} is not as {chosen.title} takes it: {'; '.join(broken)}"
            )


def _annotations(subject: JudgedDocument) -> Iterator[Finding]:
    candidates = {tool.name for tool in read_only_candidates(subject.tools)}
    for tool in subject.tools:
        named = [*words(tool.operation_id or ""), *(w for part in named_segments(tool.path)[-1:] for w in words(part))]
        changing = next((word for word in named[:1] + named[-1:] if word in _CHANGING), None)
        if changing and tool.annotations.get("readOnlyHint") and tool.method in READ_ONLY_METHODS:
            message = (
                f"clients call {tool.name} without asking, since it is a {tool.method}; but its name says {changing!r}"
            )
            yield _finding("annotation-unsafe", subject, tool, message)
        elif tool.name in candidates:
            message = f"{tool.name} may only read, but its method POST does not say so"
            yield _finding("annotation-uncertain", subject, tool, message)


def _servers(subject: JudgedDocument) -> Iterator[Finding]:
    guesses = [tool for tool in subject.tools if tool.base_url is None or tool.base_url_is_guess]
    if guesses:
        message = f"calls of {len(guesses):,} tools have no base URL in the document"
        yield Finding(rule="server-missing", pointer="#/servers", message=message)
    urls = {tool.base_url for tool in subject.tools if tool.base_url and not tool.base_url_is_guess}
    for url in sorted(urls):
        parts = urlsplit(url)
        if parts.scheme == "http" and not is_internal(parts.hostname or ""):
            message = (
                f"calls go to {parts.scheme}://{parts.hostname}, without encryption: everybody on the way can read them"
            )
            yield Finding(rule="server-plain-http", pointer="#/servers", message=message)


def is_internal(host: str) -> bool:
    """Return whether a host is this machine, of a private network, or without a public name."""
    return host.startswith(_PRIVATE) or "." not in host or host.endswith((".internal", ".local", ".cluster"))


def _security(subject: JudgedDocument) -> Iterator[Finding]:
    used = {scheme.name for tool in subject.tools for group in tool.security for scheme in group}
    for name in unused_schemes(subject):
        pointer = subject.display(join("#/components/securitySchemes", name))
        yield Finding(rule="security-unused", pointer=pointer, message=f"no operation uses the scheme {name!r}")
    for tool in subject.tools:
        if used and not tool.security and tool.method not in READ_ONLY_METHODS:
            message = f"{tool.name} changes something and needs no credential, while others do"
            yield _finding("security-uncovered", subject, tool, message)


def unused_schemes(subject: JudgedDocument) -> list[str]:
    """Return the names of security schemes that no operation uses, where no operation uses any.

    A scheme beside others that are used may be for operations that options left out.
    """
    used = any(tool.security for tool in subject.tools)
    return [] if used or subject.bridge.compilation.excluded else list(subject.bridge.document_info.security_schemes)


def _finding(rule: str, subject: JudgedDocument, tool: Tool, message: str) -> Finding:
    operation = subject.operation_of(tool)
    pointer = subject.display(operation.pointer) if operation else "#/paths"
    return Finding(rule=rule, pointer=pointer, message=message, operation=f"{tool.method} {tool.path}")
