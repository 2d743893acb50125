"""What all tools share: where the API is, and whom it lets in."""

from .runtime import SecurityScheme

BASE_URL = "http://petstore.swagger.io/v2"

PETSTORE_AUTH = SecurityScheme(name="petstore_auth", type="oauth2", variable="PETSTORE_AUTH")
API_KEY = SecurityScheme(
    name="api_key",
    type="apiKey",
    variable="PETSTORE_API_KEY",
    location="header",
    parameter="api_key",
)

SECURITY_SCHEMES = (PETSTORE_AUTH, API_KEY)
