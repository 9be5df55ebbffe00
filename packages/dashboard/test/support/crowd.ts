// A database with more of everything than a person can look at: 200 queues, 300 job types, 5,000 tenants in one queue.
import { Past, type PastRow } from 'millrace/testing'
import { clientOf } from './system.ts'

export const CROWD = { queues: 200, types: 300, tenants: 5_000 }

const MINUTE_MS = 60_000
const named = (what: string, number: number) => `${what}-${String(number).padStart(4, '0')}`

export async function fillCrowd(databaseUrl: string): Promise<void> {
  const now = new Date()
  await using past = new Past(databaseUrl)
  await past.write({ since: now, now }, async (writer) => {
    const first = await writer.ids(CROWD.tenants + CROWD.queues)
    const row = (index: number, queue: number): PastRow => {
      const at = new Date(now.getTime() - (5 + (index % 50)) * MINUTE_MS).toISOString()
      return {
        ...{ id: first + index, status: 'pending', queue: named('queue', queue) },
        ...{ type: named('type', index % CROWD.types), tenant: named('tenant', index % CROWD.tenants) },
        ...{ priority: 5, attempt: 0, max_attempts: 3, crashes: 0, payload_version: 1, payload: {} },
        ...{ run_at: at, created_at: at, updated_at: at, created_by: 'crowd' },
      }
    }
    const inOne = Array.from({ length: CROWD.tenants }, (_, index) => row(index, 0))
    const inEach = Array.from({ length: CROWD.queues }, (_, index) => row(CROWD.tenants + index, index))
    await writer.insert('job', [...inOne, ...inEach])
  })
  // Some have rules, so that the list of all tenants has a second page.
  await using millrace = clientOf(databaseUrl)
  for (let tenant = 0; tenant < 30; tenant++)
    await millrace.tenants.set(named('tenant', tenant), { weight: 2 }, { by: 'crowd' })
}
