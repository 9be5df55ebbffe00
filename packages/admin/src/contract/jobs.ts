// Jobs: look, enqueue, and steer one.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { csvLimit, duration, forOperators, id, name, pageSize, reason, time } from './fields.ts'

const JOBS = '/admin/api/jobs'

export const jobStatus = z.enum(['pending', 'processing', 'blocked', 'failed', 'completed', 'cancelled', 'dead'])

export const job = z.object({
  id: z.string(),
  status: jobStatus,
  type: z.string(),
  queue: z.string(),
  tenant: z.string().nullable(),
  priority: z.number(),
  payload: forOperators,
  payloadVersion: z.number(),
  runAt: time,
  attempt: z.number(),
  maxAttempts: z.number(),
  crashes: z.number(),
  runId: z.string().nullable(),
  workerId: z.string().nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  dedupKey: z.string().nullable(),
  correlationId: z.string(),
  parentJobId: z.string().nullable(),
  workflowId: z.string().nullable(),
  createdBy: z.string().nullable(),
  traceParent: z.string().nullable().describe('W3C traceparent of the span that enqueued it'),
  lastError: z.string().nullable(),
  lastErrorAt: time.nullable(),
  reason: z.string().nullable(),
  result: forOperators,
  createdAt: time,
})

const progress = z.object({
  done: z.number(),
  total: z.number().nullable(),
  note: z.string().nullable(),
  at: time,
})

export const attempt = z.object({
  attempt: z.number(),
  runId: z.string(),
  workerId: z.string().nullable(),
  startedAt: time.nullable(),
  finishedAt: time,
  errorClass: z.string(),
  errorMessage: z.string(),
  errorStack: z.string().nullable(),
  fingerprint: z.string().nullable(),
  logs: forOperators,
})

const jobEvent = z.object({
  at: time,
  event: z.string(),
  fromStatus: z.string().nullable(),
  toStatus: z.string(),
  attempt: z.number(),
  runId: z.string().nullable(),
  workerId: z.string().nullable(),
  dueAt: time.nullable(),
  by: z.string().nullable(),
  detail: z.string().nullable(),
})

const jobStep = z.object({ name: z.string(), startedAt: time, finishedAt: time.nullable() })

const explanation = z.object({
  job,
  summary: z.string(),
  reasons: z.array(
    z.object({ mechanism: z.string(), sentence: z.string(), until: time.nullable(), remedy: z.string().nullable() }),
  ),
  ahead: z
    .object({
      own: z.number(),
      others: z.array(z.tuple([z.string(), z.number()])),
      running: z.number(),
      ended: z.number(),
    })
    .nullable(),
  expectedAt: time.nullable(),
  workflow: z.object({ id: z.string(), name: z.string(), step: z.string(), sentence: z.string() }).nullable(),
  unknown: z.array(z.string()),
})

const warning = z.object({ code: z.string(), message: z.string() })

const query = z.string().max(10_000).describe('In the query language: `status:dead queue:mail attempt:>3`')
const order = z.enum(['newest', 'oldest']).optional()
const after = z.string().max(1000).optional()
const timeout = duration.optional().describe('How long to look, at most 30s. Default 2s')

const page = z.object({
  jobs: z.array(job),
  next: z.string().nullable().describe('Of the next page: `after` of a query, `before` of a list by fields'),
  scanned: z
    .object({ rows: z.number(), from: time.nullable(), to: time.nullable() })
    .nullable()
    .describe('The jobs that were looked at one by one; null: an index had the answer'),
})

export const list = endpoint({
  method: 'GET',
  path: JOBS,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List jobs, live and archived, newest first',
  description:
    'Either by fields, or by a query as `jobs.search` does: `q` goes with `order`, `after` and `timeout`, the fields with `before`.',
  input: z.object({
    q: query.optional(),
    order,
    after,
    timeout,
    status: jobStatus.optional(),
    queue: name.optional(),
    type: name.optional(),
    tenant: name.optional(),
    correlationId: name.optional(),
    before: id.optional(),
    limit: pageSize(1000),
  }),
  output: page,
})

export const search = endpoint({
  method: 'GET',
  path: `${JOBS}/search`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Find jobs by a query',
  description:
    'The terms `payload`, `error` and `reason` need an operator. For the next page pass `next` as `after`. Callers of several tenants name one.',
  input: z.object({ q: query, tenant: name.optional(), order, after, timeout, limit: pageSize(1000) }),
  output: page,
})

export const csv = endpoint({
  method: 'GET',
  path: `${JOBS}.csv`,
  permission: 'viewer',
  scope: 'tenant',
  media: 'text/csv',
  summary: 'Export the jobs that fit a query as CSV',
  description:
    'Texts that a spreadsheet would take for a formula begin with an apostrophe. If there are more rows, the last line says so and how to go on. Payloads are left empty for viewers.',
  input: z.object({ q: query.optional(), tenant: name.optional(), order, after, limit: csvLimit }),
  output: z.string(),
})

export const count = endpoint({
  method: 'GET',
  path: `${JOBS}/count`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Count the jobs that fit a query, up to a cap',
  description: 'The terms `payload`, `error` and `reason` need an operator.',
  input: z.object({ q: query, tenant: name.optional(), timeout }),
  output: z.object({ count: z.number(), isCapped: z.boolean() }),
})

