import { admin } from '@millrace/admin'
import type { Dartwing } from './dartwing.ts'

export interface Ask {
  readonly method?: string
  readonly body?: object
  /** Default: operator. */
  readonly role?: 'viewer' | 'operator' | 'admin'
  /** The organizations that the token is for. Default: all. */
  readonly tenants?: readonly string[]
  /** Instead of a token of the platform. */
  readonly token?: string
}

/** Asks the routes and pages of Dartwing with a token of the test's own. */
export async function ask(
  t: Dartwing,
  path: string,
  { method = 'GET', body, role = 'operator', tenants, token }: Ask = {},
): Promise<Response> {
  const name = `test-${Math.random().toString(36).slice(2)}`
  const { secret } = await t.millrace.tokens.create({
    name,
    role,
    by: 'test',
    ...(tenants !== undefined && { tenants }),
  })
  const handler = admin(t.millrace, { routes: t.workload.routes ?? [], pages: t.workload.pages ?? [] })
  const headers = { authorization: `Bearer ${token ?? secret}`, 'content-type': 'application/json' }
  try {
    return await handler(
      new Request(`http://localhost${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  } finally {
    await handler.close()
  }
}
