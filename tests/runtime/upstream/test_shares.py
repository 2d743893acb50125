"""`Shares` and `SharedSlots`: how many places a key may have, who gets a free one, and what a cancelled wait leaves."""

import asyncio
import random

import pytest

from openapi_mcp.runtime.upstream.shares import ADDRESS_RATIO, CLIENT_RATIO, SharedSlots, Shares

Holder = tuple[str, object]
RATIOS = (ADDRESS_RATIO, CLIENT_RATIO)


def shared(limit: int) -> Shares[Holder]:
    return Shares(limit, RATIOS, tuple)


def slots_for(limit: int) -> SharedSlots[Holder]:
    return SharedSlots(limit, RATIOS, tuple)


def held(shares: Shares[Holder], holder: Holder) -> list[int]:
    return shares.counts(holder, shares.numbers())


def take_all(shares: Shares[Holder], holder: Holder) -> int:
    """Take all places that a holder may have, and return how many these are."""
    count = 0
    while shares.take(holder):
        count += 1
    return count


@pytest.mark.parametrize(("limit", "share"), [(1, 1), (2, 2), (4, 4), (5, 4), (10, 8), (125, 100), (320, 256)])
def test_one_client_has_at_most_four_fifths(limit: int, share: int) -> None:
    shares = shared(limit)
    assert take_all(shares, ("here", "greedy")) == share
    assert held(shares, ("here", "greedy")) == [share, share]


def test_clients_of_one_address_leave_a_ninth_to_others() -> None:
    shares = shared(320)
    assert sum(take_all(shares, ("here", number)) for number in range(1000)) == 285
    assert take_all(shares, ("there", "other")) > 20


@pytest.mark.parametrize("newcomers", [3, 20])
def test_newcomers_find_a_place_after_greedy_clients(newcomers: int) -> None:
    shares = shared(320)
    assert take_all(shares, ("a", "greedy")) == 256
    for number in range(newcomers):
        assert shares.take((str(number), number))
    for number in range(newcomers):
        shares.give_back((str(number), number))
    for _ in range(256):
        shares.give_back(("a", "greedy"))
    assert (shares.free, held(shares, ("a", "greedy"))) == (320, [0, 0])


@pytest.mark.slow
def test_places_are_counted_whatever_holders_do() -> None:
    draw = random.Random(7)  # noqa: S311
    shares = shared(50)
    taken: list[Holder] = []
    for _ in range(20_000):
        holder = (f"address {draw.randrange(3)}", draw.randrange(6))
        if taken and draw.random() < 0.45:
            shares.give_back(taken.pop(draw.randrange(len(taken))))
        elif shares.take(holder):
            taken.append(holder)
        assert shares.free == 50 - len(taken)
        assert held(shares, holder)[1] == sum(other[1] == holder[1] for other in taken)


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_free_place_goes_to_the_holder_with_fewest_and_holders_take_turns() -> None:
    async def once() -> list[Holder]:
        slots = slots_for(5)
        greedy, ann, bob = ("a", "greedy"), ("b", "ann"), ("c", "bob")
        order: list[Holder] = []

        async def use(holder: Holder) -> None:
            await slots.acquire(holder, None)
            order.append(holder)

        for _ in range(4):
            await use(greedy)
        await use(("d", "dan"))
        waiting = [asyncio.create_task(use(holder)) for holder in [*[greedy] * 3, *[ann] * 2, *[bob] * 2]]
        await settled()
        for _ in range(4):
            slots.release(greedy)
            await settled()
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return order[5:]

    assert asyncio.run(once()) == [("b", "ann"), ("c", "bob"), ("a", "greedy"), ("b", "ann")]


def test_wait_ends_in_time_and_leaves_nothing() -> None:
    async def once() -> None:
        slots, holder = slots_for(1), ("a", "ann")
        await slots.acquire(holder, None)
        with pytest.raises(TimeoutError):
            await slots.acquire(holder, 0.01)
        slots.release(holder)
        async with asyncio.timeout(5):
            await slots.acquire(holder, None)

    asyncio.run(once())


def test_place_that_comes_while_its_wait_is_cancelled_goes_on() -> None:
    async def once() -> None:
        slots, ann, bob = slots_for(1), ("a", "ann"), ("b", "bob")
        for cancel_first in (True, False):
            await slots.acquire(ann, None)
            first, second = (asyncio.create_task(slots.acquire(holder, None)) for holder in (ann, bob))
            await settled()
            if cancel_first:
                first.cancel()
            slots.release(ann)
            first.cancel()
            async with asyncio.timeout(5):
                await second
            assert first.cancelled() or (await asyncio.gather(first, return_exceptions=True))
            slots.release(bob)

    asyncio.run(once())
