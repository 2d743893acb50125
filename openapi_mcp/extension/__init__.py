"""Hooks, plugins, and the ways in which a program opens and mounts a bridge."""
