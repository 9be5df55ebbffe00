// The one outbound HTTP function. It follows redirects itself, because each hop is a new target for the guard.
import type { Readable } from 'node:stream'
import { Agent } from 'undici'
import { boundedBody } from './bounded-body.ts'
import { type Budget, budgetFrom } from './budget.ts'
import { guardedConnector } from './connector.ts'
import { Deadline } from './deadline.ts'
import { EgressBudgetExceeded, EgressError, EgressFailed, EgressRefused, shownUrl } from './errors.ts'
import { Guard, type Resolve } from './guard.ts'
import { networkError } from './network-error.ts'
import { type Outgoing, outgoingFrom, redirected, targetUrl } from './outgoing.ts'

export interface EgressOptions {
  /** `host:port` pairs that may be called although they are not public, exactly as URLs name them. None by default. */
  allow?: readonly string[]
  /** Ports of public hosts. 80 and 443 by default. */
  ports?: readonly number[]
  /** What every call may use, unless it says otherwise. */
  budget?: Partial<Budget>
  /** Follow redirects from https to http. False by default. */
  allowDowngrade?: boolean
  /** Certificates (PEM) to trust besides the well-known ones: for partners with a certificate authority of their own. */
  ca?: readonly string[]
  /** Sent unless a call has its own. */
  userAgent?: string
  /** Answers all addresses of a name. The system's resolver by default; the answers are checked either way. */
  resolve?: Resolve
}

/** As for the global fetch, and a budget for this call. */
export interface EgressInit extends RequestInit {
  budget?: Partial<Budget>
  /** Told of every redirect that is followed: its status, and where it leads. */
  onRedirect?: (redirect: { status: number; url: string }) => void
}

export type EgressFetch = (input: string | URL | Request, init?: EgressInit) => Promise<Response>

