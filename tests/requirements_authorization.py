"""The requirements of the four pages about authorization (2026-07-28), and the tests that prove them.

A rule that binds an MCP client or an authorization server has a reason instead of a test: the bridge is a resource
server here. Each row has the page that it is from, and how often MUST or SHOULD stands in its passage, so that
`tests/authorization/test_requirements_of_pages.py` can compare the rows with the pages.
"""

from collections.abc import Iterable
from typing import Final

from tests.requirement import STATELESS, Level, Requirement

OVERVIEW: Final = "basic/authorization"
DISCOVERY: Final = "basic/authorization/authorization-server-discovery"
REGISTRATION: Final = "basic/authorization/client-registration"
SECURITY: Final = "basic/authorization/security-considerations"

DOOR: Final = "tests/authorization/test_door.py::"
TOKENS: Final = "tests/authorization/test_tokens.py::"
RIGHTS: Final = "tests/authorization/test_rights.py::"
SIGN_IN: Final = "tests/authorization/test_sign_in.py::"

NOT_A_CLIENT: Final = "binds MCP clients, as the official one in test_sign_in; the bridge is an MCP server"
NOT_AN_AUTHORIZATION_SERVER: Final = "binds authorization servers; the bridge has none of its own, but names one"
NOT_A_SIGN_IN: Final = (
    "binds proxies that pass a client's own request for authorization on; the bridge passes none on, and the "
    "authorization server of its door asks users about each client"
)

Row = tuple[str, Level, str]
"""Id, level and sentence of a rule."""


def bound(
    page: str, section: str, name: str, level: Level, sentence: str, *tests: str, keywords: int = 1
) -> Requirement:
    """Return a rule that binds the bridge; `keywords` is how often MUST or SHOULD stands in its passage."""
    return Requirement(f"auth.{name}", level, STATELESS, f"{page}, {section}", sentence, tests, keywords=keywords)


def unbound(page: str, section: str, reason: str, rows: Iterable[Row]) -> tuple[Requirement, ...]:
    """Return rules that bind somebody else."""
    return tuple(
        Requirement(f"auth.{name}", level, STATELESS, f"{page}, {section}", sentence, (), reason=reason, keywords=1)
        for name, level, sentence in rows
    )


