"""Test the rules for references: the origin of the document decides what they may reach."""

from pathlib import Path

import httpx
import pytest

from openapi_mcp.document.fetcher import Fetcher
from openapi_mcp.document.model import DEFAULT_LIMITS
from openapi_mcp.document.sources import References, reference_root
from openapi_mcp.errors import DocumentError, ReferenceRefused

HOME = "https://example.com/api/openapi.yaml"


def references(home: str, *, allow_remote: bool = False) -> References:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text=f"at: {request.url.path}"))
    return References(home, Fetcher(home, transport=transport), DEFAULT_LIMITS, allow_remote=allow_remote)


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a.yaml", "https://example.com/api/a.yaml"),
        ("../a.yaml?raw=1", "https://example.com/a.yaml?raw=1"),
        ("/a.yaml", "https://example.com/a.yaml"),
        ("//other.example.com/a.yaml", "https://other.example.com/a.yaml"),
        ("http://other.example.com/a.yaml", "http://other.example.com/a.yaml"),
    ],
)
def test_references_of_a_document_from_the_network_stay_on_the_network(file: str, uri: str) -> None:
    assert references(HOME).locate(file, HOME) == uri


@pytest.mark.parametrize(
    "file", ["file:///etc/passwd", "ftp://example.com/etc/passwd", "FILE:/etc/passwd", "python://x"]
)
def test_a_document_from_the_network_never_reaches_local_files(file: str) -> None:
    with pytest.raises(ReferenceRefused):
        references(HOME, allow_remote=True).locate(file, HOME)
    with pytest.raises(ReferenceRefused):
        references(HOME, allow_remote=True).read("file:///etc/passwd")


def test_a_document_from_the_network_may_refer_to_its_own_origin() -> None:
    assert references(HOME).read("https://example.com/shared/a.yaml").data == b"at: /shared/a.yaml"


@pytest.mark.parametrize("uri", ["http://example.com/a", "https://example.com:8443/a", "https://www.example.com/a"])
def test_another_origin_needs_permission(uri: str) -> None:
    with pytest.raises(ReferenceRefused) as caught:
        references(HOME).read(uri)
    assert caught.value.hint == "allow it with --allow-remote-refs"


def test_allowed_remote_references_reach_public_hosts_only() -> None:
    allowed = references("file:///tmp/openapi.yaml", allow_remote=True)
    assert allowed.read("http://93.184.216.34/a.yaml").data == b"at: /a.yaml"
    with pytest.raises(ReferenceRefused, match="private address"):
        allowed.read("http://169.254.169.254/latest/meta-data/")


def test_the_host_of_the_document_may_be_private() -> None:
    home = "http://127.0.0.1:8000/openapi.yaml"
    assert references(home).read("http://127.0.0.1:8000/a.yaml").data == b"at: /a.yaml"
    assert references(home, allow_remote=True).read("http://127.0.0.1:9000/a.yaml").data == b"at: /a.yaml"


def test_an_http_file_may_not_refer_to_local_files() -> None:
    with pytest.raises(ReferenceRefused):
        references("file:///tmp/openapi.yaml", allow_remote=True).locate(
            "file:///etc/passwd", "https://example.com/a.yaml"
        )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder with a project in it."""
    folder = tmp_path / "home" / "somebody"
    (folder / "work" / "project" / "spec").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.parametrize(
    ("document", "root"),
    [
        ("work/project/spec/openapi.yaml", "work/project"),
        ("work/project/openapi.yaml", "work"),
        ("work/openapi.yaml", "work"),
        ("openapi.yaml", "."),
        ("../openapi.yaml", ".."),
    ],
)
def test_the_reference_root_never_contains_the_home_folder(home: Path, document: str, root: str) -> None:
    assert reference_root((home / document).resolve()) == (home / root).resolve()


@pytest.mark.parametrize(
    ("versioned", "root"), [("work/project", "work/project"), ("work", "work"), (".", "work/project/spec")]
)
@pytest.mark.parametrize("mark", [".git", ".hg"])
def test_the_reference_root_is_the_version_controlled_tree(home: Path, mark: str, versioned: str, root: str) -> None:
    (home / versioned / mark).mkdir()
    assert reference_root(home / "work/project/spec/openapi.yaml") == home / root


def test_hidden_files_are_for_documents_in_the_same_hidden_folder(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    file = tmp_path / ".github" / "a.yaml"
    file.write_text("a: 1")
    inside = References((tmp_path / ".github" / "openapi.yaml").as_uri(), Fetcher(), DEFAULT_LIMITS)
    assert inside.read(file.as_uri()).data == b"a: 1"
    outside = References((tmp_path / "openapi.yaml").as_uri(), Fetcher(), DEFAULT_LIMITS)
    with pytest.raises(ReferenceRefused, match="hidden"):
        outside.read(file.as_uri())


def test_a_file_outside_is_refused_before_it_is_accessed(tmp_path: Path) -> None:
    inside = References((tmp_path / "a" / "b" / "openapi.yaml").as_uri(), Fetcher(), DEFAULT_LIMITS)
    with pytest.raises(ReferenceRefused, match="outside"):
        inside.read((tmp_path / "is not there.yaml").as_uri())
    with pytest.raises(DocumentError, match="does not exist"):
        inside.read((tmp_path / "a" / "is not there.yaml").as_uri())
