"""The files of the page that are the same for everybody: style sheets and scripts, its own and those of others."""

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from starlette.responses import Response

FOLDER: Final = Path(__file__).parent / "static"

MEDIA_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class StaticFile(NamedTuple):
    """A file's bytes, and its media type."""

    data: bytes
    media_type: str


@cache
def files() -> dict[str, StaticFile]:
    """Return the files by name; only these are served."""
    return {
        path.name: StaticFile(path.read_bytes(), MEDIA_TYPES[path.suffix])
        for path in FOLDER.iterdir()
        if path.suffix in MEDIA_TYPES
    }


def static_file(name: str) -> Response:
    """Return the response with a file."""
    file = files().get(name)
    if file is None:
        return Response("not found\n", 404, media_type="text/plain")
    return Response(file.data, media_type=file.media_type, headers={"Cache-Control": "max-age=600"})
