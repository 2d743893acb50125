"""Which proxy the environment wants for a URL: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY as httpx reads them.

Pure: whoever asks has read the environment. Specification: httpx, "Environment Variables", "Proxies".
"""

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx


@dataclass(frozen=True, slots=True)
class _Exception:
    """An entry of NO_PROXY. An empty scheme or host is any; `under` is what names of hosts under it end with."""

    scheme: str
    host: str
    port: int | None
    under: str | None

    def covers(self, url: httpx.URL) -> bool:
        return (
            self.scheme in {"", url.scheme}
            and self.port in {None, url.port}
            and (self.host in {"", url.host} or (self.under is not None and url.host.endswith(self.under)))
        )


class Proxies:
    """The proxies of an environment, given as `urllib.request.getproxies` returns it; false where there are none."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        names = {name: environment[name] for name in ("http", "https", "all") if environment.get(name)}
        entries = [entry.strip() for entry in environment.get("no", "").split(",")]
        self._exceptions = tuple(_exceptions(entry for entry in entries if entry))
        self._by_scheme = {} if "*" in entries else {name: _with_scheme(url) for name, url in names.items()}

    def __bool__(self) -> bool:
        return bool(self._by_scheme)

    def of(self, url: httpx.URL) -> str | None:
        """The URL of the proxy for `url`, or None."""
        if any(exception.covers(url) for exception in self._exceptions):
            return None
        return self._by_scheme.get(url.scheme, self._by_scheme.get("all"))


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _exceptions(entries: Iterator[str]) -> Iterator[_Exception]:
    for entry in entries:
        whole = "://" in entry
        exact = whole or entry.lower() == "localhost" or _is_address(entry)
        host = f"[{entry}]" if ":" in entry and _is_address(entry) else entry
        try:
            url = httpx.URL(entry if whole else f"all://{host}")
        except httpx.InvalidURL:
            continue  # it names no host that could be asked
        scheme, name = ("" if url.scheme == "all" else url.scheme), ("" if url.host == "*" else url.host)
        yield _Exception(scheme, name, url.port, under=None if exact else f".{name.removeprefix('.')}")


def _is_address(entry: str) -> bool:
    """Whether it is an IP address; of a network (`10.0.0.0/8`) httpx takes its first address, and so is that one."""
    try:
        ipaddress.ip_address(entry.partition("/")[0])
    except ValueError:
        return False
    return True
