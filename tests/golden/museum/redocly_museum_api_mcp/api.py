"""The URL of the API and its security schemes, which all tools share."""

from .runtime import SecurityScheme

BASE_URL = "https://redocly.com/_mock/docs/openapi/museum-api"

MUSEUM_PLACEHOLDER_AUTH = SecurityScheme(
    name="MuseumPlaceholderAuth",
    type="http",
    variable="API_REDOCLYMUSEUM_MUSEUMPLACEHOLDERAUTH",
    scheme="basic",
)

SECURITY_SCHEMES = (MUSEUM_PLACEHOLDER_AUTH,)
