// One look at one link: a HEAD request, or a GET where the server refuses HEAD. What it answers is a state of the link.
import { setTimeout as sleep } from 'node:timers/promises'
import { EgressError, type EgressErrorCode } from '@millrace/egress'
import type { Outside } from '../outside/outside.ts'
import { permanentAddress } from '../outside/permanent-address.ts'

export type Finding = 'ok' | 'moved' | 'unsure' | 'broken'

export interface Checked {
  readonly state: Finding
  /** Null: there was no answer. */
  readonly status: number | null
  readonly movedTo: string | null
}

export interface LinkCall {
  readonly outside: Pick<Outside, 'fetch'>
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Between this request and the next one to the same host. */
  readonly intervalMs: number
}

/** The server understands the address, but not the method HEAD. */
const WITHOUT_HEAD = [403, 405, 501]
const GONE = [404, 410]

/** A visitor cannot get there either. All other failures may be over tomorrow. */
const BROKEN: readonly EgressErrorCode[] = [
  'dns_failed',
  'tls_failed',
  'invalid_url',
  'scheme_refused',
  'credentials_in_url',
  'port_refused',
  'local_name',
  'address_refused',
  'redirect_refused',
  'too_many_redirects',
]

/** Throws only when the run is stopped. */
export async function checkLink(url: string, call: LinkCall): Promise<Checked> {
  try {
    const head = await ask('HEAD', url, call)
    if (!WITHOUT_HEAD.includes(head.status ?? 0)) return head
    await sleep(call.intervalMs, undefined, { signal: call.signal })
    return await ask('GET', url, call)
  } catch (error) {
    if (call.signal.aborted || !(error instanceof EgressError)) throw error
    return { state: BROKEN.includes(error.code) ? 'broken' : 'unsure', status: null, movedTo: null }
  }
}

async function ask(method: 'HEAD' | 'GET', url: string, { outside, signal, timeoutMs }: LinkCall): Promise<Checked> {
  const redirects: { status: number; url: string }[] = []
  const response = await outside.fetch(url, {
    method,
    signal,
    headers: { accept: '*/*', ...(method === 'GET' && { range: 'bytes=0-0' }) },
    budget: { headersMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
    onRedirect: (redirect) => redirects.push(redirect),
  })
  await response.body?.cancel()
  const movedTo = permanentAddress(redirects)
  return { state: stateOf(response, movedTo), status: response.status, movedTo }
}

function stateOf({ ok, status }: Response, movedTo: string | null): Finding {
  if (ok) return movedTo === null ? 'ok' : 'moved'
  return GONE.includes(status) ? 'broken' : 'unsure'
}
