// The admin API and the page of LIPAS, without a socket, and tokens for them.
import { admin } from '@millrace/admin'
import type { AdminRole } from 'millrace'
import { callerOf, requestOf, type Sent } from '../../../../packages/admin/test/support/setup.ts'
import { type LipasSetup, setup } from './lipas.ts'

export async function webSetup(options: LipasSetup = {}) {
  const t = await setup(options)
  const { routes = [], pages = [] } = t.workload
  const handler = admin(t.millrace, { routes, pages })
  let count = 0
  return {
    ...t,
    /** Sends `METHOD /path`, and answers with JSON. */
    call: callerOf(handler),
    /** The answer itself. */
    send: async (line: string, sent: Sent = {}): Promise<Response> => handler(requestOf(line, sent), {}),
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

export type WebSetup = Awaited<ReturnType<typeof webSetup>>

/** A register of one hall, whose owner has a reminder. Quicker than the sample municipality. */
export async function oneHall(t: WebSetup, name = 'Hall'): Promise<void> {
  await t.sql(`insert into lipas.site_type values (2210, 'Sports hall', 'Point')`)
  await t.sql(
    `insert into lipas.sports_site (lipas_id, type_code, name, owner_email, geometries, bounds, event_date)
     values (7, 2210, $1, 'owner@example.org', $2, '((390000,6678000),(390000,6678000))', '2025-01-01')`,
    [name, JSON.stringify(pointAt(25.0, 60.23))],
  )
  await t.sql(`insert into lipas.reminder (lipas_id, email, event_date) values (7, 'owner@example.org', '2026-01-01')`)
}

export const pointAt = (longitude: number, latitude: number) => ({
  type: 'FeatureCollection',
  features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [longitude, latitude] } }],
})