ON_OVERVIEW: Final = (
    bound(
        OVERVIEW, "Protocol Requirements", "http", "SHOULD", "A server over HTTP conforms to the pages.",
        SIGN_IN + "test_official_client_signs_in_lists_and_calls",
    ),
    bound(
        OVERVIEW, "Protocol Requirements", "stdio", "SHOULD",
        "Over stdio credentials come from the environment, and no token is asked for.",
        "tests/authorization/test_commands.py::test_on_stdio_no_token_is_asked_for",
    ),
    *unbound(OVERVIEW, "Protocol Requirements", "the bridge has no other transport", [
        ("transports", "MUST", "Other transports follow the security practices of their protocol."),
    ]),
    *unbound(OVERVIEW, "Overview", NOT_AN_AUTHORIZATION_SERVER, [
        ("oauth-2.1", "MUST", "Authorization servers implement OAuth 2.1."),
        ("client-id-documents", "SHOULD", "Authorization servers and clients support client ID metadata documents."),
        ("server-metadata", "MUST", "Authorization servers offer RFC 8414 metadata or OpenID Connect discovery."),
    ]),
    bound(
        OVERVIEW, "Overview", "resource-metadata", "MUST", "A server has Protected Resource Metadata (RFC 9728).",
        DOOR + "test_metadata_is_served_at_both_well_known_places_to_anybody",
        DOOR + "test_metadata_behind_a_proxy_is_at_the_public_path_too",
    ),
    *unbound(OVERVIEW, "Overview", NOT_A_CLIENT, [
        ("client.resource-metadata", "MUST", "Clients find the authorization server by the resource's metadata."),
        ("client.both-discoveries", "MUST", "Clients support RFC 8414 metadata and OpenID Connect discovery."),
    ]),
    bound(
        OVERVIEW, "Authorization Server Discovery", "discovery", "MUST",
        "The rules of the page about discovery are followed.",
        DOOR + "test_request_without_a_token_is_challenged_with_metadata_and_scopes",
        TOKENS + "test_metadata_is_searched_in_the_order_of_the_specification",
    ),
    *unbound(OVERVIEW, "Client Registration", NOT_A_CLIENT, [
        ("client.id", "MUST", "Clients get a client id by one of three kinds of registration."),
    ]),
    bound(
        OVERVIEW, "Scope Selection Strategy", "challenge.scope", "SHOULD",
        "The challenge of a 401 names the scopes that the resource needs.",
        DOOR + "test_request_without_a_token_is_challenged_with_metadata_and_scopes",
    ),
    *unbound(OVERVIEW, "Scope Selection Strategy", NOT_A_CLIENT, [
        ("client.scope-sets", "MUST", "Clients assume no relation between challenged and supported scopes."),
        ("client.challenged-scopes", "MUST", "Clients take the scopes of a challenge as those of the operation."),
        ("client.keeps-scopes", "SHOULD", "Clients ask again for the scopes that they had."),
    ]),
    bound(
        OVERVIEW, "Scope Selection Strategy", "scope.consistent", "SHOULD",
        "Sets of scopes are made in one way: all of the tools before a token is shown, those of the call after it.",
        DOOR + "test_request_without_a_token_is_challenged_with_metadata_and_scopes",
        DOOR + "test_refusal_names_all_scopes_at_once_with_the_metadata",
    ),
    *unbound(OVERVIEW, "Scope Selection Strategy", NOT_A_CLIENT, [
        ("client.least-privilege", "SHOULD", "Clients ask for no scopes that they do not need."),
        ("client.scope-order", "SHOULD", "Clients take scopes from the challenge first, then from the metadata."),
    ]),
    *unbound(OVERVIEW, "Authorization Response Validation", NOT_A_CLIENT, [
        ("client.records-issuer", "MUST", "Clients record the issuer before they redirect the user."),
    ]),
    *unbound(OVERVIEW, "Authorization Response Validation", NOT_AN_AUTHORIZATION_SERVER, [
        ("iss", "SHOULD", "Authorization responses have the parameter iss."),
        ("iss.advertised", "MUST", "Servers that send iss say so in their metadata."),
        ("iss.future", "SHOULD", "A later revision is expected to demand iss."),
        ("iss.future-must", "MUST", "A later revision is expected to demand iss."),
    ]),
    *unbound(OVERVIEW, "Authorization Response Validation", NOT_A_CLIENT, [
        ("client.validates-iss", "MUST", "Clients validate iss before they send the code anywhere."),
        ("client.compares-iss", "MUST", "Clients compare iss as text, without normalising it."),
        ("client.error-iss", "MUST", "Clients do not act on errors of another issuer."),
    ]),
    *unbound(OVERVIEW, "Resource Parameter Implementation", NOT_A_CLIENT, [
        ("client.resource", "MUST", "Clients implement resource indicators (RFC 8707)."),
        ("client.resource.both", "MUST", "The parameter resource is in authorization and token requests."),
        ("client.resource.server", "MUST", "It identifies the server that the token is for."),
        ("client.resource.canonical", "MUST", "It is the canonical URI of the server."),
        ("client.resource.specific", "SHOULD", "It is the most specific URI that the client can give."),
        ("client.resource.always", "MUST", "It is sent whether authorization servers support it or not."),
    ]),
    bound(
        OVERVIEW, "Canonical Server URI", "canonical.case", "SHOULD",
        "Scheme and host of a canonical URI are accepted in upper case too.",
        TOKENS + "test_tokens_of_the_issuer_for_this_server_are_accepted",
        DOOR + "test_canonical_uri_has_lower_case_and_no_slash_at_its_end",
    ),
    bound(
        OVERVIEW, "Canonical Server URI", "canonical.slash", "SHOULD",
        "The canonical URI is used without a slash at its end.",
        DOOR + "test_canonical_uri_has_lower_case_and_no_slash_at_its_end",
    ),
    bound(
        OVERVIEW, "Token Requirements", "requests", "MUST", "Tokens are handled as OAuth 2.1 §5 says.",
        DOOR + "test_malformed_authorization_is_400",
        DOOR + "test_invalid_token_is_challenged_with_its_reason_but_never_repeated",
    ),
    *unbound(OVERVIEW, "Token Requirements", NOT_A_CLIENT, [
        ("client.header", "MUST", "Clients send the token in the header Authorization."),
    ]),
    bound(
        OVERVIEW, "Token Requirements", "every-request", "MUST", "Every HTTP request has the token.",
        DOOR + "test_every_request_needs_the_token_also_in_a_session",
    ),
    bound(
        OVERVIEW, "Token Requirements", "query", "MUST", "A token in the query is not accepted.",
        DOOR + "test_token_in_the_query_is_refused",
    ),
    bound(
        OVERVIEW, "Token Handling", "validate", "MUST", "Tokens are validated as OAuth 2.1 §5.2 says.",
        TOKENS + "test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason",
        TOKENS + "test_signatures_that_prove_nothing_are_refused",
        TOKENS + "test_introspection_is_asked_once_a_minute_and_its_answer_is_checked",
    ),
    bound(
        OVERVIEW, "Token Handling", "audience", "MUST", "Tokens must have been issued for this server.",
        TOKENS + "test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason",
        SIGN_IN + "test_tokens_of_the_same_issuer_for_another_server_are_refused",
    ),
    bound(
        OVERVIEW, "Token Handling", "errors", "MUST", "A failed validation is answered as OAuth 2.1 §5.3 says.",
        DOOR + "test_invalid_token_is_challenged_with_its_reason_but_never_repeated",
    ),
    bound(
        OVERVIEW, "Token Handling", "invalid-is-401", "MUST", "Invalid and expired tokens are answered with 401.",
        TOKENS + "test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason",
    ),
    *unbound(OVERVIEW, "Token Handling", NOT_A_CLIENT, [
        ("client.own-tokens", "MUST", "Clients send tokens of this server's authorization server only."),
    ]),
    bound(
        OVERVIEW, "Token Handling", "own-resources", "MUST", "Only tokens for this server's resources are accepted.",
        TOKENS + "test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason",
    ),
    bound(
        OVERVIEW, "Token Handling", "no-passthrough", "MUST", "No other token is accepted, and none is passed on.",
        SIGN_IN + "test_official_client_signs_in_lists_and_calls",
        SIGN_IN + "test_tokens_of_the_same_issuer_for_another_server_are_refused",
    ),
    *unbound(OVERVIEW, "Refresh Tokens", NOT_A_CLIENT, [
        ("client.refresh.secret", "MUST", "Clients keep refresh tokens confidential."),
        ("client.refresh.grant", "SHOULD", "Clients register the grant refresh_token."),
        ("client.refresh.optional", "MUST", "Clients do not assume that they get refresh tokens."),
    ]),
    bound(
        OVERVIEW, "Refresh Tokens", "offline-access", "SHOULD", "No challenge and no metadata names offline_access.",
        DOOR + "test_refresh_tokens_and_texts_that_are_no_scopes_are_in_no_challenge",
    ),
    bound(
        OVERVIEW, "Error Handling", "statuses", "MUST",
        "401 for no or an invalid token, 403 for insufficient scopes, 400 for a malformed request.",
        DOOR + "test_request_without_a_token_is_challenged_with_metadata_and_scopes",
        DOOR + "test_refusal_names_all_scopes_at_once_with_the_metadata",
        DOOR + "test_malformed_authorization_is_400",
    ),
    bound(
        OVERVIEW, "Runtime Insufficient Scope Errors", "insufficient-scope", "SHOULD",
        "A token without the scopes of a call is answered with 403, insufficient_scope, scopes and metadata.",
        DOOR + "test_refusal_names_all_scopes_at_once_with_the_metadata",
        DOOR + "test_refusal_has_the_same_form_in_a_session_and_covers_a_whole_batch",
    ),
    bound(
        OVERVIEW, "Runtime Insufficient Scope Errors", "insufficient-scope.needed", "SHOULD",
        "The challenge has the scopes that the operation needs.",
        DOOR + "test_refusal_names_all_scopes_at_once_with_the_metadata",
    ),
    bound(
        OVERVIEW, "Runtime Insufficient Scope Errors", "insufficient-scope.at-once", "SHOULD",
        "One challenge has all of them.",
        DOOR + "test_refusal_names_all_scopes_at_once_with_the_metadata",
        DOOR + "test_refusal_has_the_same_form_in_a_session_and_covers_a_whole_batch",
    ),
    bound(
        OVERVIEW, "Runtime Insufficient Scope Errors", "insufficient-scope.consistent", "SHOULD",
        "The scopes of a challenge are chosen in one way: those of the alternative that lacks fewest.",
        RIGHTS + "test_demanded_scopes_are_those_of_the_nearest_alternative",
    ),
    bound(
        OVERVIEW, "Runtime Insufficient Scope Errors", "insufficient-scope.experience", "SHOULD",
        "Users are asked as rarely as possible: for all tools at first, and once for a call.",
        SIGN_IN + "test_official_client_steps_up_for_a_call_that_needs_more",
    ),
    *unbound(OVERVIEW, "Step-Up Authorization Flow", NOT_A_CLIENT, [
        ("client.step-up", "SHOULD", "Clients ask for a token with more scopes."),
        ("client.step-up.user", "SHOULD", "Clients of a user try the step-up."),
        ("client.step-up.limit", "SHOULD", "Clients limit the number of attempts."),
        ("client.step-up.track", "SHOULD", "Clients remember attempts for a resource and an operation."),
    ]),
    bound(
        OVERVIEW, "Step-Up Authorization Flow", "hierarchies", "MUST", "A broader scope implies narrower ones.",
        RIGHTS + "test_broader_scope_includes_narrower_ones",
        RIGHTS + "test_settings_decide_over_the_document_at_the_door",
    ),
    bound(
        OVERVIEW, "Security Considerations", "security", "MUST", "The rules of the page about security are followed.",
        TOKENS + "test_signatures_that_prove_nothing_are_refused",
        DOOR + "test_session_belongs_to_its_subject",
    ),
)  # fmt: skip

