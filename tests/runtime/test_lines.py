"""Blocking streams as lines: however the bytes come, the lines are the same, and none is too long to survive."""

import asyncio
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.lines import Read, read_lines, split_lines, writing


def reading(chunks: list[bytes]) -> Read:
    """A stream that gives these chunks, whatever size is asked for."""
    left = iter(chunks)
    return lambda _size: next(left, b"")


@given(lines=st.lists(st.binary(max_size=8).map(lambda data: data.replace(b"\n", b"")), max_size=8), data=st.data())
def test_lines_do_not_depend_on_how_their_bytes_arrive(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    expected = [line.strip(b" \t\r") for line in lines if line.strip(b" \t\r")]
    assert list(split_lines(reading([chunk for chunk in chunks if chunk]), 100)) == expected


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"1234\n12345\n1\n"], [b"1234", None, b"1"]),
        ([b"12", b"345", b"6789", b"\n1\n"], [None, b"1"]),
        ([b"12345"], [None]),
        ([b"1\r\n\r\n \n2"], [b"1", b"2"]),
        ([], []),
    ],
)
def test_a_line_that_is_too_long_is_told_and_the_next_one_read(chunks: list[bytes], lines: list[bytes | None]) -> None:
    assert list(split_lines(reading(chunks), 4)) == lines


def test_a_stream_that_breaks_has_ended() -> None:
    def read(_size: int) -> bytes:
        try:
            return next(chunks)
        except StopIteration:
            raise OSError("hung up") from None

    chunks: Iterator[bytes] = iter([b"1\n2"])
    assert list(split_lines(read, 4)) == [b"1", b"2"]


def test_lines_arrive_in_the_event_loop_in_their_order() -> None:
    numbers = [str(number).encode() for number in range(200)]

    async def collect() -> list[bytes | None]:
        return [line async for line in read_lines(reading([b"\n".join(numbers)]), 100)]

    assert asyncio.run(collect()) == numbers


def test_writes_come_out_whole_and_in_order() -> None:
    written: list[bytes] = []

    async def write() -> None:
        with writing(written.append) as hand_over:
            await asyncio.gather(*(asyncio.wrap_future(hand_over(bytes([number]))) for number in range(50)))

    asyncio.run(write())
    assert written == [bytes([number]) for number in range(50)]


def test_a_write_that_is_cancelled_before_its_turn_never_happens() -> None:
    inlet, outlet = os.pipe()
    written: list[bytes] = []

    def write(data: bytes) -> None:
        os.read(inlet, 1)
        written.append(data)

    async def run() -> None:
        with writing(write) as hand_over:
            first, second, third = (hand_over(data) for data in (b"1", b"2", b"3"))
            assert second.cancel()
            os.write(outlet, b"..")
            await asyncio.gather(asyncio.wrap_future(first), asyncio.wrap_future(third))

    asyncio.run(run())
    assert written == [b"1", b"3"]
    os.close(inlet)
    os.close(outlet)


def test_what_is_cancelled_before_its_turn_is_not_kept() -> None:
    inlet, outlet = os.pipe()
    data = bytes(100)
    unused = sys.getrefcount(data)

    async def run() -> None:
        with writing(lambda _: os.read(inlet, 1)) as hand_over:
            first = hand_over(b"1")
            for _ in range(100):
                second = hand_over(data)
                assert sys.getrefcount(data) == unused + 1
                assert second.cancel()
                assert sys.getrefcount(data) == unused
            os.write(outlet, b".")
            await asyncio.wrap_future(first)

    asyncio.run(run())
    os.close(inlet)
    os.close(outlet)


def test_a_failing_write_fails_for_who_waits_for_it() -> None:
    def write(_data: bytes) -> None:
        raise BrokenPipeError

    async def run() -> None:
        with writing(write) as hand_over:
            await asyncio.wrap_future(hand_over(b"1"))

    with pytest.raises(BrokenPipeError):
        asyncio.run(run())
