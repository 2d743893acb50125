// An authorization server on 127.0.0.1 for the tests: oidc-provider with RFC 8414 metadata, PKCE, device codes,
// introspection, revocation, and JWT access tokens for the resource that is asked for. It takes one JSON object: `port`
// (0: any), `resource`, `scopes`, `lifetime` (seconds of an access token), `redirects`, `secret` (of its client),
// `cookies` (the first characters of their names: browsers have one jar for all ports of a host), `idp` (an identity
// provider whose assertions it takes). Prints its issuer, ends with its stdin. Its sign-in pages accept any name.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const job = JSON.parse(process.argv[2] ?? '{}');
const scopes = (job.scopes ?? ['pets:read', 'pets:write']).join(' ');
const lifetime = job.lifetime ?? 300;
const server = createServer();

server.listen(job.port ?? 0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'bridge',
      client_secret: job.secret ?? 'a-secret-of-at-least-thirty-two-characters',
      grant_types: [
        'client_credentials', 'authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code',
      ],
      redirect_uris: job.redirects ?? ['http://127.0.0.1:9999/callback'],
      response_types: ['code'],
    }],
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
          scope: scopes, audience, accessTokenFormat: 'jwt', accessTokenTTL: lifetime, jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});

process.stdin.on('end', () => process.exit(0)).resume();
