"""Compiled tools, kept from one start to the next in files of the user."""

from .files import VARIABLE, Cache, folder

__all__ = ["VARIABLE", "Cache", "folder"]
