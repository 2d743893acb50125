"""`ApiDocument`: a document with its tools, and what calls of its API need: options, credentials, tokens, egress.

The document itself is loaded on demand: a server with cached tools works without it.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..cache.indexes import IndexCache
from ..compilation import Compilation, DocumentInfo
from ..config import Config
from ..egress.policy import EgressPolicy
from ..errors import Problem, UsageError
from ..runtime.errors import RequestError
from ..runtime.request.build import RequestOptions
from ..runtime.request.credentials import read_variables
from ..runtime.result.sanitizer import secrets_of
from ..runtime.tool import SecurityScheme, Tool
from ..runtime.types import Implementation
from . import traffic

if TYPE_CHECKING:
    from ..contract.drift import DriftLog
    from ..document.model import Document
    from ..extension.hooks import Extension
    from ..oauth.clients import OAuthSettings
    from ..oauth.sign_ins import ApiSignIns
    from ..oauth.tokens import OAuthTokens


@dataclass(frozen=True)
class ApiDocument:
    """A document, its tools, and the options they were made with."""

    config: Config
    document_info: DocumentInfo
    compilation: Compilation
    loaded_document: "Document | None" = field(default=None, repr=False, compare=False)
    """The document, if it was read and will be needed again."""
    indexes: IndexCache | None = field(default=None, repr=False, compare=False)
    """The cache for the indexes of searches."""
    extension: "Extension | None" = field(default=None, repr=False, compare=False)
    """Additions of the program and of plugins: hooks, a transport, a signature of requests."""

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order of the document, with the base URLs of `Config.base_url_map`."""
        base_urls, tools = self.config.base_url_map, self.compilation.tools
        tools = tuple(map(base_urls.apply, tools)) if base_urls.pairs else tools
        tools = tuple(map(values.apply, tools)) if (values := self.config.argument_values) else tools
        if self.config.prefix or self.config.client != "generic":
            from ..adaptation import named

            tools = named(tools, self.config.prefix, self.config.profile, self.implementation.name)
        return tools

    @property
    def implementation(self) -> Implementation:
        """The server's Implementation object: title and version of the document, and how a client may show it."""
        return self.document_info.implementation

    @cached_property
    def document(self) -> "Document":
        """The document as OpenAPI 3.x, read again if it has been released. Raises DocumentError."""
        from ..tools import compiler

        return self.loaded_document or compiler.load(self.config.source, self.config.compile_options)

    def security_schemes(self) -> tuple[SecurityScheme, ...]:
        """Return the security schemes that the tools use, each once, in the order they appear."""
        schemes = (scheme for tool in self.tools for alternative in tool.security for scheme in alternative)
        return tuple(dict.fromkeys(schemes))

    def request_options(self, environment: Mapping[str, str] = os.environ) -> RequestOptions:
        """Return the options of the tools' requests, with secrets of the configuration and the environment.

        Raises UsageError for one that cannot be read.
        """
        options = self.config.request_options(self.security_schemes(), environment)
        try:
            variables = read_variables(self.tools, environment)
        except RequestError as error:
            hint = "set the variable, or fix the argument to another value with --set"
            raise UsageError(str(error), where="the arguments", hint=hint) from None
        return replace(options, variables=variables) if variables else options

    @cached_property
    def egress(self) -> EgressPolicy:
        """The policy of calls and of token requests: what they may contact."""
        return self.config.egress_policy(trusts_document=self.document_info.is_private)

    @property
    def oauth_settings(self) -> "OAuthSettings":
        """The settings of OAuth clients of this document."""
        return replace(self.config.oauth_settings, egress=self.egress)

    def oauth_tokens(
        self,
        static: Mapping[str, str] | None = None,
        sign_ins: "ApiSignIns | None" = None,
        *,
        is_shown: bool = False,
    ) -> "OAuthTokens | None":
        """Return the source of access tokens for the schemes whose OAuth client is configured; None without any.

        A scheme with a credential in `static` uses that. `sign_ins` are those of users over HTTP, which then know these
        schemes; with `is_shown` the source is as it would be with them, to be described. Raises UsageError.
        """
        schemes = {scheme.name: scheme for scheme in self.security_schemes() if scheme.name not in (static or {})}
        candidates = [each for each in self.document_info.oauth_schemes if each.name in schemes]
        if not candidates:
            return None
        port, settings = self.config.sign_in_port, self.oauth_settings
        return traffic.oauth_tokens(settings, candidates, schemes, sign_ins, sign_in_port=port, is_shown=is_shown)

    def validate(self) -> Iterator[Problem]:
        """Yield the findings of openapi-core's validator, which runs in a process of its own, for a limited time."""
        from ..contract import validation_process

        return validation_process.validate(self.document)

    @cached_property
    def drift(self) -> "DriftLog | None":
        """The contract check of the calls of this bridge's servers, with `check_contract`. The caller closes it."""
        if not self.config.check_contract:
            return None
        from ..contract.checker import Contract
        from ..contract.drift import DriftLog

        options = self.request_options()
        secrets = [*secrets_of(options), *options.credentials.values(), *(value for _, value in options.headers)]
        return DriftLog(Contract(self.document, secrets))

    @property
    def drifts(self) -> "tuple[DriftLog, ...]":
        """The contract check, if there is one. The caller closes it."""
        return () if self.drift is None else (self.drift,)
