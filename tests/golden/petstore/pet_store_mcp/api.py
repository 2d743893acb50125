"""The URL of the API and its security schemes, which all tools share."""

from .runtime import SecurityScheme

BASE_URL = "http://127.0.0.1:8020"

SHOP_KEY = SecurityScheme(
    name="shopKey",
    type="apiKey",
    variable="API_PETSTORE_SHOPKEY",
    location="header",
    parameter="X-API-Key",
)

SECURITY_SCHEMES = (SHOP_KEY,)
