"""The URL of the API and its security schemes, which all tools share."""

from .runtime import SecurityScheme

BASE_URL = "https://library.example/main"

READER_CARD = SecurityScheme(name="readerCard", type="http", variable="API_TOWNLIBRARY_READERCARD", scheme="bearer")

SECURITY_SCHEMES = (READER_CARD,)
