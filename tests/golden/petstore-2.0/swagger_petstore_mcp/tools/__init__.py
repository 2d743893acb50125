"""The tools that are served, in their order."""

from typing import Any

from ..runtime import ToolFunction
from . import pet, store, user

FUNCTIONS: list[ToolFunction[..., Any]] = [
    pet.add_pet,
    pet.update_pet,
    pet.find_pets_by_status,
    pet.find_pets_by_tags,
    pet.get_pet_by_id,
    pet.update_pet_with_form,
    pet.delete_pet,
    pet.upload_file,
    store.get_inventory,
    store.place_order,
    store.get_order_by_id,
    store.delete_order,
    user.create_user,
    user.create_users_with_array_input,
    user.create_users_with_list_input,
    user.login_user,
    user.logout_user,
    user.get_user_by_name,
    user.update_user,
    user.delete_user,
]
