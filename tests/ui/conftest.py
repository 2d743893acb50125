"""The event loop of asynchronous tests."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Return the name of the only event loop that the page runs on."""
    return "asyncio"
