// What an administrator changes about an organization: limits, shares, and whether it may have work done.
import { Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import { z } from 'zod'
import { organizationName } from '../jobs/method.ts'
import { QUEUE_CONFIG, type QueueName } from '../jobs/queue-config.ts'
import type { DartwingSystem } from '../system.ts'
import { organizationGet, organizationSetStatus } from './directory.ts'

const queue = z.enum(Object.keys(QUEUE_CONFIG) as [QueueName, ...QueueName[]])
const slots = z.int().min(0).max(10_000)

const input = z.object({
  name: organizationName,
  queue: queue.optional(),
  max_jobs: z.int().min(0).nullable().optional(),
  over: z.enum(['warn', 'reject', 'defer']).optional(),
  weight: z.int().min(1).max(1_000).optional(),
  minSlots: slots.optional(),
  maxSlots: slots.nullable().optional(),
  status: z.enum(['Active', 'Suspended']).optional(),
})

export const organizationRoutes = (system: DartwingSystem): Route[] => [
  route(
    endpoint({
      method: 'PATCH',
      path: '/dartwing/api/organizations/:name',
      input,
      output: z.object({ name: z.string(), title: z.string(), status: z.string() }),
      permission: 'admin',
      scope: 'all',
      summary: 'Change limits, shares or the status of an organization',
      description:
        '`queue` with `max_jobs` and `over` limits its jobs in a queue; `max_jobs: null` takes that back. `weight`, `minSlots` and `maxSlots` are its share. All of it holds, or nothing.',
    }),
    async (change, { millrace, by }) => {
      const { name, queue: limited, max_jobs: jobs, over = 'warn', weight, minSlots, maxSlots, status } = change
      if ((jobs === undefined) !== (limited === undefined))
        throw new Refusal(400, 'limit_incomplete', 'A limit needs both: "queue", and "max_jobs" as a number or null.')
      const share = Object.fromEntries(
        Object.entries({ weight, minSlots, maxSlots }).filter(([, value]) => value !== undefined),
      )
      return system.database.transaction(async (tx) => {
        if ((await organizationGet(tx, name)) === undefined)
          throw new Refusal(404, 'organization_unknown', `There is no organization ${name} in the directory.`)
        const words = { by, tx }
        if (limited !== undefined && jobs === null) await millrace.tenants.unlimit(name, limited, words)
        if (limited !== undefined && typeof jobs === 'number')
          await millrace.tenants.limit(name, limited, { jobs, over }, words)
        if (Object.keys(share).length > 0) await millrace.tenants.set(name, share, words)
        if (status === 'Suspended') await millrace.tenants.suspend(name, words)
        if (status === 'Active') await millrace.tenants.resume(name, words)
        if (status !== undefined) await organizationSetStatus(tx, name, status)
        const { title, status: now } = (await organizationGet(tx, name)) ?? { title: '', status: 'Active' }
        return { name, title, status: now }
      })
    },
  ),
]
