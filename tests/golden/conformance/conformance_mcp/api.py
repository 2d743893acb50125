"""What all tools share: where the API is, and whom it lets in."""

BASE_URL: str | None = None
