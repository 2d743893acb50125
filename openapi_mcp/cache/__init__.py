"""Compiled tools, kept from one start to the next in files of the user."""
