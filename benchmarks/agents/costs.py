"""`Cost`: what a model reads and writes for a task, in tokens."""

import json
from dataclasses import dataclass, fields
from typing import Any

from openapi_mcp.token_budget import tokens_of_bytes

from .client import McpSession


@dataclass
class Cost:
    """Tokens: requests for tools (`searches`, `describes`) with their answers; the arguments of calls; their answers.

    A program is the call of `run_code`, and its result the answer. `turns` counts all calls of tools.
    """

    searches: int = 0
    describes: int = 0
    calls: int = 0
    answers: int = 0
    turns: int = 0

    @property
    def total(self) -> int:
        """Return all tokens."""
        return self.searches + self.describes + self.calls + self.answers

    def __add__(self, other: "Cost") -> "Cost":
        """Return the sum."""
        return Cost(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def tokens_of_json(value: Any) -> int:
    """Estimate the tokens of a value as compact JSON."""
    return tokens_of_bytes(len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()))


def tokens_of_call(name: str, arguments: dict[str, Any]) -> int:
    """Estimate the tokens that a model writes for a call."""
    return tokens_of_json({"name": name, "arguments": arguments})


def tokens_of_result(result: dict[str, Any]) -> int:
    """Estimate the tokens of a result's content: texts as they are, other blocks as JSON.

    `structuredContent` repeats the content, and is not counted.
    """
    blocks = result["content"]
    texts = [block["text"].encode() for block in blocks if block["type"] == "text"]
    others = [block for block in blocks if block["type"] != "text"]
    return tokens_of_bytes(sum(map(len, texts))) + sum(map(tokens_of_json, others))


def tokens_of_list(session: McpSession) -> int:
    """Estimate the tokens of what a model reads before anything is asked: each tool as listed, and instructions."""
    return sum(map(tokens_of_json, session.tools)) + tokens_of_bytes(len(session.instructions.encode()))
