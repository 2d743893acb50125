"""`Views`: the answers of the page: whole pages, and the parts of them that htmx asks for."""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from ..bridge import Bridge
from ..clients.table import CLIENTS
from ..errors import BridgeError
from ..gateway.gateway import bridges_of
from ..runtime.http.timeouts import SHUTDOWN_EVENT
from ..runtime.server.grants import GRANT
from ..runtime.tool import Tool
from ..telemetry.records import caller_name
from . import overview
from .access import FormError, body_of
from .call import PageCalls, dry_run, named
from .document_lines import located
from .fields import FormSchema
from .form import arguments_of, read_form
from .live import LiveCalls, TooManyListeners
from .source import PageSource
from .templates import render
from .tool_list import RISKS, ToolFilter, ToolTable, risk_of


class Views:
    """The answers of the page to requests that were let in; what takes long works in threads.

    The scope of a request has `page_head`, which precedes the HTML of a whole page, `page_fields`, header fields of it,
    `page_csrf`, the token of its session, and `page_scheme`, that of its address in the browser.
    """

    def __init__(self, source: PageSource) -> None:
        self._source = source
        self._calls = PageCalls(source)
        self._live = LiveCalls(source.feed, source.redact)
        self._made: ToolTable | None = None
        self._counts: tuple[Bridge, asyncio.Future[Any]] | None = None
        self.router = Router(
            [
                Route("/", self._home),
                Route("/ui/", self._home),
                Route("/ui/list", self._list),
                Route("/ui/tokens", self._tokens),
                Route("/ui/tools/{name}", self._tool),
                Route("/ui/tools/{name}/field", self._field),
                Route("/ui/tools/{name}/arguments", self._arguments, methods=["POST"]),
                Route("/ui/tools/{name}/dry-run", self._dry_run, methods=["POST"]),
                Route("/ui/tools/{name}/call", self._call, methods=["POST"]),
                Route("/ui/connect", self._connect),
                Route("/ui/problems", self._problems),
                Route("/ui/calls", self._live_calls),
                Route("/ui/calls/events", self._events),
            ],
            redirect_slashes=False,
        )

    async def _table(self) -> ToolTable:
        """Return the tools that are served now, as far as whoever asks may call them."""
        served = self._source.served()
        if self._made is None or self._made.served is not served:
            self._made = await asyncio.to_thread(ToolTable, served)
        grant = GRANT.get()
        return self._made if grant is None else await asyncio.to_thread(self._made.of, grant)

    async def _page(self, request: Request, template: str, section: str, **values: Any) -> Response:
        """Return a whole page."""
        table = await self._table()
        html = await asyncio.to_thread(self._rendered, request, template, section, table, values)
        response = HTMLResponse(request.scope["page_head"] + html)
        response.raw_headers.extend(request.scope["page_fields"])
        return response

    def _rendered(
        self, request: Request, template: str, section: str, table: ToolTable, values: Mapping[str, Any]
    ) -> str:
        facts = overview.overview(table)
        return render(
            template,
            section=section,
            facts=facts,
            table=table,
            problems=sum(len(bridge.problems) for bridge in bridges_of(table.served)),
            csrf=request.scope["page_csrf"],
            can_sign_out=self._source.signs_in,
            **values,
        )

    async def _home(self, request: Request) -> Response:
        return await self._tools_page(request, None)

    async def _tools_page(self, request: Request, tool: Tool | None) -> Response:
        table = await self._table()
        wanted = ToolFilter.of(request.query_params)
        asyncio.get_running_loop().call_later(_QUIET_SECONDS, table.prepare)
        rows = await asyncio.to_thread(table.page, wanted)
        values = await self._tool_values(tool)
        return await self._page(
            request, "tools.html", "tools", wanted=wanted, page=rows, more=_more(rows.following), **values
        )

    async def _tool_values(self, tool: Tool | None) -> dict[str, Any]:
        if tool is None:
            return {"tool": None, "risks": RISKS, "clients": [(each.name, each.title) for each in CLIENTS.values()]}
        table = await self._table()
        fields = await asyncio.to_thread(FormSchema(tool.input_schema).fields)
        row = next(row for row in table.rows if row.name == tool.name)
        lead, _, rest = tool.description.partition("\n\n")
        return {"tool": tool, "fields": fields, "row": row, "risks": RISKS, "lead": lead, "rest": rest.strip()}

    async def _list(self, request: Request) -> Response:
        table = await self._table()
        wanted = ToolFilter.of(request.query_params)
        page = await asyncio.to_thread(table.page, wanted)
        again = urlencode(_parameters(wanted)) if page.by_name else ""
        selected = request.query_params.get("selected", "")
        return HTMLResponse(
            render(
                "rows.html",
                page=page,
                wanted=wanted,
                table=table,
                risks=RISKS,
                more=_more(page.following),
                again=again,
                tool=None,
                selected=selected,
            )
        )

    async def _tokens(self, _request: Request) -> Response:
        """Return what each option would make of the list, which is found out once."""
        bridge = self._source.served()
        if not isinstance(bridge, Bridge):
            return HTMLResponse(render("error.html", message="Options are tried for one API alone."))
        if self._counts is None or self._counts[0] is not bridge:
            task = asyncio.ensure_future(asyncio.to_thread(overview.all_counts, self._source, bridge))
            self._counts = (bridge, task)
        try:
            counts = await asyncio.shield(self._counts[1])
        except BridgeError as error:
            self._counts = None
            return HTMLResponse(render("error.html", message=self._source.redact(error.message)))
        return HTMLResponse(render("token_counts.html", counts=counts))

    async def _tool(self, request: Request) -> Response:
        tool = await self._named(request)
        if tool is None:
            return HTMLResponse(render("error.html", message="There is no tool of this name any more."), 404)
        if request.headers.get("hx-request"):
            return HTMLResponse(render("tool.html", **await self._tool_values(tool)))
        return await self._tools_page(request, tool)

    async def _named(self, request: Request) -> Tool | None:
        return (await self._table()).tools.get(request.path_params["name"])

    async def _field(self, request: Request) -> Response:
        """Return one part of a form: an item of an array, or an alternative of a union."""
        tool, parameters = await self._named(request), request.query_params
        name, at = parameters.get("name", ""), parameters.get("at", "")
        is_item = parameters.get("item") == "1"
        if is_item:
            name = f"{name}/{secrets.token_hex(3)}"
        if (chosen := parameters.get("alternative", "")).isdecimal():
            at = f"{at}/u:{chosen}"
        try:
            field = FormSchema(tool.input_schema if tool else {}).field(at, name)
        except (LookupError, AttributeError, TypeError, ValueError):
            return HTMLResponse(render("error.html", message="This part of the form is not there any more."), 404)
        return HTMLResponse(render("field.html", field=field, tool=tool, is_item=is_item))

    async def _read(self, request: Request) -> tuple[Tool, dict[str, Any], dict[str, str]]:
        """Return the tool of a form, the arguments and the inputs. Raises FormError."""
        tool = await self._named(request)
        if tool is None:
            raise FormError("There is no tool of this name any more: reload the page.")
        inputs = read_form(await body_of(request))
        return tool, await asyncio.to_thread(arguments_of, inputs), inputs

    async def _arguments(self, request: Request) -> Response:
        """Return the arguments of a form as the text of JSON."""
        try:
            inputs = read_form(await body_of(request))
            arguments = await asyncio.to_thread(arguments_of, {**inputs, "as": "form"})
        except FormError as error:
            return HTMLResponse(render("error.html", message=str(error)))
        return HTMLResponse(render("arguments.html", arguments=arguments))

    async def _dry_run(self, request: Request) -> Response:
        try:
            tool, arguments, _ = await self._read(request)
        except FormError as error:
            return HTMLResponse(render("error.html", message=str(error)))
        bridge, own = self._source.served().find(tool.name)
        run = await asyncio.to_thread(dry_run, self._source, bridge, own, arguments)
        return HTMLResponse(render("dry_run.html", run=run))

    async def _call(self, request: Request) -> Response:
        """Make a call; one that may destroy data only once the user has seen and confirmed it."""
        try:
            tool, arguments, inputs = await self._read(request)
        except FormError as error:
            return HTMLResponse(render("error.html", message=str(error)))
        bridge, own = self._source.served().find(tool.name)
        if self._asks(bridge, own) and inputs.get("confirmed") != "yes":
            run = await asyncio.to_thread(dry_run, self._source, bridge, own, arguments)
            return HTMLResponse(render("ask.html", run=run, tool=tool))
        view = await self._calls.call(bridge, own, tool.name, arguments)
        return HTMLResponse(await asyncio.to_thread(render, "call.html", view=view, tool=tool))

    @staticmethod
    def _asks(bridge: Bridge, tool: Tool) -> bool:
        return risk_of(tool) == "destroys" or (bridge.confirmation is not None and bridge.confirmation.asks_for(tool))

    async def _connect(self, request: Request) -> Response:
        served = self._source.served()
        url = self._source.url or f"{request.scope['page_scheme']}://{request.headers['host']}{self._source.path}"
        running = await asyncio.to_thread(overview.connections, self._source, served, url)
        started, reason = await asyncio.to_thread(overview.commands, self._source, served)
        return await self._page(
            request,
            "connect.html",
            "connect",
            url=url,
            client=request.query_params.get("client", ""),
            running=running,
            started=started,
            reason=reason,
        )

    async def _problems(self, request: Request) -> Response:
        bridges = bridges_of(self._source.served())
        rows = await asyncio.to_thread(lambda: [row for bridge in bridges for row in located(bridge)])
        return await self._page(request, "problems.html", "problems", rows=rows)

    async def _live_calls(self, request: Request) -> Response:
        own = GRANT.get() is not None
        return await self._page(request, "calls.html", "calls", workers=self._source.workers, own=own)

    async def _events(self, request: Request) -> Response:
        grant = GRANT.get()
        caller = None if grant is None else caller_name(named(grant))
        try:
            self._live.check(caller)
        except TooManyListeners:
            return Response("Too many pages listen.\n", 503, media_type="text/plain")
        end = request.scope.get("state", {}).get(SHUTDOWN_EVENT)
        fields = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self._stream(end, caller, math.inf if grant is None else grant.expires)
        return StreamingResponse(stream, media_type="text/event-stream", headers=fields)

    async def _stream(self, end: asyncio.Event | None, caller: str | None, expires: float) -> AsyncIterator[str]:
        """Yield the events of calls: of all, or of one caller."""
        yield ": open\n\n"
        async for item in self._live.listen(end, caller, expires):
            if item is None:
                yield ": keep-alive\n\n"
                continue
            html = render("call_row.html", call=item[0], left_out=item[1])
            yield "event: call\n" + "".join(f"data: {line}\n" for line in html.splitlines()) + "\n"


_QUIET_SECONDS: Final = 0.5
"""Seconds until the search is prepared, so that the page comes first."""


def _parameters(wanted: ToolFilter) -> dict[str, str]:
    names = ("query", "tag", "method", "risk", "sort")
    return {name: value for name in names if (value := getattr(wanted, name))}


def _more(following: ToolFilter | None) -> str:
    """Return the query of the address with the next rows; empty at the end."""
    return "" if following is None else urlencode({**_parameters(following), "start": following.start})
