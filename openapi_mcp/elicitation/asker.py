"""`Asker`: asks the user of the client whose call is being answered, in the way of the call's revision.

In the handshake era a request is sent before the result, and the call waits for its answer. In 2026-07-28 the call ends
with the question, and the client repeats it with the answer and a signed state: any process may take the repeated call.
A program of code mode cannot be repeated, since calls that it made would be made again; it is not asked about then.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from ..runtime.errors import RuntimeFailure
from ..runtime.protocol import ToolCall, elicitation, jsonrpc
from ..runtime.protocol.elicitation import FORM, URL, Form, FormAnswer, Question, Retry, WebPage
from ..runtime.protocol.jsonrpc import Refusal
from ..runtime.result.sanitizer import Sanitizer
from ..runtime.server.catalog import BuiltinTool, ListedTool
from ..runtime.server.grants import subject
from ..runtime.server.hooks import Notify
from ..runtime.session_state import SESSION_STATE, SessionState
from ..runtime.tool import Tool
from ..runtime.types import JsonObject
from ..runtime.upstream.events import CallEvents
from .tokens import SubjectOfToken, TokenSigner

MAX_QUESTIONS: Final = 16
"""Questions of one session that wait for an answer: nobody reads more dialogs at once."""

MAX_SPENT: Final = 10_000
"""Tokens that were used, which a process without siblings remembers: a megabyte."""

MAX_WAIT: Final = 600.0
"""Seconds that a question waits where a call has no limit of time."""

_ID_BYTES: Final = 12
_PAGE, _AFTER_CONSENT = "page", "page after consent"
_SPENT: Final = "spent tokens"


class NoConsent(RuntimeFailure):
    """A call that is not made, since the user did not agree to it, or has yet to be asked."""


class Asker:
    """The one who asks during a client's call. `reply` answers the call in place of its result, if it is set.

    `consented` is the call that the user has agreed to. A page that is to be opened after that asks for it no more.
    """

    def __init__(
        self,
        call: ToolCall,
        tool: ListedTool,
        notify: Notify | None,
        *,
        max_wait: float,
        retry: Retry,
        state: SessionState,
    ) -> None:
        self.reply: JsonObject | None = None
        self.consented: SubjectOfToken | None = None
        self._call = call
        self._tool = tool
        self._notify = notify
        self._max_wait = max_wait
        self._retry = retry
        self._state = state

    def can_ask(self, tool: Tool, mode: str = FORM) -> bool:
        """Return whether the client can be asked in a mode about a call of a tool, which this call makes."""
        if not elicitation.can_ask(self._call, mode):
            return False
        return self._makes(tool) if self._call.revision.asks_by_result else self._notify is not None

    def can_demand(self, tool: Tool) -> bool:
        """Return whether this call may end with the demand that the user open a page: its client repeats it then."""
        return elicitation.can_ask(self._call, URL) and self._makes(tool)

    @property
    def session_id(self) -> str:
        """The HTTP session of the call; empty without one."""
        return self._call.session_id or ""

    def _makes(self, tool: Tool) -> bool:
        """Return whether the client named this tool, so that the repeated call repeats nothing else."""
        named = self._tool.target(self._call.arguments) if isinstance(self._tool, BuiltinTool) else self._tool.name
        return named == tool.name

    async def ask(self, form: Form, purpose: SubjectOfToken) -> FormAnswer:
        """Return the user's answer. Raises NoConsent where there is none, or none yet."""
        if self._call.revision.asks_by_result:
            return self._answer_of_retry(form, purpose)
        if self._notify is None or len(self._state.waiting) >= MAX_QUESTIONS:
            raise NoConsent("The call was not made: too many questions to the user are open. Try again later.")
        return await self._answer_to_request(form, self._notify)

    def has_consent(self, purpose: SubjectOfToken) -> bool:
        """Return whether the user has agreed to a call before a page was opened for it. Raises NoConsent."""
        state, tokens = self._retry.state, signer(self._state)
        if state is None or not tokens.is_valid(state, purpose._replace(purpose=_AFTER_CONSENT)):
            return False
        if not tokens.use(state):
            raise self._refuse("it was used before")
        self.consented = purpose
        return True

    async def open_page(self, tool: Tool, page: WebPage, done: "asyncio.Future[Any]") -> None:
        """Let the user open a page, and wait until `done`, or until the call has no time. Raises NoConsent."""
        notify = self._notify
        if self._call.revision.asks_by_result or notify is None:
            await self._open_by_result(tool, page, done)
            return
        _check_opened(await self._answer_to_request(page, notify))
        await asyncio.wait({done}, timeout=self._max_wait)
        if not done.done():
            raise NoConsent(
                f"The call was not made: nobody has signed in yet. Make it again after a sign-in at {page.url}"
            )
        await notify(jsonrpc.encode(elicitation.completed(page.id)))

    async def demand_page(self, tool: Tool, page: WebPage, done: "asyncio.Future[Any]") -> None:
        """End the call with the demand that the user open a page, unless it is a repeated one that is `done` in time.

        Raises NoConsent: the demand is an error of its own in 2025-11-25, a result in 2026-07-28.
        """
        if self._call.revision.asks_by_result:
            await self._open_by_result(tool, page, done)
            return
        self.reply = elicitation.page_required(self._call, page)
        raise NoConsent("The user is being asked to open a page.")

    async def _open_by_result(self, tool: Tool, page: WebPage, done: "asyncio.Future[Any]") -> None:
        call = purpose_of("", tool, self._call.arguments) if self.consented is None else self.consented
        purpose = call._replace(purpose=_PAGE if self.consented is None else _AFTER_CONSENT)
        answer, state = self._retry
        tokens = signer(self._state)
        if answer is not None and state is not None and tokens.is_valid(state, purpose):
            _check_opened(answer)
            await asyncio.wait({done}, timeout=self._max_wait)
            if done.done():
                return
        self.reply = elicitation.input_required(self._call, page, tokens.issue(purpose))
        raise NoConsent("The user is being asked.")

    async def _answer_to_request(self, question: Question, notify: Notify) -> FormAnswer:
        request_id = f"ask-{secrets.token_urlsafe(_ID_BYTES)}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._state.waiting[request_id] = partial(_settle, future)
        try:
            async with asyncio.timeout(self._max_wait):
                await notify(jsonrpc.encode(elicitation.request(request_id, question)))
                answer = elicitation.read_answer(await future)
        except TimeoutError:
            await notify(jsonrpc.encode(elicitation.withdrawal(request_id, "Nobody answered in time.")))
            raise NoConsent(
                f"The call was not made: the user did not answer within {self._max_wait:g} seconds."
            ) from None
        finally:
            self._state.waiting.pop(request_id, None)
        if answer is None:
            raise NoConsent("The call was not made: the client could not ask the user.")
        return answer

    def _answer_of_retry(self, form: Form, purpose: SubjectOfToken) -> FormAnswer:
        answer, state = self._retry
        tokens = signer(self._state)
        if state is not None and not tokens.is_valid(state, purpose):
            raise self._refuse("it was issued for another call or caller, or has expired")
        if state is None or answer is None:
            self.reply = elicitation.input_required(self._call, form, tokens.issue(purpose))
            raise NoConsent("The user is being asked.")
        if not tokens.use(state):
            raise self._refuse("it was used before")
        return answer

    def _refuse(self, reason: str) -> NoConsent:
        message = f"params.requestState is not valid: {reason}. Make the call again without it."
        self.reply = jsonrpc.error(jsonrpc.INVALID_PARAMS, message, request_id=self._call.request_id)
        return NoConsent(message)


