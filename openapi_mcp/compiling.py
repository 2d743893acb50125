"""The whole way from a document to its tools; whoever has the tools already never imports this.

It is the one door to the compile side: `Wanted` goes in, values come out that need none of it.
"""

from collections.abc import Callable
from dataclasses import replace

from . import about, budget, loader, swagger2, tools
from .compiled import Compiled, Origin
from .document import Document
from .wanted import Wanted


def load(source: str, wanted: Wanted, progress: Callable[[str], None] = lambda _: None) -> Document:
    """A document as OpenAPI 3.x; `progress` is told each step. Raises DocumentError."""
    document = loader.load(
        source, headers=wanted.headers, allow_remote_refs=wanted.allow_remote_refs, progress=progress
    )
    return swagger2.convert(document)


def compiled(document: Document, wanted: Wanted) -> Compiled:
    """The tools of a document. Raises UsageError where what is wanted cannot be."""
    made = tools.build(document, selection=wanted.selection, base_url=wanted.servers, economy=wanted.economy)
    return replace(made, sizes=tuple(budget.sizes(made.tools)))


def origin(document: Document) -> Origin:
    """What is to be known of a document once its tools are made."""
    return Origin(
        uri=document.uri,
        version=document.version,
        implementation=about.implementation(document),
        instructions=about.instructions(document),
        problems=document.problems,
        digests=document.digests,
        validators={uri: headers for uri, headers in document.validators.items() if headers},
        unread=tuple(uri for uri in document.files if uri not in document.digests),
    )
