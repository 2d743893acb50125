"""The policy of what may be contacted: names, addresses, rules, and the form of refusals."""

import re
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from openapi_mcp.egress.addresses import is_metadata, literal
from openapi_mcp.egress.policy import EgressPolicy, EgressRefused, EgressRules
from openapi_mcp.errors import UsageError

PUBLIC = "93.184.216.34"
METADATA = ["169.254.169.254", "fd00:ec2::254", "168.63.129.16", "100.100.100.200", "169.254.170.2"]
PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "192.168.1.1",
    "172.16.0.1",
    "::1",
    "fe80::1",
    "fd12::1",
    "::ffff:10.0.0.1",
    "0.0.0.0",
]


def resolving(monkeypatch: pytest.MonkeyPatch, known: Mapping[str, Sequence[str]]) -> None:
    """Replace the name service by a table."""

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        addresses = known.get(host, [host] if literal(host) else [])
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def policy(*, allow: Sequence[str] = (), only: Sequence[str] = (), trusts: bool = False) -> EgressPolicy:
    return EgressPolicy(EgressRules.parse_options(allow, only), trusts_document=trusts)


def verdict(judge: EgressPolicy, host: str, port: int = 443) -> str:
    """The reason of a refusal; an empty text where a target may be contacted."""
    try:
        judge.resolve_now(host, port)
    except EgressRefused as error:
        return error.reason
    return ""


@pytest.mark.parametrize("address", PRIVATE + METADATA)
def test_public_document_reaches_no_private_address(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolving(monkeypatch, {"api.test": [PUBLIC, address], "public.test": [PUBLIC]})
    assert verdict(policy(), "api.test")
    assert verdict(policy(), address)
    assert not verdict(policy(), "public.test")


@pytest.mark.parametrize("address", PRIVATE)
def test_private_document_reaches_private_addresses(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolving(monkeypatch, {"api.test": [address]})
    assert not verdict(policy(trusts=True), "api.test")


@pytest.mark.parametrize("address", METADATA)
def test_metadata_services_are_refused_to_documents_and_to_names(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolving(monkeypatch, {"api.test": [address]})
    for judge in (policy(trusts=True), policy().naming("https://api.test/v1"), policy(trusts=True).naming("https://x")):
        assert "metadata service" in verdict(judge, "api.test")
    assert is_metadata(address)
    assert not verdict(policy(allow=["api.test"]), "api.test")
    assert not verdict(policy(allow=[address]), "api.test")
    host = f"[{address}]" if ":" in address else address
    assert not verdict(policy().naming(f"http://{host}/latest"), address, 80)  # the user wrote the address itself


def test_what_the_user_named_may_be_private_at_that_port(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, {"api.internal": ["10.0.0.5"], "b.apis.internal": ["10.0.0.6"]})
    judge = policy().naming("https://API.internal:8443/v1", None, "no url").naming_hosts(["*.apis.internal", "a b"])
    assert not verdict(judge, "api.internal", 8443)
    assert "private address" in verdict(judge, "api.internal", 6379)
    assert not verdict(judge, "b.apis.internal")


@pytest.mark.parametrize(
    ("rule", "host", "port", "is_allowed"),
    [
        ("api.internal", "api.internal", 80, True),
        ("api.internal:443", "api.internal", 443, True),
        ("api.internal:443", "api.internal", 80, False),
        ("*.internal", "api.internal", 80, True),
        ("*.internal", "internal", 80, False),
        ("10.0.0.0/8", "api.internal", 80, True),
        ("10.0.0.5", "api.internal", 80, True),
        ("10.0.0.6", "api.internal", 80, False),
        ("API.Internal", "api.internal", 80, True),
        ("fd00::/8", "api.internal", 80, False),
    ],
)
def test_egress_allow(monkeypatch: pytest.MonkeyPatch, rule: str, host: str, port: int, is_allowed: bool) -> None:
    resolving(monkeypatch, {"api.internal": ["10.0.0.5"], "internal": ["10.0.0.5"], "public.test": [PUBLIC]})
    assert (not verdict(policy(allow=[rule]), host, port)) is is_allowed
    assert not verdict(policy(allow=[rule]), "public.test")  # it restricts nothing


def test_egress_only_is_a_list_of_all_that_goes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, {"api.test": [PUBLIC], "other.test": ["93.184.216.35"], "api.internal": ["10.0.0.5"]})
    judge = policy(only=["api.test", "10.0.0.0/24"], trusts=True).naming("https://other.test")
    assert not verdict(judge, "api.test")
    assert not verdict(judge, "api.internal")
    assert verdict(judge, "other.test") == "is not among the hosts of `--egress-only`"


def test_every_address_has_to_be_in_a_network_of_egress_only(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, {"api.test": ["10.0.0.5", "10.0.1.5"]})
    assert verdict(policy(only=["10.0.0.0/24"]), "api.test")


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("api.test", True),
        ("localhost", False),
        ("db.localhost", False),
        ("10.0.0.5", False),
        ("2130706433", False),
        ("0x7f.1", False),
        ("127.1", False),
        ("::1", False),
        ("169.254.169.254", False),
        ("metadata.google.internal", False),
        ("metadata.google.internal.", False),
    ],
)
def test_targets_of_a_proxy_are_judged_by_name(host: str, is_allowed: bool) -> None:
    if is_allowed:
        policy().check_name(host, 80)
    else:
        with pytest.raises(EgressRefused, match=re.escape(f"--egress-allow {host.rstrip('.')}")):
            policy().check_name(host, 80)


def test_name_behind_a_proxy_has_to_be_listed_by_name() -> None:
    with pytest.raises(EgressRefused, match="not among the hosts"):
        policy(only=["10.0.0.0/8"]).check_name("api.internal", 443)
    policy(only=["10.0.0.0/8"]).check_name("10.0.0.5", 443)
    policy(only=["api.internal"]).check_name("api.internal", 443)


def test_refusal_says_which_rule_and_which_option() -> None:
    with pytest.raises(EgressRefused) as refused:
        policy().resolve_now("127.0.0.1", 80)
    assert str(refused.value) == (
        "127.0.0.1 is not contacted: it is at a private address, and a document or server from a public address named "
        "it. To allow it: `--egress-allow 127.0.0.1`."
    )


@pytest.mark.parametrize("text", ["", "http://api.test", "api.test/path", "10.0.0.0/99", "a b", "api.test:99999", "*"])
def test_what_is_no_host_is_reported(text: str) -> None:
    with pytest.raises(UsageError, match="neither a host nor a network"):
        policy(only=[text])
