"""Streamable HTTP: the ASGI application, access control, sessions, worker processes, uvicorn."""
