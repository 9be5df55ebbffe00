// Schedules: look, run now, pause, edit, preview.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { duration, forOperators, name, reason, time } from './fields.ts'

const SCHEDULES = '/admin/api/schedules'

const when = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('cron'),
    expression: z.string().max(200),
    timeZone: z.string().max(100),
    initialDelayMs: z.number().int().min(0).optional(),
  }),
  z.object({
    kind: z.literal('every'),
    everyMs: z.number().int().min(1),
    initialDelayMs: z.number().int().min(0),
  }),
  z.object({
    kind: z.literal('calendar'),
    timeZone: z.string().max(100),
    rules: z.array(
      z.object({
        days: z.array(z.literal([0, 1, 2, 3, 4, 5, 6])),
        from: z.string().max(10),
        to: z.string().max(10),
        everyMs: z.number().int().min(1),
        onHolidays: z.boolean(),
      }),
    ),
    holidays: z.array(z.string().max(20)),
  }),
])

export const schedule = z.object({
  name: z.string(),
  jobType: z.string(),
  source: z.enum(['code', 'runtime']),
  status: z.enum(['active', 'paused', 'orphaned', 'finished']),
  timing: z.looseObject({ kind: z.enum(['cron', 'every', 'calendar']) }),
  description: z.string(),
  options: z.object({
    missed: z.enum(['skip', 'once', 'all']),
    overlap: z.enum(['allow', 'skip', 'queue']),
    jitterMs: z.number(),
    tenant: z.string().nullable(),
    perTenant: z.boolean(),
    priority: z.number().nullable(),
  }),
  isEdited: z.boolean(),
  payload: forOperators,
  nextAt: time.nullable(),
  overdueMs: z.number(),
  lastFireAt: time.nullable(),
  lastTick: z
    .object({ fireAt: time, outcome: z.string(), reason: z.string().nullable(), latenessMs: z.number() })
    .nullable(),
  failures: z.number(),
  missed: z.number(),
  hidesCode: z.boolean(),
  pause: z.object({ reason: z.string(), by: z.string(), at: time, until: time.nullable() }).nullable(),
  lastJobs: z.array(
    z.object({ id: z.string(), status: z.enum(['live', 'completed', 'cancelled', 'dead', 'unknown']) }),
  ),
  deadInARow: z.number(),
  declaredAt: time.nullable(),
  declaredBy: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  updatedBy: z.string(),
})

const tick = z.object({
  id: z.string(),
  fireAt: time,
  origin: z.enum(['due', 'manual', 'backfill']),
  outcome: z.string(),
  reason: z.string().nullable(),
  jobId: z.string().nullable(),
  jobs: z.number(),
  refused: z.number(),
  missed: z.number(),
  missedTo: time.nullable(),
  latenessMs: z.number(),
  by: z.string().nullable(),
  at: time,
})

export const list = endpoint({
  method: 'GET',
  path: SCHEDULES,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List schedules by name',
  input: z.object({}),
  output: z.object({ schedules: z.array(schedule) }),
})

export const get = endpoint({
  method: 'GET',
  path: `${SCHEDULES}/:name`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show a schedule with its last ticks',
  input: z.object({ name }),
  output: schedule.extend({ ticks: z.array(tick) }),
})

export const preview = endpoint({
  method: 'GET',
  path: `${SCHEDULES}/:name/preview`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List the next fire times of a schedule',
  input: z.object({
    name,
    count: z.coerce.number<number | string>().int().min(1).max(1000).optional(),
    from: time.optional(),
  }),
  output: z.object({ fires: z.array(time) }),
})

export const run = endpoint({
  method: 'POST',
  path: `${SCHEDULES}/:name/run`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Tick a schedule now, whatever its timing says',
  input: z.object({ name }),
  output: z.object({
    outcome: z.string(),
    reason: z.string().nullable(),
    jobId: z.string().nullable(),
    jobs: z.number(),
    refused: z.number(),
  }),
})

export const setPause = endpoint({
  method: 'POST',
  path: `${SCHEDULES}/:name/pause`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Pause a schedule until somebody resumes it, or for a while',
  input: z.object({ name, reason, until: time.optional(), for: duration.optional() }),
  output: schedule,
})

export const resume = endpoint({
  method: 'POST',
  path: `${SCHEDULES}/:name/resume`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Let a schedule fire again',
  input: z.object({ name }),
  output: schedule,
})

export const edit = endpoint({
  method: 'PATCH',
  path: `${SCHEDULES}/:name`,
  permission: 'operator',
  scope: 'tenant',
  summary: "Give a schedule another timing; null lets the code's timing hold again",
  input: z.object({ name, when: when.nullable() }),
  output: schedule,
})

export const remove = endpoint({
  method: 'DELETE',
  path: `${SCHEDULES}/:name`,
  permission: 'admin',
  scope: 'tenant',
  summary: 'Remove a schedule that no living worker declares',
  input: z.object({ name }),
  output: z.object({ removed: z.literal(true) }),
})

export const backfill = endpoint({
  method: 'POST',
  path: `${SCHEDULES}/:name/backfill`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Tick the fire times of a range that were missed',
  input: z.object({ name, from: time, to: time, force: z.boolean().optional() }),
  output: z.object({
    fires: z.number(),
    before: z.number(),
    enqueued: z.number(),
    skipped: z.number(),
    failed: z.number(),
  }),
})
