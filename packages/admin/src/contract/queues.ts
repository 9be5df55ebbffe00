// Queues: what waits and runs in them, pauses, limits, and keys of work.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { duration, name, pause, reason, time } from './fields.ts'

export const queue = z.object({
  queue: z.string(),
  due: z.number(),
  scheduled: z.number(),
  processing: z.number(),
  blocked: z.number(),
  pauses: z.array(pause),
})

const live = {
  queue: z.string(),
  waiting: z.number(),
  due: z.number(),
  oldestDueAt: time.nullable(),
  running: z.number(),
  blocked: z.number(),
  failed: z.number(),
  pauses: z.array(pause),
}

const lastHour = z.object({
  completed: z.number(),
  cancelled: z.number(),
  failed: z.number(),
  dead: z.number(),
  snoozed: z.number(),
  crashed: z.number(),
  finished: z.number(),
  durationP50Ms: z.number().nullable(),
  durationP95Ms: z.number().nullable(),
  durationP99Ms: z.number().nullable(),
  waitP95Ms: z.number().nullable(),
})

export const stats = z.object({
  types: z.array(z.object({ ...live, type: z.string().nullable(), dead: z.number(), lastHour })),
  tenants: z.array(z.object({ ...live, tenant: z.string(), waitP95Ms: z.number().nullable() })),
})

const target = { queue: name.optional(), type: name.optional(), tenant: name.optional() }

export const list = endpoint({
  method: 'GET',
  path: '/admin/api/queues',
  permission: 'viewer',
  scope: 'all',
  summary: 'List the queues with what waits and runs in each, idle and paused ones included',
  input: z.object({}),
  output: z.object({ queues: z.array(queue) }),
})

export const readStats = endpoint({
  method: 'GET',
  path: '/admin/api/stats',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Count by queue and type, and by queue and tenant, what waits, runs and failed, and the last hour',
  description: 'Callers that are limited to tenants get the rows of their tenants alone.',
  input: z.object({}),
  output: stats,
})

export const pauses = endpoint({
  method: 'GET',
  path: '/admin/api/pauses',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List the pauses that hold now',
  input: z.object({}),
  output: z.object({ pauses: z.array(pause) }),
})

export const setPause = endpoint({
  method: 'POST',
  path: '/admin/api/pauses',
  permission: 'operator',
  scope: 'tenant',
  summary: 'Pause a queue, a type, a tenant, or what belongs to several of them',
  description: 'Each caller has a pause of its own; the target stays paused while any of them lasts.',
  input: z.object({ ...target, reason, for: duration.optional() }),
  output: pause,
})

export const endPause = endpoint({
  method: 'POST',
  path: '/admin/api/pauses/end',
  permission: 'operator',
  scope: 'tenant',
  summary: 'End your own pause of a target, or with `all` every pause of it',
  input: z.object({ ...target, all: z.boolean().optional() }),
  output: z.object({ ended: z.array(pause), others: z.array(pause) }),
})

const rate = z.object({ jobs: z.number(), perMs: z.number() })

export const limit = z.object({
  name: z.string(),
  isPerTenant: z.boolean(),
  running: z.number().optional(),
  rate: rate.optional(),
  uses: z.array(
    z.object({
      tenant: z.string().nullable(),
      running: z.number(),
      free: z.number().optional(),
      heldUntil: time.nullable(),
    }),
  ),
  setBy: z.string().nullable(),
})

export const limits = endpoint({
  method: 'GET',
  path: '/admin/api/limits',
  permission: 'viewer',
  scope: 'all',
  summary: 'List the limits with what is used of each',
  input: z.object({}),
  output: z.object({ limits: z.array(limit) }),
})

export const setLimit = endpoint({
  method: 'PUT',
  path: '/admin/api/limits/:name',
  permission: 'operator',
  scope: 'all',
  summary: 'Set a limit above what the code says',
  description: "Besides declared names: 'queue:bulk' and 'type:email', and with '/tenant' behind them for each tenant.",
  input: z.object({
    name,
    running: z.number().int().min(0).optional(),
    rate: z.string().max(100).optional().describe("Such as '100/minute'"),
  }),
  output: limit,
})

export const unsetLimit = endpoint({
  method: 'DELETE',
  path: '/admin/api/limits/:name',
  permission: 'operator',
  scope: 'all',
  summary: 'Let the limit of the code hold again',
  input: z.object({ name }),
  output: z.object({ changed: z.boolean() }),
})

const keyLimit = z.object({
  queue: z.string(),
  key: z.string().nullable(),
  concurrency: z.number(),
  setBy: z.string(),
  setAt: time,
})

export const keys = endpoint({
  method: 'GET',
  path: '/admin/api/keys',
  permission: 'viewer',
  scope: 'all',
  summary: 'List the order keys that a death has stopped, and the limits that were set for keys',
  input: z.object({ queue: name.optional() }),
  output: z.object({
    stopped: z.array(
      z.object({
        queue: z.string(),
        tenant: z.string().nullable(),
        key: z.string(),
        jobId: z.string(),
        stoppedAt: time,
        deadLetterId: z.string().nullable(),
        redrivenJobId: z.string().nullable(),
        waiting: z.number(),
      }),
    ),
    limits: z.array(keyLimit),
  }),
})

export const continueKey = endpoint({
  method: 'POST',
  path: '/admin/api/keys/continue',
  permission: 'operator',
  scope: 'all',
  summary: 'Let a stopped order key go on with its next job',
  input: z.object({ queue: name, key: name, tenant: name.optional() }),
  output: z.object({ changed: z.boolean() }),
})

export const setKeyLimit = endpoint({
  method: 'PUT',
  path: '/admin/api/keys/limits/:queue',
  permission: 'operator',
  scope: 'all',
  summary: 'Set how many jobs of a key may run at once; without `concurrency` the contract decides again',
  input: z.object({ queue: name, key: name.optional(), concurrency: z.number().int().min(0).optional() }),
  output: z.object({ limits: z.array(keyLimit) }),
})
