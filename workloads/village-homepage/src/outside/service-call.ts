// Calls to services that answer with JSON or a short text. An answer that is of no use becomes an error that names the service.
import { type EgressInit, readJson } from '@millrace/egress'
import type { Outside } from './outside.ts'

/** The service answered, but not with what was asked for. Try again later. */
export class ServiceFailed extends Error {
  override readonly name = 'ServiceFailed'
  readonly service: string
  readonly status: number | undefined

  constructor(service: string, what: string, options: { status?: number; cause?: unknown } = {}) {
    super(`${service} ${what}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.service = service
    this.status = options.status
  }
}

export interface ServiceCall {
  /** For people, such as 'Alpha Vantage'. */
  readonly service: string
  readonly url: string
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

const BUDGET = { headersMs: 10_000, totalMs: 20_000, maxBytes: 2_000_000, maxRedirects: 3 }

export async function jsonOf(outside: Outside, call: ServiceCall): Promise<unknown> {
  const response = await ask(outside, call)
  return readJson(response).catch((cause: unknown) => {
    throw new ServiceFailed(call.service, 'answered with something that is not JSON', { cause })
  })
}

export async function textOf(outside: Outside, call: ServiceCall): Promise<string> {
  return (await ask(outside, call)).text()
}

async function ask({ fetch }: Outside, { service, url, signal, headers = {} }: ServiceCall): Promise<Response> {
  const init: EgressInit = {
    signal,
    headers: { accept: 'application/json, text/csv;q=0.9', ...headers },
    budget: BUDGET,
  }
  const response = await fetch(url, init)
  if (response.ok) return response
  await response.body?.cancel()
  throw new ServiceFailed(service, `answered ${response.status}`, { status: response.status })
}
