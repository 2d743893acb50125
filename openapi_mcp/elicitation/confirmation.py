"""`Confirmation`: calls that destroy or change data are made only after a person has agreed (`--confirm`).

The client's user is asked by a form where the client has elicitation. Else the call is refused with a phrase, which is
valid once, for the same call of the same caller: the refusal tells the model to show the user the call, and to repeat
it with the phrase as an argument. See docs/confirmation.md for what each way proves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from ..runtime.result.sanitizer import Sanitizer
from ..runtime.tool import Tool
from ..runtime.upstream.events import NO_EVENTS, CallEvents
from .asker import ASKER, ClientQuestions, NoConsent, purpose_of, signer
from .questions import is_consent, question, summary

_ARGUMENT: Final = "_confirm"
_DESCRIPTION: Final = "Leave out, unless the user agreed to this call: then the text that its refusal gave."
_AGREED: Final = "The user agreed: "
_REFUSED: Final = """\
The call was not made. This server makes calls that {effect} only after a person has agreed, and this client cannot \
ask them. Show the user this call, and only if they agree to it, repeat it within ten minutes with the same arguments \
and {name}: "{phrase}"

{summary}"""


class Confirmation(ClientQuestions):
    """The elicitor of confirmations: of calls that destroy data, or with `all_changes` of all that change data.

    `x-mcp` decides first (`Tool.confirm`); without `by_hints` it alone does.
    A question waits `max_wait` seconds at most.
    """

    def __init__(self, *, all_changes: bool = False, by_hints: bool = True, max_wait: float = 0) -> None:
        super().__init__(max_wait)
        self._by_hints = by_hints
        self._all_changes = all_changes

    def tools(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """Return tools as they are listed: those that are confirmed have an argument for the phrase."""
        return tuple(_with_argument(tool) if self.asks_for(tool) else tool for tool in tools)

    def asks_for(self, tool: Tool) -> bool:
        """Return whether calls of a tool are confirmed, by its `x-mcp`, else by its annotations."""
        if tool.confirm is not None:
            return tool.confirm
        if not self._by_hints:
            return False
        hints = tool.annotations
        return not hints.get("readOnlyHint") and (self._all_changes or hints.get("destructiveHint") is True)

    def _effect(self, tool: Tool) -> str:
        """Return which calls are asked about, in the words of a refusal."""
        if tool.confirm:
            return "its document marks for that"
        return "change data" if self._all_changes else "destroy or replace data"

    async def consent(
        self, tool: Tool, arguments: Mapping[str, Any], events: CallEvents, sanitizer: Sanitizer
    ) -> Mapping[str, Any]:
        """Return the arguments of a call that may be made. Raises NoConsent."""
        if not self.asks_for(tool):
            return arguments
        name = _argument_of(tool)
        call = {key: value for key, value in arguments.items() if key != name}
        asker = ASKER.get()
        if asker is None or not asker.can_ask(tool):
            self._check_phrase(tool, name, arguments.get(name), call, sanitizer)
            return call
        if events is not NO_EVENTS:
            events.has_notified = True  # the question comes before the result
        purpose = purpose_of("state", tool, call)
        if asker.has_consent(purpose):
            return call
        answer = await asker.ask(question(tool, call, sanitizer), purpose)
        if not is_consent(answer):
            said = "dismissed the question" if answer.action == "cancel" else "does not want this call"
            raise NoConsent(f"The call was not made: the user {said}. Do not repeat it unless the user asks for it.")
        asker.consented = purpose
        return call

    def _check_phrase(self, tool: Tool, name: str, phrase: Any, call: Mapping[str, Any], sanitizer: Sanitizer) -> None:
        """Raise NoConsent, with a new phrase, unless a call has a phrase that is valid for it and was not used."""
        tokens, purpose = signer(self.state()), purpose_of("phrase", tool, call)
        given = phrase.removeprefix(_AGREED) if isinstance(phrase, str) and phrase.startswith(_AGREED) else ""
        if tokens.is_valid(given, purpose) and tokens.use(given):
            return
        text = _REFUSED.format(
            effect=self._effect(tool),
            name=name,
            phrase=f"{_AGREED}{tokens.issue(purpose)}",
            summary=summary(tool, call, sanitizer),
        )
        invalid = f"{name} is not valid for this call: it was used, has expired, or is that of another call. "
        raise NoConsent(text if phrase is None else f"{invalid}{text}")


def _argument_of(tool: Tool) -> str:
    """Return the name of the argument for the phrase, which no argument of the tool itself has."""
    name, own = _ARGUMENT, {argument.name for argument in tool.arguments}
    while name in own:
        name = f"_{name}"
    return name


def _with_argument(tool: Tool) -> Tool:
    properties = tool.input_schema.get("properties", {})
    phrase = {"type": "string", "description": _DESCRIPTION}
    schema = {**tool.input_schema, "properties": {**properties, _argument_of(tool): phrase}}
    return replace(tool, input_schema=schema)
