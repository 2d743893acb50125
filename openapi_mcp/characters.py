"""The characters of a regular expression: sets of them, and how one is written, in a class and outside.

A set is a mask, exact for ASCII; all other characters are one. Specification: ECMA-262 section 22.2.1 (ClassRanges);
Python `re`.
"""

from typing import Final


class NotPortable(Exception):
    """There is no way to say this in both dialects."""


ANY: Final = (1 << 129) - 1
"""A set of characters is a mask: a bit for each of ASCII, and one for all others together."""
OTHERS: Final = 1 << 128


def mask_of(characters: str) -> int:
    """The set of these characters."""
    return sum(1 << min(ord(character), 128) for character in set(characters))


_DIGITS: Final = mask_of("0123456789")
_WORD: Final = _DIGITS | mask_of("_") | sum(1 << code for code in range(128) if chr(code).isalpha())
_SPACE: Final = mask_of(" \t\n\r\f\v")
CLASSES: Final = {
    "d": _DIGITS | OTHERS,
    "w": _WORD | OTHERS,
    "s": _SPACE | OTHERS,
    "D": ANY & ~_DIGITS,
    "W": ANY & ~_WORD,
    "S": ANY & ~_SPACE,
}


def members_of(members: list[str]) -> tuple[str, int]:
    """The inside of a class, and its characters. A hyphen that cannot make a range is a hyphen."""
    text, mask, rest = "", 0, list(members)
    while rest:
        member = rest.pop(0)
        if len(member) == 2 and member != "--":
            text += member
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
    """One character in a class. `&` and `~` may not be doubled there in Python, nor escaped in JavaScript."""
    if character in "\\]^-[|":
        return "\\" + character
    return f"\\x{ord(character):02x}" if character in "&~" else visible(character)


def visible(character: str) -> str:
    """One character outside a class, escaped where it could not be seen."""
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        raise NotPortable
    if character.isprintable() or code > 0xFFFF:
        return character
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
