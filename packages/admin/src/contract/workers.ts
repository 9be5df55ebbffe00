// Workers: what the living ones report, and what to ask of one.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { reason, time } from './fields.ts'

const WORKERS = '/admin/api/workers'

const id = z.string().max(100)

export const worker = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  startedAt: time,
  heartbeatAt: time,
  expiresAt: time,
  types: z.array(z.string()),
  request: z.object({ kind: z.enum(['quiet', 'stop']), by: z.string(), reason: z.string(), at: time }).nullable(),
  report: z
    .object({
      state: z.enum(['working', 'quiet', 'stopping']),
      at: time,
      lanes: z.array(
        z.object({
          name: z.string(),
          slots: z.number(),
          running: z.number(),
          buffered: z.number(),
          queues: z.array(z.string()),
        }),
      ),
      running: z.number(),
      runs: z.array(z.object({ jobId: z.string(), type: z.string(), since: time })),
      suspectJobId: z.string().nullable(),
      memory: z.object({ percent: z.number(), isHigh: z.boolean() }),
      loopLagMs: z.number(),
      isListening: z.boolean(),
      permits: z.array(z.object({ limit: z.string(), most: z.number(), free: z.number(), types: z.array(z.string()) })),
    })
    .nullable(),
})

export const list = endpoint({
  method: 'GET',
  path: WORKERS,
  permission: 'viewer',
  scope: 'all',
  summary: 'List the living workers with what each reports: lanes, slots, runs, memory',
  input: z.object({}),
  output: z.object({ workers: z.array(worker) }),
})

export const get = endpoint({
  method: 'GET',
  path: `${WORKERS}/:id`,
  permission: 'viewer',
  scope: 'all',
  summary: 'Show a worker',
  input: z.object({ id }),
  output: worker,
})

export const quiet = endpoint({
  method: 'POST',
  path: `${WORKERS}/:id/quiet`,
  permission: 'operator',
  scope: 'all',
  summary: 'Ask a worker to take no more jobs',
  input: z.object({ id, reason }),
  output: worker,
})

export const resume = endpoint({
  method: 'POST',
  path: `${WORKERS}/:id/resume`,
  permission: 'operator',
  scope: 'all',
  summary: 'Let a worker take jobs again',
  input: z.object({ id, reason: reason.optional() }),
  output: worker,
})

export const stop = endpoint({
  method: 'POST',
  path: `${WORKERS}/:id/stop`,
  permission: 'operator',
  scope: 'all',
  summary: 'Ask a worker to stop in order; it cannot be taken back',
  input: z.object({ id, reason }),
  output: worker,
})
