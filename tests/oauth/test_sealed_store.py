"""Records of users' sign-ins: sealed under its name, for a time, and taken once, wherever it is stored."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from openapi_mcp.oauth import sealed_store
from openapi_mcp.oauth.endpoints import OAuthFailure
from openapi_mcp.oauth.sealed_store import InFolder, InMemory, InRedis, SealedStore, Storage, name_of_server
from tests.replicas.servers import redis
from tests.servers import free_port

SECRET = b"a secret of all processes of a server"
CANARY = "canary-of-a-token-0123456789"


class Clock:
    """A clock that goes on when a test says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "folder"])
def storage(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Storage:
    return InMemory(clock) if request.param == "memory" else InFolder(tmp_path, clock)


def test_value_is_found_until_its_time_is_over(storage: Storage, clock: Clock) -> None:
    store = SealedStore(storage, SECRET)
    store.put("token ann", {"value": CANARY}, 10)
    assert SealedStore(storage, SECRET).get("token ann") == {"value": CANARY}, "by every process with the secret"
    assert store.get("token bob") is None
    clock.now += 11
    assert store.get("token ann") is None
    assert store.take("token ann") is None


def test_value_is_taken_once(storage: Storage) -> None:
    store = SealedStore(storage, SECRET)
    store.put("sign-in 1", [1], 10)
    taken: list[object] = []
    threads = [threading.Thread(target=lambda: taken.append(store.take("sign-in 1"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, taken)) == ["None"] * 7 + ["[1]"]


def test_nobody_else_reads_a_value_or_moves_it_to_another_user(clock: Clock) -> None:
    storage = InMemory(clock)
    store = SealedStore(storage, SECRET)
    store.put("token ann", {"value": CANARY}, 10)
    sealed = storage.get("token ann")
    assert sealed is not None
    assert CANARY.encode() not in sealed
    assert SealedStore(storage, b"another secret").get("token ann") is None
    changed = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for name, value in (("token bob", sealed), ("token ann", changed), ("token ann", b""), ("x", b"short")):
        storage.put(name, value, 10)
        assert store.get(name) is None
    store.put("token ann", {"value": CANARY}, 10)
    assert storage.get("token ann") != sealed, "no two are alike"


def test_files_are_private_say_nothing_and_go_away(tmp_path: Path, clock: Clock) -> None:
    store = SealedStore(InFolder(tmp_path, clock), SECRET)
    store.put("token ann", {"value": CANARY}, 10)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert "ann" not in file.name
    assert CANARY.encode() not in file.read_bytes()
    clock.now += sealed_store.SWEEP_SECONDS + 1
    store.put("token bob", {"value": CANARY}, 10)
    assert len(list(tmp_path.iterdir())) == 1


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(sealed_store, "MAX_ENTRIES", 3)
    storage = InMemory(clock)
    for number in range(5):
        storage.put(str(number), b"x", 10)
    assert [storage.get(str(number)) for number in range(5)] == [None, None, b"x", b"x", b"x"]


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.mark.process
def test_redis_has_sealed_values_for_a_time_which_one_process_takes(redis_url: str) -> None:
    from redis import Redis

    first, second = (SealedStore(InRedis(redis_url, name_of_server(SECRET)), SECRET) for _ in "12")
    first.put("token ann", {"value": CANARY}, 100)
    assert second.get("token ann") == {"value": CANARY}
    client = Redis.from_url(redis_url)
    (key,) = client.keys("*")
    assert b"ann" not in key
    assert CANARY.encode() not in client.get(key)  # type: ignore[operator]  # it is a value, and no promise of one
    assert 0 < int(str(client.ttl(key))) <= 100
    assert second.take("token ann") == {"value": CANARY}
    assert first.take("token ann") is None
    with_other_secret = SealedStore(InRedis(redis_url, name_of_server(b"other")), b"other")
    assert with_other_secret.get("token ann") is None


@pytest.mark.process
def test_one_replica_at_a_time_renews_a_token(redis_url: str) -> None:
    first, second = (SealedStore(InRedis(redis_url, "x"), SECRET).lock("token ann") for _ in "12")
    first.acquire()
    held = threading.Event()

    def hold() -> None:
        second.acquire()
        held.set()

    thread = threading.Thread(target=hold)
    thread.start()
    assert not held.is_set()
    first.release()
    assert held.wait(20)
    second.release()
    thread.join()
    second.release()  # a lock that has ended is released already


@pytest.mark.process
def test_redis_that_is_gone_is_a_failure_with_a_sentence() -> None:
    store = SealedStore(InRedis(f"redis://127.0.0.1:{free_port()}/0", "x"), SECRET)
    with pytest.raises(OAuthFailure, match="Redis does not answer"):
        store.get("token ann")
