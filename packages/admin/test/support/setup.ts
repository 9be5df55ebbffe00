import { type AdminHandler, type AdminOptions, admin } from '@millrace/admin'
import type { AdminRole, JobContract, MillraceOptions } from 'millrace'
import { setup as engineSetup } from '../../../engine/test/support/setup.ts'

/** A database, a client on it, the admin API without a socket, and tokens. */
export async function setup(
  jobs: readonly JobContract[],
  { admin: adminOptions = {}, ...options }: Partial<MillraceOptions> & { admin?: AdminOptions } = {},
) {
  const t = await engineSetup()
  const millrace = t.client(jobs, options)
  const handler = admin(millrace, adminOptions)
  let count = 1
  return {
    ...t,
    millrace,
    handler,
    /** A new token of this role, optionally for some tenants only. */
    async token(role: AdminRole, tenants?: readonly string[]): Promise<string> {
      const name = `${role}${tenants === undefined ? '' : ` of ${tenants.join('+')}`} ${count++}`
      return (await millrace.tokens.create({ name, role, by: 'test', ...(tenants && { tenants }) })).secret
    },
    call: callerOf(handler),
    async [Symbol.asyncDispose]() {
      await handler.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

export type AdminSetup = Awaited<ReturnType<typeof setup>>

export interface Sent {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** The address it comes from. */
  readonly from?: string
}

export interface Heard {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, compared by the tests
  readonly body: any
  readonly headers: Headers
}

/** Sends `METHOD /path`, as a program does. */
export function callerOf(handler: AdminHandler) {
  return async (line: string, { from, ...sent }: Sent = {}): Promise<Heard> => {
    const env = from === undefined ? {} : { incoming: { socket: { remoteAddress: from } } }
    const response = await handler(requestOf(line, sent), env)
    const text = response.headers.get('content-type')?.includes('event-stream') ? '' : await response.text()
    if (text === '') await response.body?.cancel()
    return { status: response.status, body: jsonOr(text), headers: response.headers }
  }
}

export function requestOf(line: string, { token, body, headers = {} }: Sent = {}): Request {
  const [method = 'GET', path = '/'] = line.split(' ')
  return new Request(`http://jobs.example.com${path}`, {
    method,
    headers: {
      host: 'jobs.example.com',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
