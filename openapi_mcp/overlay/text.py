"""Write YAML that every reader takes for the same values.

PyYAML writes a text plain where YAML 1.1 reads it as a text. What the core schema of YAML 1.2.2 reads otherwise (`1e5`,
`0o17`, `08`) is quoted too, and what is a line break or nothing to see in one of both stands as an escape.
"""

import re
from functools import cache
from typing import Any, Final

_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|0o[0-7]+$|0x[0-9a-fA-F]+$")
_ESCAPED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


def written(value: Any, *, width: int, flow: bool = False) -> str:
    """Return a value as YAML in lines of about `width` characters; with `flow` in flow style."""
    import yaml

    text: str = yaml.dump(
        value, Dumper=_dumper(), default_flow_style=flow, sort_keys=False, allow_unicode=True, width=width
    )
    return text


@cache
def _dumper() -> type[Any]:
    import yaml

    class _Dumper(yaml.SafeDumper):
        """A writer of texts that are texts for every reader."""

        def ignore_aliases(self, data: Any) -> bool:
            """Write a value wherever it stands: readers limit aliases."""
            del data
            return True

    def represented(dumper: Any, text: str) -> Any:
        style = '"' if _ESCAPED.search(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=style)

    _Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, list("-+.0123456789"))
    _Dumper.add_representer(str, represented)
    _Dumper.add_multi_representer(str, represented)
    return _Dumper
