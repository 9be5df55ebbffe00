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

const holder = {
  rule: z
    .enum([
      ...[
        'suspension',
        'pause',
        'breaker',
        'limit',
        'slots',
        'order key',
        'limit key',
        'job limit',
        'fair share',
        'none',
      ],
    ] as const)
    .describe('none: next in line'),
  name: z.string().describe('Of a breaker the service, of a limit its name; else empty'),
  until: time.nullable().describe('When it ends by itself; null: nobody can know, or a person ends it'),
  by: z.string().nullable(),
  reason: z.string().nullable(),
}

const shares = {
  weight: z.number(),
  waiting: z.number(),
  running: z.number(),
  runs: z.number(),
  dueShare: z.number().describe('By weight, among the tenants that have work: 0 to 1'),
  share: z.number().describe('Of the runs of the span: 0 to 1'),
  waitP50Ms: z.number().nullable(),
  waitP95Ms: z.number().nullable().describe('Of its runs in the span, or of its oldest due job if that is longer'),
}

export const fairness = endpoint({
  method: 'GET',
  path: '/admin/api/queues/:queue/fairness',
  permission: 'viewer',
  scope: 'all',
  summary: 'Tell who gets what share of a queue, who waits how long, and which rule holds whom',
  description:
    'The nine tenants with most work are named, the others summed up: the answer is as large for 5,000 tenants as for ten.',
  input: z.object({ queue: name, tenant: name.optional().describe('Is named in any case') }),
  output: z.object({
    queue: z.string(),
    at: time,
    spanMs: z.number(),
    slots: z.number(),
    running: z.number(),
    waiting: z.number(),
    runs: z.number().describe('That ended in the span'),
    working: z.number().describe('Tenants with work, now or in the span'),
    idle: z.number().describe('Known tenants without'),
    weights: z.number().describe('Of those with work, together'),
    top: z.array(
      z.object({
        tenant: z.string().nullable().describe('Null: of jobs without a tenant'),
        ...shares,
        asks: z.number().describe('What it asked for in the span, as a multiple of what it is due'),
        heldBy: z.object(holder).nullable().describe('The rule that holds most of its waiting jobs'),
        held: z.number(),
      }),
    ),
    others: z.object({ tenants: z.number(), ...shares }).describe('The other tenants with work; waits: their medians'),
    cells: z
      .array(z.object({ asks: z.number(), wait: z.number(), isHeld: z.boolean(), tenants: z.number() }))
      .describe('A picture. asks: in twelfths of a power of ten from 0.001; wait: in sevenths of one from 0.1 s'),
    rules: z
      .array(z.object({ ...holder, tenants: z.number(), jobs: z.number(), who: z.array(z.string().nullable()) }))
      .describe('Every waiting job once, by the rule that ends last'),
  }),
})
