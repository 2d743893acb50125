# openapi-mcp as a container: no root, no shell needed, runs with a read-only file system and a tmpfs at /tmp.
#   docker build -t openapi-mcp .
#   docker run --read-only --tmpfs /tmp -p 127.0.0.1:8000:8000 -v "$PWD/specs:/specs:ro" -e OPENAPI_MCP_AUTH_TOKEN=… \
#       openapi-mcp serve /specs/petstore.yaml --host 0.0.0.0
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY openapi_mcp openapi_mcp
COPY templates templates
RUN python -m venv /opt/openapi-mcp \
    && /opt/openapi-mcp/bin/pip install --no-cache-dir --disable-pip-version-check '.[code,metrics,otel,redis]'

FROM python:3.13-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin openapi-mcp
COPY --from=build /opt/openapi-mcp /opt/openapi-mcp
# OPENAPI_MCP_TOKENS is a folder, and no secret.
# hadolint ignore=DL3064
ENV PATH=/opt/openapi-mcp/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OPENAPI_MCP_CACHE=/tmp/openapi-mcp/cache \
    OPENAPI_MCP_TOKENS=/tmp/openapi-mcp/tokens
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
ENTRYPOINT ["openapi-mcp"]
CMD ["--help"]
