"""`stdio_streams`: lines do not depend on chunks, too long ones are skipped, and writes are done in order."""

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.stdio_streams import (
    EnqueueWrite,
    OversizedLine,
    Read,
    background_writer,
    is_waitable,
    pipe_writer,
    read_lines,
    split_lines,
)


def reading(chunks: list[bytes]) -> Read:
    """Return a reader of these chunks, whatever size is requested."""
    remaining = iter(chunks)
    return lambda _size: next(remaining, b"")


def queued(enqueue: EnqueueWrite, data: bytes) -> "Future[None]":
    """Return the future of bytes that a thread writes."""
    future = enqueue(data)
    assert future is not None
    return future


@given(lines=st.lists(st.binary(max_size=8).map(lambda data: data.replace(b"\n", b"")), max_size=8), data=st.data())
def test_lines_do_not_depend_on_chunks(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    expected = [line.strip(b" \t\r") for line in lines if line.strip(b" \t\r")]
    assert list(split_lines(reading([chunk for chunk in chunks if chunk]), 100)) == expected


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"1234\n12345\n1\n"], [b"1234", OversizedLine(b"12345", b""), b"1"]),
        ([b"12", b"345", b"6789", b"\n1\n"], [OversizedLine(b"123456789", b""), b"1"]),
        ([b"12345"], [OversizedLine(b"12345", b"")]),
        ([b"<", *[b"x" * 1000] * 20, b">\n1"], [OversizedLine(b"<" + b"x" * 4095, b"x" * 4095 + b">"), b"1"]),
        ([b"1\r\n\r\n \n2"], [b"1", b"2"]),
        ([], []),
    ],
)
def test_too_long_line_is_shortened_and_the_next_is_read(
    chunks: list[bytes], lines: list[bytes | OversizedLine]
) -> None:
    assert list(split_lines(reading(chunks), 4)) == lines


def test_broken_stream_ends() -> None:
    def read(_size: int) -> bytes:
        try:
            return next(chunks)
        except StopIteration:
            raise OSError("hung up") from None

    chunks: Iterator[bytes] = iter([b"1\n2"])
    assert list(split_lines(read, 4)) == [b"1", b"2"]


def test_lines_arrive_in_order() -> None:
    numbers = [str(number).encode() for number in range(200)]

    async def collect() -> list[bytes | OversizedLine]:
        return [line async for line in read_lines(reading([b"\n".join(numbers)]), 100)]

    assert asyncio.run(collect()) == numbers


def test_writes_are_complete_and_in_order() -> None:
    written: list[bytes] = []

    async def write() -> None:
        with background_writer(written.append) as enqueue:
            await asyncio.gather(*(asyncio.wrap_future(queued(enqueue, bytes([number]))) for number in range(50)))

    asyncio.run(write())
    assert written == [bytes([number]) for number in range(50)]


def test_cancelled_write_never_happens() -> None:
    inlet, outlet = os.pipe()
    written: list[bytes] = []

    def write(data: bytes) -> None:
        os.read(inlet, 1)
        written.append(data)

    async def run() -> None:
        with background_writer(write) as enqueue:
            first, second, third = (queued(enqueue, data) for data in (b"1", b"2", b"3"))
            assert second.cancel()
            os.write(outlet, b"..")
            await asyncio.gather(asyncio.wrap_future(first), asyncio.wrap_future(third))

    asyncio.run(run())
    assert written == [b"1", b"3"]
    os.close(inlet)
    os.close(outlet)


def test_cancelled_write_frees_its_memory() -> None:
    inlet, outlet = os.pipe()
    data = bytes(100)
    unused = sys.getrefcount(data)

    async def run() -> None:
        with background_writer(lambda _: os.read(inlet, 1)) as enqueue:
            first = queued(enqueue, b"1")
            for _ in range(100):
                second = queued(enqueue, data)
                assert sys.getrefcount(data) == unused + 1
                assert second.cancel()
                assert sys.getrefcount(data) == unused
            os.write(outlet, b".")
            await asyncio.wrap_future(first)

    asyncio.run(run())
    os.close(inlet)
    os.close(outlet)


def test_failing_write_raises_in_its_future() -> None:
    def write(_data: bytes) -> None:
        raise BrokenPipeError

    async def run() -> None:
        with background_writer(write) as enqueue:
            await asyncio.wrap_future(queued(enqueue, b"1"))

    with pytest.raises(BrokenPipeError):
        asyncio.run(run())


