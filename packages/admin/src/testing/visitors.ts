// Callers of every kind, who send requests without a socket.
import { randomUUID } from 'node:crypto'
import type { Millrace } from 'millrace'
import type { Method, Role } from '../contract/endpoint.ts'
import type { AdminHandler } from '../server/admin.ts'

export const ROLES = ['viewer', 'operator', 'admin'] as const satisfies Role[]

export interface Heard {
  readonly status: number
  readonly text: string
  readonly requestId: string
}

export interface Letter {
  readonly method: Method
  /** With its query. */
  readonly path: string
  readonly body: object | undefined
}

type Headers = Readonly<Record<string, string>>

export interface Visitors {
  /** Without a token. */
  nobody(letter: Letter): Promise<Heard>
  /** With a token that never was one. */
  impostor(letter: Letter): Promise<Heard>
  as(role: Role, letter: Letter): Promise<Heard>
  /** An admin, but of a tenant to whom nothing belongs. */
  stranger(letter: Letter): Promise<Heard>
  /** An admin's browser, which another website makes send this. */
  lured(letter: Letter): Promise<Heard>
}

const ORIGIN = 'http://walk.example'

export async function visitorsOf(millrace: Millrace, handler: AdminHandler): Promise<Visitors> {
  const run = randomUUID()
  const token = async (role: Role, tenants?: readonly string[]) => {
    const name = `walk ${tenants === undefined ? role : 'stranger'} ${run}`
    return (await millrace.tokens.create({ name, role, by: 'role walk', ...(tenants && { tenants }) })).secret
  }
  const tokens = { viewer: await token('viewer'), operator: await token('operator'), admin: await token('admin') }
  const foreign = await token('admin', [`nobody's ${run}`])
  const cookie = await loggedIn(handler, tokens.admin)
  const bearer = (secret: string): Headers => ({ authorization: `Bearer ${secret}` })
  const send = (letter: Letter, headers: Headers = {}) => sent(handler, letter, headers)
  return {
    nobody: (letter) => send(letter),
    impostor: (letter) => send(letter, bearer('mr_wrong')),
    as: (role, letter) => send(letter, bearer(tokens[role])),
    stranger: (letter) => send(letter, bearer(foreign)),
    lured: (letter) => send(letter, { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }),
  }
}

async function sent(handler: AdminHandler, { method, path, body }: Letter, headers: Headers): Promise<Heard> {
  const requestId = randomUUID()
  const request = new Request(`${ORIGIN}${path}`, {
    method,
    headers: { ...headers, 'x-request-id': requestId, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  // Each from an address of its own: many wrong tokens from one are refused unseen.
  const response = await handler(request, { incoming: { socket: { remoteAddress: requestId } } })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream) await response.body?.cancel()
  return { status: response.status, text: isStream ? '' : await response.text(), requestId }
}

async function loggedIn(handler: AdminHandler, token: string): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const body = new URLSearchParams({ token })
  const response = await handler(new Request(`${ORIGIN}/admin/login`, { method: 'POST', headers, body }))
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
