// What the programs of the workers declare.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { name, time } from './fields.ts'

const kind = z.enum(['queue', 'type', 'limit', 'budget', 'service', 'workflow', 'schedule', 'lane'])

const entry = z.object({
  kind,
  name: z.string(),
  document: z.looseObject({}),
  version: z.string().nullable(),
  firstSeen: time,
  lastSeen: time,
  workers: z.number(),
  differing: z.array(z.object({ id: z.string(), host: z.string(), pid: z.number(), version: z.string().nullable() })),
})

export const list = endpoint({
  method: 'GET',
  path: '/admin/api/catalogue',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List what workers declare: queues, types, limits, budgets, services, workflows, schedules, lanes',
  input: z.object({ kind: kind.optional() }),
  output: z.object({ entries: z.array(entry) }),
})

export const jobTypes = endpoint({
  method: 'GET',
  path: '/admin/api/job-types',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List the job types that workers declare, with JSON Schema and examples of their payloads',
  input: z.object({}),
  output: z.object({ types: z.array(entry) }),
})

export const jobType = endpoint({
  method: 'GET',
  path: '/admin/api/job-types/:type',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show a job type',
  input: z.object({ type: name }),
  output: entry,
})

export const lanes = endpoint({
  method: 'GET',
  path: '/admin/api/lanes',
  permission: 'viewer',
  scope: 'all',
  summary: 'List the lanes of the workers with their slots, and how many are in use',
  input: z.object({}),
  output: z.object({
    lanes: z.array(
      z.object({
        name: z.string(),
        queues: z.array(z.string()),
        workers: z.number(),
        slots: z.number(),
        running: z.number(),
        buffered: z.number(),
      }),
    ),
  }),
})
