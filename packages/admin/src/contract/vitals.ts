// One reading of the whole platform: what the verdict on it goes by, as figures.
import { z } from 'zod'
import { budget } from './budgets.ts'
import { endpoint } from './endpoint.ts'
import { pause, time } from './fields.ts'

const queue = z.object({
  queue: z.string(),
  owner: z
    .object({ name: z.string(), channel: z.string().optional(), address: z.string().optional() })
    .nullable()
    .describe('As its contract says'),
  slaMs: z.number().nullable(),
  waiting: z.number().describe('All that do not run: due, scheduled for later, or blocked'),
  due: z.number(),
  blocked: z.number(),
  running: z.number(),
  oldestDueMs: z.number().nullable(),
  pauses: z.array(pause).describe('Of the whole queue'),
  latencyP95Ms: z.number().nullable().describe('Of the last five minutes: from due to the end of the first attempt'),
})

const runs = z.object({ runs: z.number(), failures: z.number(), errorRate: z.number().nullable() })

const type = z.object({
  queue: z.string(),
  type: z.string(),
  waiting: z.number(),
  due: z.number(),
  running: z.number(),
  oldestDueMs: z.number().nullable(),
  lastMinutes: runs.describe('Five minutes'),
  lastHour: runs,
})

const lane = z.object({
  lane: z.string(),
  queues: z.array(z.string()),
  slots: z.number(),
  running: z.number(),
  utilization: z.number(),
  workers: z.number(),
})

const worker = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.number(),
  state: z.enum(['working', 'quiet', 'stopping']).nullable(),
  silentMs: z.number(),
  memoryRatio: z.number().nullable(),
  loopLagMs: z.number().nullable(),
  isListening: z.boolean().nullable(),
  slots: z.number(),
  running: z.number(),
})

export const vitals = endpoint({
  method: 'GET',
  path: '/admin/api/vitals',
  permission: 'viewer',
  scope: 'all',
  summary: 'Read the figures by which health and alerts judge: queues, types, lanes, workers, breakers, budgets',
  input: z.object({}),
  output: z.object({
    at: time,
    queues: z.array(queue),
    types: z.array(type),
    lanes: z.array(lane),
    workers: z.array(worker).describe('Those that hold a lease'),
    deaths: z
      .array(z.object({ id: z.string(), host: z.string(), pid: z.number(), endedAt: time, reason: z.string() }))
      .describe('Workers that died in the last ten minutes'),
    stuck: z
      .array(
        z.object({
          jobId: z.string(),
          type: z.string(),
          queue: z.string(),
          tenant: z.string().nullable(),
          at: time,
          hasEnded: z.boolean(),
        }),
      )
      .describe('Runs beyond twice their timeout, now or in the last ten minutes'),
    breakers: z
      .array(
        z.object({
          service: z.string(),
          state: z.enum(['closed', 'open', 'half_open']),
          openedAt: time.nullable(),
          nextProbeAt: time.nullable(),
          queues: z.array(z.string()),
        }),
      )
      .describe('Those that are not closed'),
    deadLetters: z.object({ pending: z.number(), lastHour: z.number() }),
    budgets: z.array(budget),
    tenants: z
      .array(z.object({ tenant: z.string(), queue: z.string(), jobs: z.number(), limit: z.number() }))
      .describe('Those that have as many jobs in a queue as they may have'),
  }),
})