def _check_opened(answer: FormAnswer) -> None:
    if answer.action != "accept":
        raise NoConsent("The call was not made: it needs a sign-in, and the user did not open its page.")


ASKER: Final[ContextVar[Asker | None]] = ContextVar("asker", default=None)
"""The one who asks during the call that is being answered; None outside of a client's call."""


class ClientQuestions:
    """An elicitor that asks nothing by itself, but lets others ask during a call (ASKER).

    A question waits `max_wait` seconds at most; 0 stands for MAX_WAIT.
    """

    def __init__(self, max_wait: float = 0) -> None:
        self._max_wait = max_wait or MAX_WAIT
        self._own_state = SessionState()

    async def reply(
        self, call: ToolCall, tool: ListedTool, notify: Notify | None, answer: Callable[[], Awaitable[JsonObject]]
    ) -> JsonObject:
        """Return the reply to a client's call (see `Elicitor`)."""
        retry = elicitation.read_retry(call) if call.revision.asks_by_result else Retry(None, None)
        if isinstance(retry, Refusal):
            return retry.reply(call.request_id)
        asker = Asker(call, tool, notify, max_wait=self._max_wait, retry=retry, state=self.state())
        token = ASKER.set(asker)
        try:
            reply = await answer()
        finally:
            ASKER.reset(token)
        return reply if asker.reply is None else asker.reply

    async def consent(
        self, tool: Tool, arguments: Mapping[str, Any], events: CallEvents, sanitizer: Sanitizer
    ) -> Mapping[str, Any]:
        """Return the arguments of a call that may be made (see `Elicitor`)."""
        del tool, events, sanitizer
        return arguments

    def state(self) -> SessionState:
        """Return the state of the session whose request is being served."""
        current = SESSION_STATE.get()
        return self._own_state if current is None else current()


def signer(state: SessionState) -> TokenSigner:
    """Return the signer of tokens for the clients of a session."""
    return TokenSigner(state.key, state.spend or partial(_spend, state.values.setdefault(_SPENT, {})))


def purpose_of(kind: str, tool: Tool, arguments: Any) -> SubjectOfToken:
    """Return what a token of a kind is valid for: a call of the caller whose request is being served."""
    return SubjectOfToken(kind, subject(), tool.name, arguments)


def _settle(future: "asyncio.Future[Any]", result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _spend(spent: dict[str, None], text: str) -> bool:
    if text in spent:
        return False
    spent[text] = None
    if len(spent) > MAX_SPENT:
        del spent[next(iter(spent))]
    return True
