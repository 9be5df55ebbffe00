// The admin API and the pages of the village, without a socket, and tokens for them.
import { admin } from '@millrace/admin'
import type { AdminRole } from 'millrace'
import { callerOf, requestOf, type Sent } from '../../../../packages/admin/test/support/setup.ts'
import { setup, type VillageSetup } from './setup.ts'

const OWN = { host: 'jobs.example.com', 'sec-fetch-site': 'same-origin' }

export async function adminSetup(options: VillageSetup = {}) {
  const t = await setup(options)
  const { routes = [], pages = [] } = t.village
  const handler = admin(t.millrace, { routes, pages })
  let count = 0
  return {
    ...t,
    call: callerOf(handler),
    /** The answer itself: for pages. */
    send: async (line: string, sent: Sent = {}): Promise<Response> => handler(requestOf(line, sent), {}),
    /** A form with files, as a browser sends it. */
    upload: async (path: string, body: FormData): Promise<Response> =>
      handler(new Request(`http://jobs.example.com${path}`, { method: 'POST', body, headers: OWN }), {}),
    async token(role: AdminRole): Promise<string> {
      count += 1
      return (await t.millrace.tokens.create({ name: `${role} ${count}`, role, by: 'test' })).secret
    },
    async [Symbol.asyncDispose]() {
      await handler.close()
      await t[Symbol.asyncDispose]()
    },
  }
}
