"""`decoding`: every coding unpacks what zlib packed, in any pieces, and none unpacks more than the limit."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import httpx
import pytest

from openapi_mcp.runtime.upstream.decoding import MAX_CODINGS, MAX_MEMBERS, MAX_RATIO, Decoder, UnreadableCoding

LIMIT = 1_000_000
TEXT = b"The same words again and again. " * 5000 + bytes(range(256)) * 50


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def unpacked(content_encoding: str, data: bytes, step: int = 65536, limit: int = LIMIT) -> tuple[bytes, bool]:
    """Return what the data unpacks to in pieces of `step` bytes, and whether it was complete."""
    decoder = Decoder(content_encoding, limit)
    pieces = [data[start : start + step] for start in range(0, len(data), step)]
    return b"".join(chunk for piece in pieces for chunk in decoder.feed(piece)), decoder.is_complete


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "nothing": ("", lambda data: data),
    "identity": ("identity", lambda data: data),
    "no coding": ("utf-8", lambda data: data),
    "gzip": ("gzip", gzip.compress),
    "in capitals": (" GZip , ", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "members": ("gzip", lambda data: gzip.compress(data[:1000]) + gzip.compress(b"") + gzip.compress(data[1000:])),
    "padding": ("gzip", lambda data: gzip.compress(data) + b"\0" * 500),
    "zlib": ("deflate", zlib.compress),
    "raw": ("deflate", raw_deflate),
    "twice": ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    "both": ("deflate, identity, gzip", lambda data: gzip.compress(raw_deflate(data))),
    "three": ("gzip, gzip, gzip", lambda data: gzip.compress(gzip.compress(gzip.compress(data)))),
}


@pytest.mark.parametrize("step", [1, 3, 1000, 10**9])
@pytest.mark.parametrize(("content_encoding", "pack"), PACKED.values(), ids=PACKED)
def test_body_is_unpacked_in_any_pieces(content_encoding: str, pack: Callable[[bytes], bytes], step: int) -> None:
    data = TEXT[-20_000:] if step < 1000 else TEXT
    assert unpacked(content_encoding, pack(data), step) == (data, True)
    assert unpacked(content_encoding, b"") == (b"", True)


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw", "twice", "both"])
def test_end_of_a_cut_body_is_noticed(name: str) -> None:
    content_encoding, pack = PACKED[name]
    for missing in (1, 9, 100):
        data, is_complete = unpacked(content_encoding, pack(TEXT)[:-missing])
        assert TEXT.startswith(data)
        assert not is_complete


@pytest.mark.parametrize(
    ("content_encoding", "data"),
    [
        ("gzip", b"not gzip"),
        ("deflate", b"\xff\xff\xff\xff"),
        ("gzip, gzip", gzip.compress(b"not gzip", mtime=0)),
        ("gzip", gzip.compress(TEXT, mtime=0)[:-8] + b"\0" * 8),
    ],
)
def test_body_that_is_not_compressed_as_it_says_is_an_error(content_encoding: str, data: bytes) -> None:
    with pytest.raises(httpx.DecodingError):
        unpacked(content_encoding, data)


@pytest.mark.parametrize("content_encoding", ["br", "zstd", "compress", "gzip, br", "BR"])
def test_coding_that_was_not_asked_for_is_refused_by_name(content_encoding: str) -> None:
    with pytest.raises(UnreadableCoding, match=r"compressed as (br|zstd|compress), which was not asked for"):
        Decoder(content_encoding, LIMIT)


def test_number_of_codings_is_limited() -> None:
    with pytest.raises(UnreadableCoding, match=f"compressed {MAX_CODINGS + 1} times; at most {MAX_CODINGS}"):
        Decoder(", ".join(["gzip"] * (MAX_CODINGS + 1)), LIMIT)


def test_number_of_members_is_limited() -> None:
    with pytest.raises(UnreadableCoding, match=f"more than {MAX_MEMBERS} members"):
        unpacked("gzip", gzip.compress(b"") * (MAX_MEMBERS + 1))


def packed_zeros(count: int, times: int) -> bytes:
    """Return so many null bytes, compressed several times, without having them in memory."""
    packer, piece = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16), bytes(2**20)
    pieces = [packer.compress(piece) for _ in range(count // len(piece))]
    data = b"".join([*pieces, packer.flush()])
    for _ in range(times - 1):
        data = gzip.compress(data)
    return data


@pytest.mark.parametrize("times", [1, 2, 3])
def test_memory_is_that_of_the_pieces_that_are_taken(times: int) -> None:
    bomb = packed_zeros(2**25, times) + b"\0" * 2000
    decoder = Decoder(", ".join(["gzip"] * times), LIMIT)
    tracemalloc.start()
    taken = 0
    for chunk in decoder.feed(bomb):
        taken += len(chunk)
        if taken > LIMIT:
            break
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert LIMIT < taken < 2 * LIMIT
    assert peak < 4 * len(bomb) + 2_000_000


@pytest.mark.parametrize("times", [2, 3])
def test_body_compressed_several_times_is_refused_where_it_unpacks_to_gigabytes(times: int) -> None:
    bomb = packed_zeros(2**25, times)
    with pytest.raises(UnreadableCoding, match=f"more than {MAX_RATIO} times its size"):
        unpacked(", ".join(["gzip"] * times), bomb, limit=2**30)


def test_coding_that_unpacks_to_nothing_but_input_of_the_next_is_limited() -> None:
    empty_blocks = b"\x1f\x8b\x08\0\0\0\0\0\0\0" + b"\0\0\0\xff\xff" * 10_000_000  # stored blocks without bytes
    bomb = gzip.compress(empty_blocks, 1)
    assert len(bomb) < len(empty_blocks) // 100
    chunks: list[bytes] = []
    with pytest.raises(UnreadableCoding, match="unpacks to more than is read"):
        chunks.extend(Decoder("gzip, gzip", LIMIT).feed(bomb))
    assert not any(chunks)
