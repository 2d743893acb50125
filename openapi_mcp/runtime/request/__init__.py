"""Requests: from a Tool and the arguments of a call to an `httpx.Request`."""
