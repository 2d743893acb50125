"""What all tools share: where the API is, and whom it lets in."""

from .runtime import SecurityScheme

BASE_URL = "https://redocly.com/_mock/docs/openapi/museum-api"

MUSEUM_PLACEHOLDER_AUTH = SecurityScheme(
    name="MuseumPlaceholderAuth",
    type="http",
    variable="MUSEUM_PLACEHOLDER_AUTH",
    scheme="basic",
)

SECURITY_SCHEMES = (MUSEUM_PLACEHOLDER_AUTH,)
