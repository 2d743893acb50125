"""`Database`: the store of the application, as a parameter of its operations."""

from typing import Annotated

from fastapi import Depends, Request

from .store import Store


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


Database = Annotated[Store, Depends(_store)]
