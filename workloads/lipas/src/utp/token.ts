// The partner's access token, by OAuth2 client credentials: cached until a minute before its end, one refresh at a time.
import { type EgressFetch, readJson } from '@millrace/egress'
import { z } from 'zod'
import type { Addresses } from '../outside/addresses.ts'

const answer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().default(3_600) })
const EARLY_MS = 60_000
const BUDGET = { totalMs: 15_000, maxBytes: 100_000, maxRedirects: 0 }

interface Token {
  readonly text: string
  readonly untilMs: number
}

export class UtpToken {
  readonly #utp: Addresses['utp']
  readonly #fetch: EgressFetch
  #token: Token | undefined
  #refresh: Promise<Token> | undefined

  constructor(utp: Addresses['utp'], fetch: EgressFetch) {
    this.#utp = utp
    this.#fetch = fetch
  }

  async get(): Promise<string> {
    if (this.#token !== undefined && performance.now() < this.#token.untilMs) return this.#token.text
    // Not bound to one job's signal: others wait for the same token.
    this.#refresh ??= this.#ask().finally(() => {
      this.#refresh = undefined
    })
    this.#token = await this.#refresh
    return this.#token.text
  }

  /** The partner does not take it any more. Another job may have got a new one meanwhile, which stays. */
  forget(text: string): void {
    if (this.#token?.text === text) this.#token = undefined
  }

  async #ask(): Promise<Token> {
    const { tokenUrl, clientId, clientSecret } = this.#utp
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    })
    const response = await this.#fetch(tokenUrl, { method: 'POST', body, budget: BUDGET })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`The partner's token service answered ${response.status}.`)
    }
    const { access_token: text, expires_in: seconds } = answer.parse(await readJson(response))
    return { text, untilMs: performance.now() + Math.max(0, seconds * 1_000 - EARLY_MS) }
  }
}
