"""What all tools share: where the API is, and whom it lets in."""

from .runtime import SecurityScheme

BASE_URL = "http://127.0.0.1:8020"

SHOP_KEY = SecurityScheme(name="shopKey", type="apiKey", variable="SHOP_KEY", location="header", parameter="X-API-Key")

SECURITY_SCHEMES = (SHOP_KEY,)
