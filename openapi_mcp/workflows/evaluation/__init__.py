"""Expressions of workflows and their values: parsed, never run as code, and bounded in time and size."""
