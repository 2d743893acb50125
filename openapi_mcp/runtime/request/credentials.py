"""Read the credentials of security schemes from configuration and environment, and describe where they are sent.

A credential is read from the variable of its scheme, or from the variable or text that the owner configured for it; a
document never names the variable. Specification: OpenAPI 3.2 Security Scheme Object, RFC 7617 §2.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from ..errors import RequestError
from ..tool import SecurityScheme, Tool
from .build import RequestOptions, unset_variable

FROM_ENVIRONMENT: Final = "env:"
"""The beginning of a configured credential that is the name of an environment variable: `env:SHOP_SECRET`."""


def read_credentials(
    schemes: Iterable[SecurityScheme], configured: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the credentials by scheme: the configured ones, for other schemes the values of their variables.

    A configured `env:NAME` stands for the value of that variable, which is used as it is, even if it begins with
    `env:`. Raises RequestError where that variable is not set, for Basic authentication without a colon, and for a
    configured credential of no scheme.
    """
    schemes = tuple(schemes)
    _check_names([scheme.name for scheme in schemes], configured)
    credentials = {scheme.name: environment.get(scheme.variable, "") for scheme in schemes}
    credentials |= {name: _configured(name, text, environment) for name, text in configured.items()}
    for scheme in schemes:
        _check_basic(scheme, credentials.get(scheme.name, ""), configured)
    return {name: credential for name, credential in credentials.items() if credential}


def _check_names(names: Sequence[str], configured: Mapping[str, str]) -> None:
    for name in configured:
        if name not in names:
            from ..arguments.spelling import did_you_mean

            schemes = f"; the schemes are: {', '.join(names) or 'none'}."
            raise RequestError(f"There is no security scheme `{name}`{did_you_mean(name, names) or schemes}")


def _check_basic(scheme: SecurityScheme, credential: str, configured: Mapping[str, str]) -> None:
    """Raise RequestError for a credential of Basic authentication without a colon (RFC 7617 §2)."""
    is_basic = scheme.type == "http" and scheme.scheme == "basic"
    if is_basic and credential and ":" not in credential and not credential.lower().startswith("basic "):
        source = credential_sources(configured).get(scheme.name, scheme.variable)
        raise RequestError(
            f"The credential of the security scheme `{scheme.name}` (`{source}`) must be `user:password`, but has no "
            "colon; write `user:` for an empty password."
        )


def _configured(scheme: str, text: str, environment: Mapping[str, str]) -> str:
    if not text.startswith(FROM_ENVIRONMENT):
        return text
    variable = text.removeprefix(FROM_ENVIRONMENT).strip()
    if not environment.get(variable):
        raise RequestError(
            f"The credential of the security scheme `{scheme}` is to be read from the environment variable "
            f"`{variable}`, which is not set."
        )
    return environment[variable]


def read_variables(tools: Iterable[Tool], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the variables that presets of these tools name. Raises RequestError where one is not set."""
    variables: dict[str, str] = {}
    for preset in (preset for tool in tools if tool.presets for preset in tool.presets):
        if preset.variable is not None and preset.variable not in variables:
            if not environment.get(preset.variable):
                raise unset_variable(preset)
            variables[preset.variable] = environment[preset.variable]
    return variables


def credential_sources(configured: Mapping[str, str]) -> dict[str, str]:
    """Return the source of each configured credential: the variable that `env:NAME` names, or the option `--auth`."""
    return {
        name: text.removeprefix(FROM_ENVIRONMENT).strip() if text.startswith(FROM_ENVIRONMENT) else "--auth"
        for name, text in configured.items()
    }


MAX_HOSTS: Final = 3
"""Hosts in a line about a credential."""


def credential_hosts(tools: Iterable[Tool], scheme: SecurityScheme, base_url: str | None = None) -> str:
    """Return the hosts that get the credential of a scheme; `base_url` replaces that of every tool."""
    urls = (base_url or tool.base_url for tool in tools if any(scheme in schemes for schemes in tool.security))
    hosts = list(dict.fromkeys(urlsplit(url).netloc.rpartition("@")[2] for url in urls if url))
    return ", ".join(hosts[:MAX_HOSTS]) + (" …" if len(hosts) > MAX_HOSTS else "")


def credential_lines(tools: Iterable[Tool], options: RequestOptions, *, without: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for each security scheme: whether its credential is set, by what, and which hosts it is sent to.

    Schemes whose names are in `without` are left out.
    """
    tools = tuple(tools)
    schemes = dict.fromkeys(scheme for tool in tools for schemes in tool.security for scheme in schemes)
    for scheme in (each for each in schemes if each.name not in without):
        by_certificate = scheme.type == "mutualTLS"
        is_set = options.client_certificate if by_certificate else scheme.name in options.credentials
        source = "--client-cert" if by_certificate else options.credential_sources.get(scheme.name, scheme.variable)
        state = f"set by {source}; sent to" if is_set else f"not set; set {source}, which is sent to"
        hosts = credential_hosts(tools, scheme, options.base_url) or "no host yet: set --base-url"
        line = f"{scheme.name}: {state} {hosts}"
        yield "".join(character if character.isprintable() else "\ufffd" for character in line)
