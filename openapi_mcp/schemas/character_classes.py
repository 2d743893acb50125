r"""Write the character classes of a regular expression so that JavaScript, Python and Rust read them alike.

`\d`, `\w` and `\s` are written out: in ECMA-262 digits and words are ASCII's, in Python and Rust Unicode's, each with
its own white space. A set of characters is a bit mask, exact for ASCII; all other characters share one bit.

Specification: ECMA-262 section 22.2.2.9 (CharacterClass, CharacterClassEscape, WordCharacters).
"""

from typing import Final


class NotPortable(Exception):
    """A pattern that cannot be written for both dialects."""


ANY: Final = (1 << 129) - 1
"""Mask of all characters: a bit for each of ASCII, and OTHERS."""

OTHERS: Final = 1 << 128
"""Mask of all characters beyond ASCII."""


def mask_of(characters: str) -> int:
    """Return the mask of these characters."""
    return sum(1 << min(ord(character), 128) for character in set(characters))


_DIGITS: Final = mask_of("0123456789")
_WORD: Final = _DIGITS | mask_of("_") | sum(1 << code for code in range(128) if chr(code).isalpha())
_SPACE: Final = mask_of(" \t\n\r\f\v")
CLASSES: Final = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _SPACE | OTHERS,
    "D": ANY & ~_DIGITS,
    "W": ANY & ~_WORD,
    "S": ANY & ~_SPACE,
}
"""Masks of the class escapes."""

MEMBERS: Final = {
    "d": "0-9",
    "w": "A-Za-z0-9_",
    "s": r"\x09-\x0d \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
"""Members of the classes that the escapes stand for, as written inside brackets."""

_OPPOSITES: Final = (r"\D", r"\W", r"\S")


def class_of(members: list[str], *, negated: bool) -> tuple[str, int]:
    r"""Return the text of a class, and its mask.

    The opposite of a class has no portable form inside brackets, so `[\Da]` becomes `(?:[^0-9]|[a])`, and `[^\Da]`
    `(?:(?![a])[0-9])`.
    """
    opposites = list(dict.fromkeys(member[1].lower() for member in members if member in _OPPOSITES))
    text, mask = members_of(_without_opposites(members))
    if any("\\" + kind in members for kind in opposites):
        text, opposites, mask = r"\s\S", [], ANY
    if negated:
        mask = (ANY & ~mask) | OTHERS
        for kind in opposites:
            mask &= CLASSES[kind]
        return _outside(text, opposites), mask
    for kind in opposites:
        mask |= CLASSES[kind.upper()]
    parts = [f"[^{MEMBERS[kind]}]" for kind in opposites] + ([f"[{text}]"] if text else [])
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})", mask


def _without_opposites(members: list[str]) -> list[str]:
    """Return the other members; hyphens beside an opposite make no range."""
    others = list(members)
    for index, member in enumerate(members):
        if member in _OPPOSITES:
            for beside in (index - 1, index + 1):
                if 0 <= beside < len(others) and others[beside] == "--":
                    others[beside] = "-"
    return [member for member in others if member not in _OPPOSITES]


def _outside(text: str, opposites: list[str]) -> str:
    """Return a negated class: a character that is in all these classes, and none of the members."""
    if not opposites:
        return f"[^{text}]"
    *conditions, last = [f"[{MEMBERS[kind]}]" for kind in opposites]
    ahead = ([f"(?![{text}])"] if text else []) + [f"(?={condition})" for condition in conditions]
    return f"(?:{''.join(ahead)}{last})" if ahead else last


def members_of(members: list[str]) -> tuple[str, int]:
    """Return the text inside a class, and its mask. A hyphen that makes no range is a literal."""
    text, mask, rest = "", 0, list(members)
    while rest:
        member = rest.pop(0)
        if len(member) == 2 and member != "--":
            text += MEMBERS[member[1]]
            mask |= CLASSES[member[1]]
        elif len(rest) > 1 and rest[0] == "--" and (len(rest[1]) == 1 or rest[1] == "--"):
            low, high = member[0], rest[1][0]
            if low > high:
                raise NotPortable
            text += f"{in_class(low)}-{in_class(high)}"
            mask |= sum(1 << code for code in range(min(ord(low), 128), min(ord(high), 128) + 1))
            del rest[:2]
        else:
            text += in_class(member[0])
            mask |= mask_of(member[0])
    return text, mask


def in_class(character: str) -> str:
    """Write one character in a class. Python forbids doubled `&` and `~` there, JavaScript their escapes."""
    if character in "\\]^-[|":
        return "\\" + character
    return f"\\x{ord(character):02x}" if character in "&~" else visible(character)


def visible(character: str) -> str:
    """Write one character outside a class, escaped unless printable."""
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        raise NotPortable
    if character.isprintable() or code > 0xFFFF:
        return character
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
