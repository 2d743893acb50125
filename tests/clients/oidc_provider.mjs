// An authorization server on 127.0.0.1 for the tests: oidc-provider with RFC 8414 metadata, PKCE, device codes,
// introspection, revocation, and access tokens for the resource that is asked for. It takes one JSON object: `port`
// (0: any), `resource`, `scopes`, `lifetime` (seconds of an access token), `format` (of access tokens: jwt, opaque),
// `redirects`, `secret` (of its client), `cookies` (the first characters of their names: browsers have one jar for all
// ports of a host), `exchange` (RFC 8693 and RFC 7523 are grants of it, also for an identity assertion: ID-JAG), `idp`
// (the identity provider whose tokens and assertions it takes then, its own by default), `issuer` (where a proxy stands
// in front of it). Prints its issuer, ends with its stdin. Its sign-in pages accept any name.
import { createServer } from 'node:http';
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import Provider from 'oidc-provider';

const job = JSON.parse(process.argv[2] ?? '{}');
const scopes = (job.scopes ?? ['pets:read', 'pets:write']).join(' ');
const lifetime = job.lifetime ?? 300;
const server = createServer();
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const keys = job.exchange ? await generateKeyPair('RS256', { extractable: true }) : null;

server.listen(job.port ?? 0, '127.0.0.1', async () => {
  const own = `http://127.0.0.1:${server.address().port}`;
  const issuer = job.issuer ?? own;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'bridge',
      client_secret: job.secret ?? 'a-secret-of-at-least-thirty-two-characters',
      grant_types: [
        'client_credentials', 'authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code',
        ...(job.exchange ? [EXCHANGE, BEARER] : []),
      ],
      redirect_uris: job.redirects ?? ['http://127.0.0.1:9999/callback'],
      response_types: ['code'],
    }],
    ...(keys && { jwks: { keys: [{ ...(await exportJWK(keys.privateKey)), kid: 'one', use: 'sig', alg: 'RS256' }] } }),
    scopes: ['openid', 'offline_access', ...scopes.split(' ')],
    ...(job.cookies && {
      cookies: {
        names: Object.fromEntries(['interaction', 'resume', 'session'].map((name) => [name, `${job.cookies}_${name}`])),
      },
    }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      deviceFlow: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => job.resource ?? 'http://127.0.0.1:8000/mcp',
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, audience) => ({
          scope: scopes, audience, accessTokenFormat: job.format ?? 'jwt', accessTokenTTL: lifetime,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  if (keys) addExchanges(provider, issuer);
  server.on('request', provider.callback());
  console.log(issuer);
});

process.stdin.on('end', () => process.exit(0)).resume();

// Grants that take a token of `job.idp`: it is verified by that provider's keys. An ID-JAG is for the authorization server
// that `audience` names, and for its client; it is taken once.
function addExchanges(provider, issuer) {
  const idp = job.idp ?? issuer;
  const trusted = createRemoteJWKSet(new URL(`${idp}/jwks`));
  const seen = new Set();
  const read = (token, rules) => jwtVerify(token, trusted, { issuer: idp, ...rules }).then(({ payload }) => payload);
  const sign = (claims, type, audience, subject) => new SignJWT({ ...claims, jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: 'RS256', typ: type, kid: 'one' }).setIssuer(issuer).setAudience(audience)
    .setSubject(subject).setIssuedAt().setExpirationTime(`${lifetime}s`).sign(keys.privateKey);
  const answer = async (ctx, subject) => {
    const { client, params } = ctx.oidc;
    const claims = { client_id: client.clientId, scope: params.scope ?? scopes };
    const token = await sign(claims, 'at+jwt', params.resource ?? job.resource ?? issuer, subject);
    ctx.body = {
      access_token: token, issued_token_type: 'urn:ietf:params:oauth:token-type:access_token', token_type: 'Bearer',
      expires_in: lifetime,
    };
  };
  const grant = (take) => async (ctx) => {
    try {
      await take(ctx);
    } catch (error) {
      ctx.status = 400;
      ctx.body = { error: 'invalid_grant', error_description: String(error.message) };
    }
  };
  provider.registerGrantType(EXCHANGE, grant(async (ctx) => {
    const { client, params } = ctx.oidc;
    const { sub } = await read(params.subject_token, {});
    if (params.requested_token_type !== ID_JAG) return answer(ctx, sub);
    const claims = { client_id: client.clientId, scope: params.scope, resource: params.resource };
    const assertion = await sign(claims, 'oauth-id-jag+jwt', params.audience, sub);
    ctx.body = { access_token: assertion, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: lifetime };
  }), ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope']);
  provider.registerGrantType(BEARER, grant(async (ctx) => {
    const { client, params } = ctx.oidc;
    const claims = await read(params.assertion, { audience: issuer, typ: 'oauth-id-jag+jwt' });
    if (claims.client_id !== client.clientId || seen.has(claims.jti)) throw new Error('the assertion is not for this');
    seen.add(claims.jti);
    return answer(ctx, claims.sub);
  }), ['assertion', 'audience', 'resource', 'scope']);
}
