// The Mastodon API of any server: the newest own posts of an account. Its tokens hold until somebody revokes them.
import { readJson } from '@millrace/egress'
import { plainText } from '../feeds/entry-text.ts'
import type { Outside } from '../outside/outside.ts'
import { ServiceFailed } from '../outside/service-call.ts'
import { type Ask, MOST_TEXT, type Network, postOf, postsOf, TokenRefused, tooMany } from './network.ts'

const NAME = 'Mastodon'
const WHO = '/api/v1/accounts/verify_credentials'
const STATUSES = 'statuses?exclude_replies=true&exclude_reblogs=true&limit=20'

const FIVE_MINUTES_MS = 300_000
const BUDGET = { headersMs: 10_000, totalMs: 20_000, maxBytes: 2_000_000, maxRedirects: 0 }

export class Mastodon implements Network {
  readonly #outside: Outside

  constructor(outside: Outside) {
    this.#outside = outside
  }

  async posts(ask: Ask) {
    const { id } = (await this.#get(WHO, ask)) as { id?: unknown }
    if (typeof id !== 'string' || !/^\w+$/.test(id)) throw new ServiceFailed(NAME, 'answered without an account')
    const list = await this.#get(`/api/v1/accounts/${id}/${STATUSES}`, ask)
    return postsOf(NAME, list, ({ id, content, url, created_at: postedAt }) =>
      postOf({ id, text: textOf(content), url, postedAt }),
    )
  }

  async #get(path: string, { baseUrl, token, signal }: Ask): Promise<unknown> {
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` }
    const response = await this.#outside.fetch(`${baseUrl}${path}`, { signal, headers, budget: BUDGET })
    if (response.ok)
      return readJson(response).catch((cause: unknown) => {
        throw new ServiceFailed(NAME, 'answered with something that is not JSON', { cause })
      })
    await response.body?.cancel()
    if (response.status === 401) throw new TokenRefused(`${NAME} says that the token is not valid any more.`)
    if (response.status === 429) tooMany(NAME, resetIn(response))
    throw new ServiceFailed(NAME, `answered ${response.status}`, { status: response.status })
  }
}

/** X-RateLimit-Reset is a time. */
function resetIn({ headers }: Response): number {
  const at = Date.parse(headers.get('x-ratelimit-reset') ?? '')
  return Number.isNaN(at) ? FIVE_MINUTES_MS : at - Date.now()
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? (plainText({ value: content, kind: 'html' }, MOST_TEXT) ?? '') : ''