export interface Egress extends AsyncDisposable {
  /** Takes and answers what the global fetch does, so SDKs accept it. */
  readonly fetch: EgressFetch
  /** The same function with another default budget: for an SDK that passes no budget. */
  withBudget(budget: Partial<Budget>): EgressFetch
  /** Closes idle connections and breaks off calls that still run. */
  close(): Promise<void>
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const NO_BODY = new Set([204, 205, 304])

export function createEgress(options: EgressOptions = {}): Egress {
  const guard = new Guard(options)
  const agent = new Agent({ connect: guardedConnector(guard, options), headersTimeout: 0, bodyTimeout: 0 })
  const defaults = budgetFrom(options.budget)
  const caller = new Caller(guard, agent, options)
  const fetchWith =
    (base: Budget): EgressFetch =>
    (input, init) =>
      caller.call(input, init, base)
  const close = () => agent.destroy()
  return {
    fetch: fetchWith(defaults),
    withBudget: (budget) => fetchWith(budgetFrom(budget, defaults)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Call {
  budget: Budget
  deadline: Deadline
  redirect: Request['redirect']
  onRedirect: EgressInit['onRedirect']
}

interface Answer {
  status: number
  statusText: string
  headers: Headers
  source: Readable
}

class Caller {
  readonly #guard: Guard
  readonly #agent: Agent
  readonly #userAgent: string
  readonly #allowDowngrade: boolean

  constructor(guard: Guard, agent: Agent, { userAgent = 'millrace', allowDowngrade = false }: EgressOptions) {
    this.#guard = guard
    this.#agent = agent
    this.#userAgent = checkedUserAgent(userAgent)
    this.#allowDowngrade = allowDowngrade
  }

  async call(input: string | URL | Request, init: EgressInit | undefined, base: Budget): Promise<Response> {
    const budget = budgetFrom(init?.budget, base)
    const url = targetUrl(input)
    this.#guard.checkUrl(url)
    const request = input instanceof Request ? input : undefined
    const deadline = new Deadline(budget, shownUrl(url), init?.signal ?? request?.signal)
    try {
      const first = outgoingFrom(input, init, { url, userAgent: this.#userAgent })
      const redirect = init?.redirect ?? request?.redirect ?? 'follow'
      const { onRedirect } = init ?? {}
      return await this.#follow(await deadline.headers(first), { budget, deadline, redirect, onRedirect })
    } catch (error) {
      deadline.stop(error)
      throw error
    }
  }

  async #follow(first: Outgoing, call: Call): Promise<Response> {
    let outgoing = first
    for (let hops = 0; ; hops++) {
      const answer = await this.#send(outgoing, call.deadline)
      const location = REDIRECTS.has(answer.status) ? answer.headers.get('location') : null
      if (location === null || call.redirect === 'manual') return response(answer, outgoing, hops, call)
      answer.source.destroy()
      outgoing = this.#next(outgoing, { status: answer.status, location, hops, call })
    }
  }

  #next(outgoing: Outgoing, facts: { status: number; location: string; hops: number; call: Call }): Outgoing {
    const { status, location, hops, call } = facts
    const shown = shownUrl(outgoing.url)
    if (call.redirect === 'error') {
      throw new EgressRefused(
        'redirect_refused',
        `${shown} redirects, and the call allows no redirect. Call the new address.`,
      )
    }
    const { maxRedirects } = call.budget
    if (hops >= maxRedirects) {
      throw new EgressBudgetExceeded(
        'too_many_redirects',
        maxRedirects,
        `${shown} redirects once more after ${maxRedirects} redirects. Call the last address, or give a larger budget (maxRedirects).`,
      )
    }
    if (!URL.canParse(location, outgoing.url.href)) {
      throw new EgressFailed('bad_response', `${shown} redirects to something that is not a URL.`)
    }
    const url = new URL(location, outgoing.url)
    url.hash = ''
    this.#guard.checkUrl(url)
    if (outgoing.url.protocol === 'https:' && url.protocol === 'http:' && !this.#allowDowngrade) {
      throw new EgressRefused(
        'redirect_refused',
        `${shown} redirects from https to http (${shownUrl(url)}), where anybody on the way can read and change the traffic. Call an https address, or set createEgress({ allowDowngrade: true }).`,
      )
    }
    const next = redirected(outgoing, status, url)
    call.onRedirect?.({ status, url: url.href })
    return next
  }

  async #send({ url, method, headers, body }: Outgoing, deadline: Deadline): Promise<Answer> {
    const shown = shownUrl(url)
    const sent = this.#agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as 'GET',
      headers: Object.fromEntries(headers),
      body,
      signal: deadline.signal,
    })
    // If the deadline was first, the answer still has to be thrown away.
    sent.then(
      ({ body: late }) => late.on('error', () => {}),
      () => {},
    )
    try {
      const answer = await deadline.headers(sent)
      const { statusCode: status, statusText, body: source } = answer
      return { status, statusText, headers: responseHeaders(answer.headers), source }
    } catch (error) {
      throw deadline.signal.aborted ? deadline.signal.reason : networkError(error, shown)
    }
  }
}

function checkedUserAgent(userAgent: string): string {
  try {
    return new Headers({ 'user-agent': userAgent }).get('user-agent') ?? ''
  } catch {
    throw new EgressError(
      'invalid_option',
      'createEgress cannot use its userAgent: it has characters that HTTP forbids.',
    )
  }
}

function responseHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(raw)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  return headers
}

/** A Response of the platform. Its `url` is where the redirects ended. */
function response(answer: Answer, { url, method }: Outgoing, hops: number, { budget, deadline }: Call): Response {
  const { status, statusText, headers, source } = answer
  const shown = shownUrl(url)
  if (status > 599) {
    source.destroy()
    throw new EgressFailed('bad_response', `${shown} answered with the status ${status}, which HTTP does not have.`)
  }
  let body: ReadableStream<Uint8Array> | null = null
  if (method === 'HEAD' || NO_BODY.has(status)) {
    // A server may send a body with 205 all the same, and it may be endless.
    if (status === 205) source.destroy()
    else source.resume()
    deadline.end()
  } else {
    body = boundedBody({ source, headers, budget, deadline, shown })
  }
  const made = new Response(body, { status, statusText, headers })
  Object.defineProperty(made, 'url', { value: url.href })
  Object.defineProperty(made, 'redirected', { value: hops > 0 })
  return made
}