ON_DISCOVERY: Final = (
    bound(
        DISCOVERY, "Authorization Server Location", "location", "MUST",
        "Protected Resource Metadata says where the authorization server is.",
        DOOR + "test_metadata_is_served_at_both_well_known_places_to_anybody",
    ),
    bound(
        DISCOVERY, "Authorization Server Location", "location.servers", "MUST",
        "It has authorization_servers with at least one entry.",
        DOOR + "test_metadata_is_served_at_both_well_known_places_to_anybody",
    ),
    *unbound(DISCOVERY, "Authorization Server Location", NOT_A_CLIENT, [
        ("client.state-per-server", "MUST", "Clients keep registrations apart by authorization server."),
        ("client.no-shared-credentials", "MUST", "Clients do not show one server's credentials to another."),
    ]),
    bound(
        DISCOVERY, "Protected Resource Metadata Discovery Requirements", "metadata.places", "MUST",
        "A 401 names the metadata, and both well-known places serve it.",
        DOOR + "test_request_without_a_token_is_challenged_with_metadata_and_scopes",
        DOOR + "test_metadata_is_served_at_both_well_known_places_to_anybody",
    ),
    *unbound(DISCOVERY, "Protected Resource Metadata Discovery Requirements", NOT_A_CLIENT, [
        ("client.metadata.both", "MUST", "Clients support both ways to find the metadata."),
        ("client.metadata.fallback", "MUST", "Clients fall back to the well-known places in their order."),
        ("client.challenges", "MUST", "Clients read WWW-Authenticate and react to 401."),
    ]),
    bound(
        DISCOVERY, "Authorization Server Metadata Discovery", "metadata.several", "MUST",
        "Metadata of the authorization server is searched at several places; the bridge needs its keys.",
        TOKENS + "test_metadata_is_searched_in_the_order_of_the_specification",
    ),
    bound(
        DISCOVERY, "Authorization Server Metadata Discovery", "metadata.path", "MUST",
        "For an issuer with a path there are three places, in this order.",
        TOKENS + "test_metadata_is_searched_in_the_order_of_the_specification",
    ),
    bound(
        DISCOVERY, "Authorization Server Metadata Discovery", "metadata.no-path", "MUST",
        "For an issuer without one there are two.",
        TOKENS + "test_metadata_is_searched_in_the_order_of_the_specification",
    ),
    bound(
        DISCOVERY, "Authorization Server Metadata Discovery", "metadata.issuer", "MUST",
        "Metadata is validated, and that of another issuer is not used.",
        TOKENS + "test_authorization_server_that_cannot_be_used_is_503", keywords=4,
    ),
)  # fmt: skip