def test_lines_of_a_pipe_need_no_thread() -> None:
    inlet, outlet = os.pipe()
    threads = set(threading.enumerate())

    async def collect() -> list[bytes | OversizedLine]:
        lines: list[bytes | OversizedLine] = []
        os.write(outlet, b"1\n2\n3")
        async for line in read_lines(lambda size: os.read(inlet, size), 100, inlet):
            assert set(threading.enumerate()) <= threads
            lines.append(line)
            if line == b"2":
                asyncio.get_running_loop().call_later(0.01, os.write, outlet, b"3\n\n4")
                asyncio.get_running_loop().call_later(0.02, os.close, outlet)
        return lines

    assert asyncio.run(collect()) == [b"1", b"2", b"33", b"4"]
    assert os.get_blocking(inlet)
    os.close(inlet)


def test_waiting_for_a_pipe_can_be_cancelled() -> None:
    inlet, outlet = os.pipe()

    async def run() -> None:
        async with asyncio.timeout(0.01):
            async for _ in read_lines(lambda size: os.read(inlet, size), 100, inlet):
                pass

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    os.close(inlet)
    os.close(outlet)


def test_what_fits_into_a_pipe_is_written_at_once_and_in_order() -> None:
    inlet, outlet = os.pipe()
    large = b"x" * 300_000

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(outlet, data) :]

    async def run() -> bytes:
        with background_writer(write, pipe_writer(outlet)) as enqueue:
            assert enqueue(b"first ") is None
            futures = [enqueue(large), enqueue(b" last")]  # nobody reads yet
            received = b""
            while len(received) < len(large) + 11:
                received += await asyncio.to_thread(os.read, inlet, 65536)
            assert all(future is not None for future in futures)
            await asyncio.gather(*(asyncio.wrap_future(future) for future in futures if future is not None))
            while (future := enqueue(b"again")) is not None:  # the thread has not seen yet that nothing waits
                await asyncio.wrap_future(future)
        return received

    assert asyncio.run(run()) == b"first " + large + b" last"
    assert os.read(inlet, 100) == b"again"
    os.close(inlet)
    with pytest.raises(BrokenPipeError):
        (pipe_writer(outlet) or write)(b"nobody reads")
    os.close(outlet)


def test_writes_of_one_moment_are_one_write() -> None:
    written: list[bytes] = []

    def write_now(data: bytes) -> bytes:
        written.append(data)
        return b""

    async def run() -> None:
        with background_writer(written.append, write_now) as enqueue:
            assert [enqueue(b"%d" % number) for number in range(5)] == [None] * 5
            await asyncio.sleep(0)
            assert written == [b"01234"]
            enqueue(b"end")
        assert written == [b"01234", b"end"]

    asyncio.run(run())


@pytest.mark.parametrize("is_socket", [False, True])
def test_answers_larger_than_an_atomic_write_need_no_thread(is_socket: bool) -> None:
    inlet, outlet = (each.detach() for each in socket.socketpair()) if is_socket else os.pipe()
    data = b"x" * 20_000

    async def run() -> None:
        with background_writer(lambda _: pytest.fail("a thread writes"), pipe_writer(outlet)) as enqueue:
            assert enqueue(data) is None

    asyncio.run(run())
    assert os.read(inlet, 30_000) == data
    os.close(inlet)
    os.close(outlet)


@pytest.mark.parametrize("is_socket", [False, True])
@pytest.mark.parametrize("size", [50, 2_000_000], ids=["small", "more than fits"])
def test_closed_reader_is_noticed_after_the_bytes_were_accepted(size: int, is_socket: bool) -> None:
    inlet, outlet = (each.detach() for each in socket.socketpair()) if is_socket else os.pipe()

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(outlet, data) :]

    async def run() -> None:
        closed = asyncio.Event()
        with background_writer(write, pipe_writer(outlet), closed.set) as enqueue:
            accepted = [enqueue(bytes(size // 50)) for _ in range(50)]
            os.close(inlet)
            futures = [asyncio.wrap_future(future) for future in accepted if future is not None]
            await asyncio.gather(*futures, return_exceptions=True)
            async with asyncio.timeout(30):
                await closed.wait()

    asyncio.run(run())
    os.close(outlet)


def test_where_a_write_may_wait_it_is_made_in_pieces_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "RWF_NOWAIT", raising=False)
    inlet, outlet = os.pipe()
    write_now = pipe_writer(outlet)
    assert write_now is not None
    data = bytes(200_000)
    rest = write_now(data)
    assert 0 < len(rest) < len(data)
    assert len(os.read(inlet, len(data))) + len(rest) == len(data)
    os.close(inlet)
    with pytest.raises(BrokenPipeError):
        write_now(b"nobody reads")
    os.close(outlet)


def test_files_are_left_to_threads(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        assert not is_waitable(file.fileno())
        assert pipe_writer(file.fileno()) is None
    assert not is_waitable(10_000)
