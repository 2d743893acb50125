"""The URL of the API and its security schemes, which all tools share."""

BASE_URL: str | None = None
