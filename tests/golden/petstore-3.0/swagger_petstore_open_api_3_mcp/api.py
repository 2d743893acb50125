"""The URL of the API and its security schemes, which all tools share."""

from .runtime import SecurityScheme

BASE_URL = "https://petstore3.swagger.io/api/v3"

PETSTORE_AUTH = SecurityScheme(name="petstore_auth", type="oauth2", variable="API_PETSTORE_PETSTORE_AUTH")
API_KEY = SecurityScheme(
    name="api_key",
    type="apiKey",
    variable="API_PETSTORE_API_KEY",
    location="header",
    parameter="api_key",
)

SECURITY_SCHEMES = (PETSTORE_AUTH, API_KEY)
