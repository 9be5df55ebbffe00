// Stands in for Keycloak and for the providers of integrations: a real OpenID provider, and three paths of the admin interface.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { oidcMemory } from './oidc-memory.ts'

export const KEYCLOAK = { realm: 'dartwing', clientId: 'dartwing', clientSecret: 'a-secret-of-the-sandbox' } as const
const INTEGRATION = { clientId: 'integration', clientSecret: 'another-secret-of-the-sandbox' } as const

export interface KeycloakOptions {
  /** How long an admin token is good. Default 60 s. */
  readonly adminTokenSeconds?: number
  /** How long an access token of an integration is good. Default 600 s. */
  readonly accessTokenSeconds?: number
}

interface User {
  readonly groups: string[]
  readonly sessions: string[]
}

export interface KeycloakStandIn {
  readonly url: string
  readonly issuer: string
  readonly integration: typeof INTEGRATION
  /** How often the token endpoint was called. */
  readonly tokenCalls: number
  /** Returns the id of a new user, who has as many sessions. */
  addUser(groups: readonly string[], sessions: number): string
  /** Ends a session there; returns how many are left. */
  endSession(user: string): number
  removeUser(user: string): void
  /** From now on no admin token of before is good. */
  forgetAdminTokens(): void
  /** A grant that a user of an integration has given. */
  newRefreshToken(): Promise<string>
  stop(): Promise<void>
}

export async function startKeycloak({
  adminTokenSeconds = 60,
  accessTokenSeconds = 600,
}: KeycloakOptions = {}): Promise<KeycloakStandIn> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const mount = `/realms/${KEYCLOAK.realm}`
  const provider = await providerAt(`${url}${mount}`, { adminTokenSeconds, accessTokenSeconds })
  const oidc = provider.callback()
  const users = new Map<string, User>()
  let [tokenCalls, goodSince] = [0, 0]

  const admin = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const found = await provider.ClientCredentials.find(token)
    if (found === undefined || found.isExpired || (found.iat ?? 0) < goodSince)
      return { status: 401, body: { error: 'HTTP 401 Unauthorized' } }
    const [, id = '', what] =
      new RegExp(`^/admin/realms/${KEYCLOAK.realm}/users/([\\w-]+)(?:/(sessions|groups))?$`).exec(request.url ?? '') ??
      []
    const user = users.get(id)
    if (user === undefined) return { status: 404, body: { error: 'User not found' } }
    if (what === 'groups')
      return { status: 200, body: user.groups.map((name) => ({ id: name, name, path: `/${name}` })) }
    if (what === 'sessions') return { status: 200, body: user.sessions.map((session) => ({ id: session, userId: id })) }
    return { status: 200, body: { id, username: `user-${id}`, enabled: true } }
  }

  server.on('request', (request: IncomingMessage & { originalUrl?: string }, response: ServerResponse) => {
    if (request.url?.startsWith(mount)) {
      if (request.url === `${mount}/token`) tokenCalls += 1
      request.originalUrl = request.url
      request.url = request.url.slice(mount.length)
      oidc(request, response)
      return
    }
    admin(request).then(
      ({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => response.writeHead(500).end(),
    )
  })
  return {
    ...{ url, issuer: `${url}${mount}`, integration: INTEGRATION },
    get tokenCalls() {
      return tokenCalls
    },
    addUser(groups, sessions) {
      const id = randomUUID()
      users.set(id, { groups: [...groups], sessions: Array.from({ length: sessions }, () => randomUUID()) })
      return id
    },
    endSession(user) {
      users.get(user)?.sessions.shift()
      return users.get(user)?.sessions.length ?? 0
    },
    removeUser: (user) => void users.delete(user),
    forgetAdminTokens() {
      goodSince = Math.floor(Date.now() / 1_000) + 1
    },
    newRefreshToken: () => newRefreshToken(provider),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function providerAt(
  issuer: string,
  { adminTokenSeconds, accessTokenSeconds }: Required<KeycloakOptions>,
): Promise<Provider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return new Provider(issuer, {
    adapter: oidcMemory(),
    clients: [
      {
        ...{ client_id: KEYCLOAK.clientId, client_secret: KEYCLOAK.clientSecret, grant_types: ['client_credentials'] },
        ...{ redirect_uris: [], response_types: [], token_endpoint_auth_method: 'client_secret_post' },
      },
      {
        ...{ client_id: INTEGRATION.clientId, client_secret: INTEGRATION.clientSecret },
        ...{
          grant_types: ['authorization_code', 'refresh_token'],
          redirect_uris: ['https://dartwing.example/connected'],
        },
        ...{ response_types: ['code'], token_endpoint_auth_method: 'client_secret_post' },
      },
    ],
    jwks: { keys: [await exportJWK(privateKey)] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    ttl: { ClientCredentials: adminTokenSeconds, AccessToken: accessTokenSeconds, RefreshToken: 86_400, Grant: 86_400 },
    // A token that is used again ends its grant, as providers do it.
    rotateRefreshToken: true,
  })
}

async function newRefreshToken(provider: Provider): Promise<string> {
  const accountId = randomUUID()
  const grant = new provider.Grant({ accountId, clientId: INTEGRATION.clientId })
  grant.addOIDCScope('offline_access')
  const grantId = await grant.save()
  const client = await provider.Client.find(INTEGRATION.clientId)
  if (client === undefined) throw new Error('The sandbox does not know its own client.')
  const token = new provider.RefreshToken({
    ...{ accountId, client, grantId, scope: 'offline_access', gty: 'authorization_code' },
  } as never)
  return token.save()
}
