"""XML text that is always well formed: names that XML allows, text escaped, namespaces declared where they begin.

What cannot be written in XML is an ArgumentError; nothing of a value can end an element, begin one or name an entity.
Specification: XML 1.0 (fifth edition) §2.2 to §2.7, §3.1; Namespaces in XML 1.0 §3 and §6.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from .errors import ArgumentError

XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
"""The namespace of `xsi:nil` (XML Schema Part 1, §2.6.2)."""

# XML 1.0 §2.3: NameStartChar and NameChar, with a colon only between prefix and local part (Namespaces §4).
_START: Final = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_LOCAL: Final = f"[{_START}][{_START}0-9.\xb7\u0300-\u036f\u203f\u2040-]*"
# These two are compiled when they are needed first, since that takes a tenth of a start; `re` keeps them.
_NAME: Final = f"({_LOCAL}:)?{_LOCAL}"
_NOT_A_CHARACTER: Final = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # §2.2
_IN_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
# In an attribute a parser makes spaces of these (§3.3.3).
_IN_ATTRIBUTE: Final = _IN_TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an element or attribute; `namespace` is declared unless it already holds for `prefix`."""

    local: str
    namespace: str | None = None
    prefix: str | None = None

    def qualified(self) -> str:
        """As it is written; a prefix that stands in the name already counts as one."""
        return f"{self.prefix}:{self.local}" if self.prefix else self.local

    def declared(self) -> str:
        """The prefix that the namespace is declared for; empty for the default namespace."""
        return self.qualified().rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class Text:
    """Character data."""

    text: str


@dataclass(frozen=True, slots=True)
class Cdata:
    """A CDATA section."""

    text: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the element that it stands in."""

    name: Name
    text: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element; its content is attributes and other nodes, in any order. `nil` says that its value is null."""

    name: Name
    content: "tuple[Node, ...]" = ()
    nil: bool = False


Node: TypeAlias = Element | Attribute | Text | Cdata

Scope: TypeAlias = Mapping[str, str]
"""The namespaces that hold where something stands, by prefix."""


def write(element: Element) -> str:
    """One element as XML text, without an XML declaration. Raises ArgumentError."""
    return "".join(_element(element, {}))


def _element(element: Element, scope: Scope) -> Iterator[str]:
    attributes = list(_attributes(element))
    declared = _declared([element.name, *(attribute.name for attribute in attributes)], scope)
    name = _checked(element.name)
    # A name once, as XML demands (§3.1): an attribute called `xmlns` is what its author wants to declare.
    written = {f"xmlns:{prefix}" if prefix else "xmlns": namespace for prefix, namespace in declared.items()}
    written |= {_checked(attribute.name): attribute.text for attribute in attributes}
    yield f"<{name}"
    for key, text in written.items():
        yield f' {key}="{_characters(text).translate(_IN_ATTRIBUTE)}"'
    if element.nil:
        yield "/>"
        return
    yield ">"
    for node in element.content:
        if not isinstance(node, Attribute):
            yield from _node(node, {**scope, **declared})
    yield f"</{name}>"


def _node(node: Element | Text | Cdata, scope: Scope) -> Iterator[str]:
    if isinstance(node, Element):
        yield from _element(node, scope)
    elif isinstance(node, Text):
        yield _characters(node.text).translate(_IN_TEXT)
    else:
        yield f"<![CDATA[{_characters(node.text).replace(']]>', ']]]]><![CDATA[>')}]]>"


def _attributes(element: Element) -> Iterator[Attribute]:
    """Those in a namespace have a prefix: the default namespace is not for attributes (Namespaces §6.2)."""
    if element.nil:
        yield Attribute(Name("nil", XSI, "xsi"), "true")
    for index, node in enumerate(element.content):
        if isinstance(node, Attribute):
            unprefixed = node.name.namespace and not node.name.declared()
            yield replace(node, name=replace(node.name, prefix=f"ns{index}")) if unprefixed else node


def _declared(names: Iterable[Name], scope: Scope) -> dict[str, str]:
    """The namespaces, by prefix, that these names need and that do not hold yet."""
    needed = {name.declared(): name.namespace for name in names if name.namespace}
    return {prefix: namespace for prefix, namespace in needed.items() if scope.get(prefix) != namespace}


def _checked(name: Name) -> str:
    qualified = name.qualified()
    if not re.fullmatch(_NAME, qualified):
        raise ArgumentError(f"`{qualified}` cannot be sent in XML: elements and attributes cannot be called that.")
    return qualified


def _characters(text: str) -> str:
    found = re.search(_NOT_A_CHARACTER, text)
    if found:
        raise ArgumentError(f"The text holds U+{ord(found[0]):04X}, a character that XML cannot carry.")
    return text
