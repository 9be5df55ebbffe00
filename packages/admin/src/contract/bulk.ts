// Bulk operations: the same change to many jobs. Preview, start, follow, stop, take back.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { id, name, pageSize, time } from './fields.ts'

const BULK = '/admin/api/bulk'

const action = z.enum(['retry', 'redrive', 'cancel', 'prioritise', 'fail', 'prune', 'resolve', 'ignore'])
const outcome = z.enum(['changed', 'already', 'refused'])
const reasons = z.array(z.object({ outcome, reason: z.string().nullable(), count: z.number() }))
const noUndo = z.string().nullable().describe('Why it cannot be taken back; null: it can')

const request = z.object({
  action: action.describe('`prune` needs an admin'),
  query: z.string().min(1).max(10_000).optional().describe('In the query language; this or `ids`'),
  ids: z.array(id).min(1).max(10_000).optional().describe('Of jobs; these or `query`'),
  tenant: name.optional().describe('Only jobs of this tenant, whatever the query says'),
  priority: z.number().int().min(0).optional().describe('Of `prioritise`: lower runs first'),
  reason: z.string().min(1).max(1000).optional().describe('Of `fail`, where it is required, and `cancel`'),
  final: z.boolean().optional().describe('Of `fail`: the whole job, and not only this attempt'),
  maxAttempts: z.number().int().min(1).optional().describe('Of `retry` and `redrive`'),
  note: z.string().min(1).max(1000).optional().describe('Of `resolve` and `ignore`'),
})

const operation = z.object({
  id: z.string(),
  action,
  options: z.record(z.string(), z.unknown()).describe('As it was given, such as the priority'),
  query: z.string().nullable(),
  tenant: z.string().nullable(),
  status: z.enum(['running', 'completed', 'cancelled', 'failed', 'stopped']).describe('`stopped`: by its canary'),
  isDryRun: z.boolean(),
  rate: z.number(),
  limit: z.number().nullable(),
  expected: z.number().describe('How many jobs fitted when it was started'),
  isCapped: z.boolean().describe('There were more, which were not counted'),
  changed: z.number(),
  already: z.number(),
  refused: z.number(),
  open: z.number().describe('Found, but their turn has not come'),
  jobId: z.string().nullable(),
  undoOf: z.string().nullable(),
  undoneBy: z.string().nullable(),
  createdBy: z.string(),
  createdAt: time,
  finishedAt: time.nullable(),
  cancelledBy: z.string().nullable(),
  error: z.string().nullable().describe('Why it failed or was stopped'),
  canary: z
    .object({
      size: z.number(),
      stage: z
        .enum(['choosing', 'waiting', 'passed', 'skipped'])
        .describe(
          '`waiting`: until the canaries have ended; `passed`, or `skipped` by `bulk.proceed`: the rest follows',
        ),
    })
    .nullable(),
  noUndo,
})

const canary = z.object({
  jobId: z.string().describe('The dead job'),
  letterId: z.string().nullable(),
  tenant: z.string().nullable(),
  outcome: outcome.nullable().describe('Null: it will be redriven'),
  reason: z.string().nullable().describe('Why it could not be redriven'),
  newJobId: z.string().nullable(),
  status: z
    .enum(['pending', 'processing', 'blocked', 'failed', 'completed', 'cancelled', 'dead'])
    .nullable()
    .describe('Of the new job, as the rest. Null: there is none, or it is not kept'),
  attempt: z.number().nullable(),
  error: z.string().nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
})

const report = operation.extend({
  reasons,
  waits: z.string().nullable().describe('Why it does not get on; null: it does, or has ended'),
  canaries: z.array(canary).describe('The jobs that go first, and how they are'),
})

export const preview = endpoint({
  method: 'POST',
  path: `${BULK}/preview`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Count by queue and type what a bulk operation would change, and why not the rest',
  description: 'Writes nothing. Callers of several tenants name one.',
  input: request,
  output: z.object({
    action,
    total: z.number(),
    isCapped: z.boolean(),
    willChange: z.number(),
    already: z.number(),
    refused: z.number(),
    groups: z.array(
      z.object({
        queue: z.string(),
        type: z.string(),
        willChange: z.number(),
        already: z.number(),
        refused: z.number(),
      }),
    ),
    reasons,
    noUndo,
  }),
})

export const start = endpoint({
  method: 'POST',
  path: BULK,
  permission: 'operator',
  scope: 'tenant',
  status: 201,
  summary: 'Start a bulk operation, or a dry run of one',
  description:
    'It answers at once, and workers do the work: follow it with `bulk.get`. Callers of several tenants name one.',
  input: request.extend({
    dryRun: z.boolean().optional().describe('Look at every job, and change none'),
    rate: z.number().int().min(1).max(5000).optional().describe('Jobs per second at most. Default 200'),
    limit: z.number().int().min(1).optional().describe('Only so many of the jobs, the oldest: for a first try'),
    canary: z
      .number()
      .int()
      .min(1)
      .max(20)
      .optional()
      .describe('Of `redrive`: so many jobs first, of different tenants if there are; a death stops the operation'),
  }),
  output: report,
})

export const list = endpoint({
  method: 'GET',
  path: BULK,
  permission: 'operator',
  scope: 'tenant',
  summary: 'List bulk operations, newest first',
  input: z.object({ tenant: name.optional(), before: id.optional(), limit: pageSize(1000) }),
  output: z.object({
    operations: z.array(operation),
    next: z.string().nullable().describe('The `before` of the next page'),
  }),
})

export const get = endpoint({
  method: 'GET',
  path: `${BULK}/:id`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Show how far a bulk operation is, and what was refused and why',
  input: z.object({ id }),
  output: report,
})

export const items = endpoint({
  method: 'GET',
  path: `${BULK}/:id/items`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'List what became of each job of a bulk operation',
  input: z.object({ id, outcome: outcome.optional(), after: id.optional(), limit: pageSize(1000) }),
  output: z.object({
    items: z.array(
      z.object({
        jobId: z.string(),
        outcome: outcome.nullable().describe('Null: its turn has not come'),
        reason: z.string().nullable(),
        before: z.number().nullable().describe('The priority that it had'),
        newJobId: z.string().nullable(),
      }),
    ),
    next: z.string().nullable().describe('The `after` of the next page'),
  }),
})

export const cancel = endpoint({
  method: 'POST',
  path: `${BULK}/:id/cancel`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Stop a bulk operation: what it has changed stays so',
  input: z.object({ id }),
  output: report,
})

export const proceed = endpoint({
  method: 'POST',
  path: `${BULK}/:id/proceed`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Go on with the rest of a bulk operation without waiting for its canary',
  input: z.object({
    id,
    rate: z.number().int().min(1).max(5000).optional().describe('Jobs per second from now on. Default: as before'),
  }),
  output: report,
})

export const undo = endpoint({
  method: 'POST',
  path: `${BULK}/:id/undo`,
  permission: 'operator',
  scope: 'tenant',
  status: 201,
  summary: 'Take a bulk operation back by another one',
  description: 'Only a change of priority can be taken back: `noUndo` says why others cannot.',
  input: z.object({ id }),
  output: report,
})