ON_REGISTRATION: Final = (
    *unbound(REGISTRATION, "Client Registration", NOT_A_CLIENT, [
        ("client.registration.order", "SHOULD", "Clients try the kinds of registration in an order."),
        ("client.registration.documents", "SHOULD", "Clients and authorization servers support metadata documents."),
        ("client.documents", "MUST", "Implementations of metadata documents follow their draft."),
        ("client.documents.https", "MUST", "Clients host the document at an https URL."),
        ("client.documents.path", "MUST", "The URL has a path."),
        ("client.documents.properties", "MUST", "The document has client_id, client_name and redirect_uris."),
        ("client.documents.same-id", "MUST", "Its client_id is its URL."),
    ]),
    *unbound(REGISTRATION, "Implementation Requirements", NOT_AN_AUTHORIZATION_SERVER, [
        ("documents.fetched", "SHOULD", "Authorization servers fetch the documents of such ids."),
        ("documents.same-id", "MUST", "They compare client_id with the URL."),
        ("documents.cached", "SHOULD", "They cache documents as HTTP says."),
        ("documents.redirects", "MUST", "They compare redirect URIs with the document."),
        ("documents.valid", "MUST", "They validate the document."),
        ("documents.security", "SHOULD", "They follow the security considerations of the draft."),
    ]),
    *unbound(REGISTRATION, "Client Registration", NOT_A_CLIENT, [
        ("client.documents.advertised", "SHOULD", "Clients check whether the server supports metadata documents."),
        ("client.pre-registered", "SHOULD", "Clients have an option for static credentials."),
        ("client.application-type", "MUST", "Clients register with a fitting application_type."),
        ("client.application-type.native", "SHOULD", "Programs on the user's machine are native."),
        ("client.application-type.web", "SHOULD", "Web applications are web."),
        ("client.registration.failures", "MUST", "Clients handle failed registrations."),
        ("client.registration.errors", "SHOULD", "Clients show an error that means something."),
        ("client.binding", "MUST", "Clients bind credentials to the server that issued them."),
        ("client.binding.no-reuse", "MUST", "Clients do not use them at another server."),
        ("client.binding.again", "MUST", "Clients register anew there."),
        ("client.binding.error", "SHOULD", "Clients show an error for pre-registered credentials of another server."),
    ]),
)  # fmt: skip

