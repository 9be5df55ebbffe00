// The client of Keycloak's admin interface: who a user is, in which groups, and which sessions are open.
import type { EgressFetch } from '@millrace/egress'
import {
  allowInsecureRequests,
  type Configuration,
  clientCredentialsGrant,
  customFetch,
  discovery,
} from 'openid-client'
import { z } from 'zod'
import type { Addresses } from '../outside/addresses.ts'
import { KeycloakUnwell } from './answers.ts'

const groups = z.array(z.object({ name: z.string() }))
const sessions = z.array(z.object({ id: z.string() }))

export interface KeycloakUser {
  readonly groups: readonly string[]
  readonly sessions: readonly string[]
}

/** A token is dropped so long before it ends. */
const MARGIN_MS = 5_000

export class Keycloak {
  readonly #address: Addresses['keycloak']
  readonly #fetch: EgressFetch
  #configuration: Promise<Configuration> | undefined
  #token: { readonly value: string; readonly until: number } | undefined

  constructor(address: Addresses['keycloak'], fetch: EgressFetch) {
    this.#address = address
    this.#fetch = fetch
  }

  /** Undefined: Keycloak does not know the user. */
  async user(id: string, signal: AbortSignal): Promise<KeycloakUser | undefined> {
    const path = `/users/${encodeURIComponent(id)}`
    if ((await this.#get(path, z.object({ id: z.string() }), signal)) === undefined) return undefined
    const of = (await this.#get(`${path}/groups`, groups, signal)) ?? []
    const open = (await this.#get(`${path}/sessions`, sessions, signal)) ?? []
    return { groups: of.map(({ name }) => name), sessions: open.map(({ id: session }) => session) }
  }

  /** Undefined: there is no such thing. */
  async #get<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.output<Schema> | undefined> {
    const { url, realm } = this.#address
    const headers = { authorization: `Bearer ${await this.#accessToken()}`, accept: 'application/json' }
    const response = await this.#fetch(`${url}/admin/realms/${encodeURIComponent(realm)}${path}`, { headers, signal })
    const body = await response.text()
    if (response.status === 404) return undefined
    if (response.status === 401) {
      this.#token = undefined
      throw new KeycloakUnwell('Keycloak no longer accepts the token. The next attempt gets a new one.')
    }
    if (!response.ok) throw new KeycloakUnwell(`Keycloak answered ${response.status}.`)
    return schema.parse(JSON.parse(body))
  }

  async #accessToken(): Promise<string> {
    if (this.#token !== undefined && Date.now() < this.#token.until) return this.#token.value
    try {
      const { access_token: value, expires_in: seconds = 60 } = await clientCredentialsGrant(await this.#discovered())
      this.#token = { value, until: Date.now() + seconds * 1_000 - MARGIN_MS }
      return value
    } catch (error) {
      // The cause may hold what was sent.
      throw new KeycloakUnwell(`Keycloak gave no token: ${(error as Error).message}`)
    }
  }

  #discovered(): Promise<Configuration> {
    const { url, realm, clientId, clientSecret } = this.#address
    this.#configuration ??= discovered(
      { issuer: `${url}/realms/${encodeURIComponent(realm)}`, clientId, clientSecret },
      this.#fetch,
    )
    // What failed once may work later.
    this.#configuration.catch(() => {
      this.#configuration = undefined
    })
    return this.#configuration
  }
}

export interface OpenIdClient {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

/** What a provider says of itself. Without TLS only where the address says so, as for the sandbox. */
export function discovered(
  { issuer, clientId, clientSecret }: OpenIdClient,
  fetch: EgressFetch,
): Promise<Configuration> {
  const url = new URL(issuer)
  return discovery(url, clientId, clientSecret, undefined, {
    [customFetch]: (input: string, init: object) => fetch(input, init as RequestInit),
    ...(url.protocol === 'http:' && { execute: [allowInsecureRequests] }),
  })
}
