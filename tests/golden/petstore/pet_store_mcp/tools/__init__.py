"""The tools that are served, in their order."""

from typing import Any

from ..runtime import ToolFunction
from . import pets, shop

FUNCTIONS: list[ToolFunction[..., Any]] = [
    pets.list_pets,
    pets.create_pet,
    pets.get_pet,
    pets.update_pet,
    pets.delete_pet,
    pets.get_photo,
    pets.put_photo,
    shop.send_message,
    shop.get_inventory,
]
