// Who is calling: by a token, by the program's own auth, by a session of a browser, or as a developer on this machine.
import type { Millrace } from 'millrace'
import type { AuthFailures } from './auth-failures.ts'
import type { Caller } from './caller.ts'
import { Refusal } from './problem.ts'

/** The caller as your own auth knows it. `tenants`: only theirs; leave it out for all. */
export interface OwnCaller {
  readonly name: string
  readonly role: Caller['role']
  readonly tenants?: readonly string[] | null
}

export type OwnAuth = (request: Request) => OwnCaller | null | undefined | Promise<OwnCaller | null | undefined>

export interface AuthOptions {
  readonly auth?: OwnAuth | undefined
  /** While there is no token, whoever reaches this loopback address directly is admin. */
  readonly isDevelopment: boolean
  readonly failures: AuthFailures
}

export const SESSION_COOKIE = 'millrace_session'
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

export class Authentication {
  readonly #millrace: Millrace
  readonly #options: AuthOptions

  constructor(millrace: Millrace, options: AuthOptions) {
    this.#millrace = millrace
    this.#options = options
  }

  /** Throws a Refusal with 401 or 429. `source`: whose failures are counted together. */
  async callerOf(request: Request, source: string): Promise<Caller> {
    const { failures } = this.#options
    const bearer = bearerOf(request)
    const session = cookieOf(request)
    const secret = bearer ?? session
    if (secret !== undefined) failures.demandPatience(source, secret)
    const caller = await this.#find(request, bearer, session)
    if (caller !== undefined) {
      if (secret !== undefined) failures.succeeded(secret)
      return caller
    }
    if (secret !== undefined) failures.failed(source)
    throw new Refusal(
      401,
      secret === undefined ? 'token_missing' : 'token_invalid',
      secret === undefined
        ? 'This needs a token: send `Authorization: Bearer …`, or log in at /admin/login. `millrace tokens create` makes one.'
        : 'The token or session is unknown, has expired or was revoked. `millrace tokens create` makes a new token.',
    )
  }

  async #find(request: Request, bearer: string | undefined, session: string | undefined): Promise<Caller | undefined> {
    const token = bearer === undefined ? undefined : await this.#millrace.tokens.verify(bearer)
    if (token !== undefined) return { ...pick(token), via: token.isSession ? 'session' : 'token' }
    const own = await this.#options.auth?.(request)
    if (own) {
      // Nothing is theirs: an empty list must never be read as "all".
      if (own.tenants?.length === 0)
        throw new Refusal(403, 'no_tenant', `${own.name} belongs to no tenant, so there is nothing to see here.`)
      return { name: own.name, role: own.role, tenants: own.tenants ?? null, via: 'own' }
    }
    if (bearer !== undefined) return undefined
    if (session !== undefined) {
      const found = await this.#millrace.tokens.verify(session)
      // A token in a cookie was not put there by the login.
      if (found?.isSession) return { ...pick(found), via: 'session' }
    }
    return (await this.#isDeveloper(request))
      ? { name: 'developer', role: 'admin', tenants: null, via: 'development' }
      : undefined
  }

  /** Directly from this machine: a name that an attacker's DNS could point here does not count, nor does a proxy. */
  async #isDeveloper({ headers }: Request): Promise<boolean> {
    if (!this.#options.isDevelopment) return false
    const host = (headers.get('host') ?? '').replace(/:\d+$/, '').toLowerCase()
    if (!LOCAL_HOSTS.has(host)) return false
    for (const name of headers.keys()) if (name === 'forwarded' || name.startsWith('x-forwarded-')) return false
    return !(await this.#millrace.tokens.any())
  }
}

const pick = ({ name, role, tenants }: Pick<Caller, 'name' | 'role' | 'tenants'>) => ({ name, role, tenants })

/** An empty one counts as none. */
export function bearerOf(request: Request): string | undefined {
  const [, secret] = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.get('authorization') ?? '') ?? []
  return secret
}

export function cookieOf(request: Request): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(';')
  const found = cookies.map((each) => each.trim()).find((each) => each.startsWith(`${SESSION_COOKIE}=`))
  return found?.slice(SESSION_COOKIE.length + 1) || undefined
}