ON_SECURITY: Final = (
    bound(
        SECURITY, "Introduction", "security.considered", "MUST", "The rules of this page are considered.",
        TOKENS + "test_signatures_that_prove_nothing_are_refused",
    ),
    bound(
        SECURITY, "Introduction", "security.practices", "MUST", "OAuth 2.1 §7 is followed.",
        TOKENS + "test_signatures_that_prove_nothing_are_refused",
        TOKENS + "test_oversized_token_is_refused_before_it_is_read",
        DOOR + "test_options_that_contradict_each_other_are_refused",
    ),
    *unbound(SECURITY, "Token Audience Binding and Validation", NOT_A_CLIENT, [
        ("client.security.resource", "MUST", "Clients send the parameter resource."),
    ]),
    bound(
        SECURITY, "Token Audience Binding and Validation", "security.audience", "MUST",
        "Tokens are validated to have been issued for this server.",
        TOKENS + "test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason",
    ),
    bound(
        SECURITY, "Token Theft", "security.storage", "MUST",
        "Tokens are stored securely: of callers the bridge keeps digests only; those of its pages are sealed.",
        DOOR + "test_invalid_token_is_challenged_with_its_reason_but_never_repeated",
        DOOR + "test_no_token_is_kept_or_logged",
        "tests/oauth/test_sealed_store.py::test_nobody_else_reads_a_value_or_moves_it_to_another_user",
        "tests/ui/test_door.py::test_cookies_are_for_this_host_and_its_page_alone",
        "tests/oauth/test_canaries.py::test_credentials_of_users_are_only_where_they_belong",
    ),
    *unbound(SECURITY, "Token Theft", NOT_AN_AUTHORIZATION_SERVER, [
        ("security.short-lived", "SHOULD", "Access tokens live for a short time."),
        ("security.rotation", "MUST", "Refresh tokens of public clients rotate."),
    ]),
    bound(
        SECURITY, "Communication Security", "security.communication", "MUST",
        "The bridge asks an authorization server over https only, or on this machine.",
        DOOR + "test_options_that_contradict_each_other_are_refused",
        TOKENS + "test_addresses_that_metadata_names_must_be_https",
    ),
    bound(
        SECURITY, "Communication Security", "security.https", "MUST",
        "Endpoints of authorization servers are https; others are not asked.",
        TOKENS + "test_addresses_that_metadata_names_must_be_https",
    ),
    *unbound(SECURITY, "Communication Security", NOT_A_CLIENT, [
        ("client.security.redirects", "MUST", "Redirect URIs are localhost or https."),
    ]),
    *unbound(SECURITY, "Authorization Code Protection", NOT_A_CLIENT, [
        ("client.pkce", "MUST", "Clients implement PKCE."),
        ("client.pkce.verified", "MUST", "Clients check that the server supports it."),
        ("client.pkce.s256", "MUST", "Clients use S256."),
        ("client.pkce.metadata", "MUST", "Clients take this from metadata."),
        ("client.pkce.absent", "MUST", "Clients stop where code_challenge_methods_supported is absent."),
        ("client.pkce.oidc", "MUST", "Clients look for it in OpenID Connect metadata too."),
        ("client.pkce.oidc-absent", "MUST", "Clients stop where it is absent there."),
    ]),
    *unbound(SECURITY, "Authorization Code Protection", NOT_AN_AUTHORIZATION_SERVER, [
        ("security.pkce", "MUST", "OpenID Connect metadata has code_challenge_methods_supported."),
    ]),
    *unbound(SECURITY, "Open Redirection", NOT_A_CLIENT, [
        ("client.redirects", "MUST", "Clients have registered redirect URIs."),
        ("client.state", "SHOULD", "Clients use and verify state."),
    ]),
    *unbound(SECURITY, "Open Redirection", NOT_AN_AUTHORIZATION_SERVER, [
        ("security.redirects.exact", "MUST", "Authorization servers compare redirect URIs exactly."),
        ("security.redirects.untrusted", "MUST", "They do not redirect to untrusted URIs."),
        ("security.redirects.automatic", "SHOULD", "They redirect by themselves only to what they trust."),
    ]),
    *unbound(SECURITY, "Client ID Metadata Document Security", NOT_AN_AUTHORIZATION_SERVER, [
        ("security.documents", "MUST", "Authorization servers consider the risks of metadata documents."),
        ("security.documents.ssrf", "SHOULD", "They consider requests to internal addresses."),
        ("security.documents.localhost", "SHOULD", "They warn of redirects to localhost only."),
        ("security.documents.hostname", "MUST", "They show the host of the redirect URI."),
    ]),
    *unbound(SECURITY, "Confused Deputy Problem", NOT_A_SIGN_IN, [
        ("security.deputy", "MUST", "Proxies with a static client id ask for consent for each client."),
    ]),
    bound(
        SECURITY, "Access Token Privilege Restriction", "security.before", "MUST",
        "Tokens are validated before the request is processed.",
        TOKENS + "test_oversized_token_is_refused_before_it_is_read",
        DOOR + "test_token_is_checked_before_the_body_is_read",
    ),
    bound(
        SECURITY, "Access Token Privilege Restriction", "security.guidelines", "MUST", "OAuth 2.1 §5.2 is followed.",
        TOKENS + "test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason",
    ),
    bound(
        SECURITY, "Access Token Privilege Restriction", "security.only-own", "MUST",
        "Only tokens for this server are accepted, and those without it in their audience are refused.",
        TOKENS + "test_tokens_that_are_not_for_this_server_now_are_refused_with_the_reason",
        SIGN_IN + "test_tokens_of_the_same_issuer_for_another_server_are_refused", keywords=2,
    ),
    bound(
        SECURITY, "Access Token Privilege Restriction", "security.no-passthrough", "MUST",
        "The client's token is not passed on to the API.",
        SIGN_IN + "test_official_client_signs_in_lists_and_calls",
        "tests/oauth/test_canaries.py::test_credentials_of_users_are_only_where_they_belong",
    ),
    *unbound(SECURITY, "Access Token Privilege Restriction", NOT_A_CLIENT, [
        ("client.security.indicators", "MUST", "Clients implement resource indicators."),
    ]),
)  # fmt: skip

AUTHORIZATION: Final = ON_OVERVIEW + ON_DISCOVERY + ON_REGISTRATION + ON_SECURITY
