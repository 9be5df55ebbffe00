// The partner for outdoor data: one POST for each webhook job, under an OAuth2 token.
import type { EgressFetch } from '@millrace/egress'
import { Unrecoverable } from 'millrace'
import type { Addresses } from '../outside/addresses.ts'
import { askedToWait } from '../outside/asked-to-wait.ts'
import type { Entry } from './entries.ts'
import { UtpToken } from './token.ts'

export interface Told {
  /** Of the job: the partner counts a repeated one once. */
  readonly webhookId: string
  readonly objects: readonly Entry[]
  readonly signal: AbortSignal
}

const BUDGET = { headersMs: 20_000, totalMs: 30_000, maxBytes: 1_000_000, maxRedirects: 0 }
/** They say that the partner will never take this body. */
const REFUSALS = [400, 404, 422]

export class UtpClient {
  readonly #utp: Addresses['utp']
  readonly #fetch: EgressFetch
  readonly #token: UtpToken

  constructor(utp: Addresses['utp'], fetch: EgressFetch) {
    this.#utp = utp
    this.#fetch = fetch
    this.#token = new UtpToken(utp, fetch)
  }

  /** The status of the answer. Throws Unrecoverable where another try cannot help, RetryAfter as long as the partner asks. */
  async tell(told: Told): Promise<number> {
    const first = await this.#post(told)
    // The token may have been withdrawn: one new one, then it is a failure.
    const response = first.status === 401 ? await this.#post(told) : first
    await response.body?.cancel()
    if (response.ok) return response.status
    throw failureOf(response)
  }

  async #post({ webhookId, objects, signal }: Told): Promise<Response> {
    const { url, subscriptionKey, sourceEnv } = this.#utp
    const token = await this.#token.get()
    const response = await this.#fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'ocp-apim-subscription-key': subscriptionKey,
        'webhook-id': webhookId,
      },
      body: JSON.stringify({ source: 'lipas', sourceEnv, objects }),
      ...{ signal, budget: BUDGET },
    })
    if (response.status === 401) this.#token.forget(token)
    return response
  }
}

function failureOf(response: Response): Error {
  const { status } = response
  const wait = askedToWait(response, { service: 'The partner', limit: 'utp' })
  if (wait !== undefined) return wait
  if (REFUSALS.includes(status)) return new Unrecoverable(`The partner refused the objects with ${status}.`)
  return Object.assign(new Error(`The partner answered ${status}.`), { status })
}
