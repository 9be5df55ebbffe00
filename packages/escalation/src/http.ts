// One request to a channel, and what its answer means for the message.
import { EgressError, type EgressFetch, EgressRefused, retryAfterMs } from '@millrace/egress'
import { SendFailed, type Transports } from './channel.ts'

/** The connection never stood, so nothing can have arrived. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

export interface Post {
  readonly to: string
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function post({ fetch, signal }: Transports, { to, url, body, headers }: Post): Promise<void> {
  const response = await answerOf(fetch, url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal,
    redirect: 'error',
  }).catch((error: unknown) => {
    throw failureOf(to, error)
  })
  if (response.ok) {
    await response.body?.cancel().catch(() => {})
    return
  }
  const said = (await response.text().catch(() => '')).replaceAll(/\s+/g, ' ').slice(0, 200)
  const message = `${to} answered ${response.status}${said === '' ? '' : `: ${said}`}`
  const isPassing = response.status === 408 || response.status === 429 || response.status >= 500
  throw new SendFailed(isPassing ? 'missed' : 'refused', message, { retryAfterMs: retryAfterMs(response) })
}

const answerOf = (fetch: EgressFetch, url: string, init: RequestInit): Promise<Response> => fetch(url, init)

function failureOf(to: string, error: unknown): SendFailed {
  const message = `${to} could not be reached: ${error instanceof Error ? error.message : String(error)}`
  if (error instanceof EgressRefused) return new SendFailed('refused', message, { cause: error })
  return new SendFailed(wasNeverSent(error) ? 'missed' : 'unknown', message, { cause: error })
}

function wasNeverSent(error: unknown): boolean {
  if (error instanceof EgressError && error.code === 'dns_failed') return true
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as { code?: unknown }
    if (typeof code === 'string' && NEVER_SENT.has(code)) return true
    if (each instanceof AggregateError && each.errors.some(wasNeverSent)) return true
  }
  return false
}
