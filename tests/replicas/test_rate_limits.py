"""Rate limits: counting of calls, and the syntax of limits."""

import pytest

from openapi_mcp.errors import UsageError
from openapi_mcp.replicas.rate_limits import RateLimit


def test_each_caller_may_call_each_tool_so_often() -> None:
    limit = RateLimit("2/hour")
    assert [limit("ann", "listPets") for _ in range(2)] == [None, None]
    wait = limit("ann", "listPets")
    assert wait is not None
    assert 3500 < wait <= 3600
    assert limit("ann", "getPet") is None
    assert limit("bob", "listPets") is None


def test_longest_wait_of_several_limits_counts() -> None:
    limit = RateLimit("1/second; 1/hour")
    assert limit("ann", "listPets") is None
    wait = limit("ann", "listPets")
    assert wait is not None
    assert wait > 1


@pytest.mark.parametrize("text", ["", "often", "20", "20/fortnight", "-1/second"])
def test_invalid_limit_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        RateLimit(text)
    assert "20/second" in caught.value.hint
