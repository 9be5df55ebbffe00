// The Instagram API: the newest media of an account, and a fresh token before the old one expires after 60 days.
import { readJson } from '@millrace/egress'
import type { Outside } from '../outside/outside.ts'
import { ServiceFailed } from '../outside/service-call.ts'
import { type Ask, type FreshToken, type Network, postOf, postsOf, TokenRefused, tooMany } from './network.ts'

const NAME = 'Instagram'
const MEDIA = '/me/media?fields=id,caption,permalink,timestamp&limit=20'
const REFRESH = '/refresh_access_token?grant_type=ig_refresh_token'
/** "Invalid OAuth access token": expired, revoked, or of a changed password. */
const TOKEN_CODE = 190
/** Of the application, of the user, of the page, and of one kind of call. */
const RATE_CODES = [4, 17, 32, 613]
const HOUR_MS = 3_600_000
const BUDGET = { headersMs: 10_000, totalMs: 20_000, maxBytes: 2_000_000, maxRedirects: 0 }

interface Failure {
  readonly error?: { readonly code?: unknown; readonly message?: unknown }
}

export class Instagram implements Network {
  readonly #outside: Outside

  constructor(outside: Outside) {
    this.#outside = outside
  }

  async posts(ask: Ask) {
    const { data } = (await this.#get(MEDIA, ask)) as { data?: unknown }
    return postsOf(NAME, data, ({ id, caption, permalink, timestamp }) =>
      postOf({ id, text: caption, url: permalink, postedAt: timestamp }),
    )
  }

  readonly refresh = async (ask: Ask, now: Date): Promise<FreshToken> => {
    const { access_token: token, expires_in: seconds } = (await this.#get(REFRESH, ask)) as Record<string, unknown>
    if (typeof token !== 'string' || token === '' || typeof seconds !== 'number')
      throw new ServiceFailed(NAME, 'answered without a fresh token')
    return { token, expiresAt: new Date(now.getTime() + seconds * 1_000) }
  }

  /** The token goes into a header: addresses get into logs. */
  async #get(path: string, { baseUrl, token, signal }: Ask): Promise<unknown> {
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` }
    const response = await this.#outside.fetch(`${baseUrl}${path}`, { signal, headers, budget: BUDGET })
    const body = await readJson(response).catch((cause: unknown) => {
      throw new ServiceFailed(NAME, `answered ${response.status} with something that is not JSON`, { cause })
    })
    if (response.ok) return body
    const code = (body as Failure | null)?.error?.code
    if (code === TOKEN_CODE) throw new TokenRefused(`${NAME} says that the token is not valid any more.`)
    if (response.status === 429 || RATE_CODES.includes(Number(code))) tooMany(NAME, HOUR_MS)
    throw new ServiceFailed(NAME, `answered ${response.status}`, { status: response.status })
  }
}