export const timeline = endpoint({
  method: 'GET',
  path: `${JOBS}/timeline`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Count by time of creation the jobs that fit a query',
  description: 'The terms `payload`, `error` and `reason` need an operator. Of many jobs the newest 50,000 count.',
  input: z.object({
    q: query,
    from: time,
    to: time,
    steps: z.coerce.number<number | string>().int().min(1).max(400).optional().describe('Default 60'),
    tenant: name.optional(),
    timeout,
  }),
  output: z.object({
    stepMs: z.number(),
    steps: z.array(z.object({ at: time, counts: z.partialRecord(jobStatus, z.number()) })),
    isCapped: z.boolean(),
    isTooLong: z.boolean().describe('Counting took too long, so there are no steps'),
  }),
})

export const suggest = endpoint({
  method: 'GET',
  path: `${JOBS}/suggest`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Suggest what may stand at a position of a query, with counts',
  description:
    'The other terms of the query count, and they may be about payloads: so it needs an operator. Without a position: at its end.',
  input: z.object({
    q: query,
    position: z.coerce.number<number | string>().int().min(0).optional(),
    tenant: name.optional(),
  }),
  output: z.object({
    of: z.string().nullable(),
    start: z.number(),
    end: z.number(),
    items: z.array(
      z.object({
        text: z.string(),
        about: z.string().nullable(),
        count: z.number().nullable(),
        isCapped: z.boolean(),
      }),
    ),
  }),
})

export const get = endpoint({
  method: 'GET',
  path: `${JOBS}/:id`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show a job with its progress, failed attempts, steps and dead letter',
  input: z.object({ id }),
  output: job.extend({
    progress: progress.nullable(),
    logs: forOperators,
    attempts: z.array(attempt),
    steps: z.array(jobStep),
    deadLetter: z.object({ id: z.string(), status: z.string() }).nullable().describe('Of a dead job'),
  }),
})

export const history = endpoint({
  method: 'GET',
  path: `${JOBS}/:id/history`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List every transition of a job, of types whose history is kept',
  input: z.object({ id }),
  output: z.object({ events: z.array(jobEvent) }),
})

export const explain = endpoint({
  method: 'GET',
  path: `${JOBS}/:id/explain`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Say why a job does not run',
  input: z.object({ id }),
  output: explanation,
})

export const enqueue = endpoint({
  method: 'POST',
  path: `${JOBS}/enqueue`,
  permission: 'operator',
  scope: 'tenant',
  status: 201,
  summary: 'Enqueue a job',
  description:
    'The type is one that this server or a worker declares. Answers 201 for a new job, and 200 where the dedup key stood in its way.',
  input: z.object({
    job_type: name,
    payload: z.unknown().optional(),
    tenant: name.optional(),
    priority: z.number().int().min(0).optional(),
    run_at: time.optional(),
    delay: duration.optional(),
    correlation_id: name.optional(),
    max_attempts: z.number().int().min(1).optional(),
    dedup_key: name.nullable().optional(),
    order_key: name.nullable().optional(),
    limit_key: name.nullable().optional(),
  }),
  output: z.object({
    status: z.enum(['queued', 'deferred', 'duplicate', 'replaced']),
    id: z.string(),
    job_type: z.string(),
    queue: z.string().nullable(),
    warnings: z.array(warning),
  }),
})

export const retry = endpoint({
  method: 'POST',
  path: `${JOBS}/:id/retry`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Try a job again: a waiting one at once, a dead one as a new job',
  description: 'With `payload` a dead job is redriven with that payload: edit and retry.',
  input: z.object({ id, payload: z.unknown().optional(), maxAttempts: z.number().int().min(1).optional() }),
  output: z.union([
    z.object({ status: z.literal('due') }),
    z.object({ status: z.literal('redriven'), id: z.string(), jobId: z.string() }),
  ]),
})

export const cancel = endpoint({
  method: 'POST',
  path: `${JOBS}/:id/cancel`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Cancel a job: a waiting one at once, a running one by asking its worker',
  input: z.object({ id, reason: reason.optional() }),
  output: z.object({ status: z.enum(['cancelled', 'requested']) }),
})

export const fail = endpoint({
  method: 'POST',
  path: `${JOBS}/:id/fail`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Fail an attempt of a job by hand, or with `final` the whole job',
  input: z.object({ id, reason, final: z.boolean().optional() }),
  output: z.union([
    z.object({ status: z.literal('retrying'), attempt: z.number(), delayMs: z.number() }),
    z.object({ status: z.literal('dead'), attempt: z.number() }),
  ]),
})

export const prioritise = endpoint({
  method: 'POST',
  path: `${JOBS}/:id/prioritise`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Give a waiting job another priority: lower runs first',
  input: z.object({ id, priority: z.number().int().min(0) }),
  output: z.object({ status: z.literal('prioritised'), before: z.number(), priority: z.number() }),
})

export const prune = endpoint({
  method: 'POST',
  path: `${JOBS}/prune`,
  permission: 'admin',
  scope: 'all',
  summary: 'Forget archived jobs before their retention is over',
  input: z.object({
    olderThan: duration,
    types: z.array(name).optional(),
    statuses: z.array(z.enum(['completed', 'cancelled', 'dead'])).optional(),
  }),
  output: z.object({ pruned: z.number(), isComplete: z.boolean() }),
})

export const correlation = endpoint({
  method: 'GET',
  path: '/admin/api/correlations/:correlationId',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show the jobs of a correlation id and what happened to them',
  input: z.object({ correlationId: name, limit: pageSize(1000) }),
  output: z.object({
    jobs: z.array(job),
    timeline: z.array(
      z.looseObject({
        at: time,
        jobId: z.string(),
        parentJobId: z.string().nullable(),
        type: z.string(),
        event: z.enum(['enqueued', 'run', 'cancelled']),
      }),
    ),
    isMore: z.boolean(),
  }),
})
