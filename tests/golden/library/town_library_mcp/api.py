"""What all tools share: where the API is, and whom it lets in."""

from .runtime import SecurityScheme

BASE_URL = "https://library.example/main"

READER_CARD = SecurityScheme(name="readerCard", type="http", variable="READER_CARD", scheme="bearer")

SECURITY_SCHEMES = (READER_CARD,)
