"""The question about a call: readable, bounded, and without what looks like a secret."""

from typing import Any

from openapi_mcp.elicitation.questions import MAX_SHOWN_ARGUMENTS, is_consent, question
from openapi_mcp.runtime.protocol.elicitation import FormAnswer
from openapi_mcp.runtime.result.sanitizer import NO_SECRETS, Sanitizer
from tests.compiling import tool_of

TOOL = tool_of({}, "/pets/{petId}", "delete", parameters=[])


def lines_of(arguments: dict[str, Any], sanitizer: Sanitizer = NO_SECRETS) -> list[str]:
    return question(TOOL, arguments, sanitizer).message.split("\n")[3:]


def test_each_argument_is_one_line() -> None:
    assert lines_of({"a": "x\n  b: forged", "c": [1, {"d": None}]}) == ['  a: "x\\n  b: forged"', '  c: [1,{"d":null}]']
    assert len(lines_of({"a\n  b": 1})) == 1


def test_long_values_and_many_arguments_are_cut_and_counted() -> None:
    (line,) = lines_of({"text": "y" * 5000})
    assert line.endswith("… (5,000 characters)")
    assert len(line) < 250
    many = lines_of({f"argument{number}": list(range(1000)) for number in range(100)})
    assert len(many) == MAX_SHOWN_ARGUMENTS + 1
    assert many[-1] == f"  and {100 - MAX_SHOWN_ARGUMENTS} more arguments"
    nested: Any = "leaf"
    for _ in range(1000):
        nested = {"inner": [nested]}
    assert lines_of({"deep": nested}) == ['  deep: {"inner":[{"inner":"…"}]}']


def test_values_of_secrets_are_not_shown() -> None:
    shown = "\n".join(
        lines_of(
            {
                "password": "hunter2-hunter2",
                "login": {"apiKey": "k-123456", "names": ["ann"]},
                "url": "https://ann:secret@host/x?sig=abcdef",
                "note": "it is configured-credential",
            },
            Sanitizer(["configured-credential"]),
        )
    )
    for secret in ("hunter2", "k-123456", "ann:secret", "abcdef", "configured-credential"):
        assert secret not in shown
    assert '"names":["ann"]' in shown


def test_hidden_characters_are_written_as_escapes() -> None:
    (line,) = lines_of({"a": "x\u202ey"})
    assert "\u202e" not in line


def test_only_the_value_true_is_consent() -> None:
    assert is_consent(FormAnswer("accept", {"confirm": True}))
    for content in ({}, {"confirm": "true"}, {"confirm": 1}, {"confirm": False}):
        assert not is_consent(FormAnswer("accept", content))
    assert not is_consent(FormAnswer("decline", {"confirm": True}))
