"""An httpx.Request to an httpx.Response: retries, redirects, TLS, the HTTP/1.1 transport."""
