// Dead letters: look at them, and decide about them.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { csvLimit, duration, flag, forOperators, id, name, pageSize, time } from './fields.ts'
import { attempt } from './jobs.ts'

export const LETTERS = '/admin/api/dead-letters'

const status = z.enum(['pending', 'retried', 'resolved', 'ignored'])
export const deadReason = z.enum([
  'exhausted',
  'discarded',
  'unrecoverable',
  'gave_up',
  'invalid_payload',
  'stuck',
  'crash_loop',
])

export const letter = z.object({
  id: z.string(),
  jobId: z.string(),
  type: z.string(),
  queue: z.string(),
  tenant: z.string().nullable(),
  correlationId: z.string(),
  reason: deadReason,
  attempts: z.number(),
  errorClass: z.string().nullable(),
  errorMessage: z.string(),
  fingerprint: z.string().nullable(),
  status,
  acknowledged: z.boolean(),
  acknowledgedBy: z.string().nullable(),
  acknowledgedAt: time.nullable(),
  notes: z.string().nullable(),
  redrives: z.number(),
  redrivenJobId: z.string().nullable(),
  workflowId: z.string().nullable(),
  diedAt: time,
})

/** At most a thousand at once, each once. */
export const ids = z.array(id).min(1).max(1000)
const note = z.string().min(1).max(10_000)
const before = { by: z.string().nullable().optional(), at: time.nullable().optional() }

const decided = <const Status extends string>(...statuses: Status[]) =>
  z.object({ results: z.array(z.object({ id: z.string(), status: z.enum([...statuses, 'not_found']), ...before })) })

export const redriveResult = z.object({
  id: z.string(),
  status: z.enum(['redriven', 'duplicate', 'already_redriven', 'refused', 'not_found']),
  jobId: z.string().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
})

/** Which letters. */
const filter = {
  status: status.optional(),
  acknowledged: flag.optional(),
  queue: name.optional(),
  type: name.optional(),
  tenant: name.optional(),
  fingerprint: name.optional(),
  reason: deadReason.optional(),
}

export const list = endpoint({
  method: 'GET',
  path: LETTERS,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List dead letters, newest first',
  description: 'For the next page pass the id of the last letter as `before`.',
  input: z.object({ ...filter, before: id.optional(), limit: pageSize(1000) }),
  output: z.object({ letters: z.array(letter), next: z.string().nullable() }),
})

export const csv = endpoint({
  method: 'GET',
  path: `${LETTERS}.csv`,
  permission: 'viewer',
  scope: 'tenant',
  media: 'text/csv',
  summary: 'Export dead letters as CSV, newest first',
  description: 'As `jobs.csv`.',
  input: z.object({ ...filter, before: id.optional(), limit: csvLimit }),
  output: z.string(),
})

export const counts = endpoint({
  method: 'GET',
  path: `${LETTERS}/counts`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Count the letters of each tenant in each queue, the most pending first',
  input: z.object({ limit: pageSize(1000) }),
  output: z.object({
    counts: z.array(
      z.object({
        queue: z.string(),
        tenant: z.string().nullable(),
        pending: z.number(),
        retried: z.number(),
        resolved: z.number(),
        ignored: z.number(),
        oldestPendingAt: time.nullable(),
      }),
    ),
  }),
})

export const get = endpoint({
  method: 'GET',
  path: `${LETTERS}/:id`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show a letter with the original job and every failed attempt',
  input: z.object({ id }),
  output: letter.extend({
    originalJob: forOperators,
    errorDetails: z.object({ class: z.string(), stack: z.string().nullable(), logs: forOperators }).nullable(),
    workflowStatus: z.string().nullable(),
    failedAttempts: z.array(attempt),
  }),
})

export const acknowledge = endpoint({
  method: 'POST',
  path: `${LETTERS}/acknowledge`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Mark letters as seen: they stay pending, and are not redriven by themselves any more',
  input: z.object({ ids }),
  output: decided('acknowledged', 'already_acknowledged'),
})

export const redrive = endpoint({
  method: 'POST',
  path: `${LETTERS}/redrive`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Give each letter a new job of the same work',
  input: z.object({ ids, maxAttempts: z.number().int().min(1).optional(), payload: z.unknown().optional() }),
  output: z.object({ results: z.array(redriveResult) }),
})

export const resolve = endpoint({
  method: 'POST',
  path: `${LETTERS}/resolve`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Mark letters as settled in another way',
  input: z.object({ ids, note: note.optional() }),
  output: decided('resolved', 'already_resolved'),
})

export const ignore = endpoint({
  method: 'POST',
  path: `${LETTERS}/ignore`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Mark letters as not worth a decision',
  input: z.object({ ids, note: note.optional() }),
  output: decided('ignored', 'already_ignored'),
})

export const addNote = endpoint({
  method: 'POST',
  path: `${LETTERS}/note`,
  permission: 'operator',
  scope: 'tenant',
  summary: 'Append a note to letters, with time and author',
  input: z.object({ ids, note }),
  output: z.object({ results: z.array(z.object({ id: z.string(), status: z.enum(['noted', 'not_found']) })) }),
})

export const prune = endpoint({
  method: 'POST',
  path: `${LETTERS}/prune`,
  permission: 'admin',
  scope: 'all',
  summary: 'Forget letters that were resolved or ignored',
  input: z.object({ olderThan: duration, since: z.enum(['decision', 'death']).optional() }),
  output: z.object({ pruned: z.number(), isComplete: z.boolean() }),
})
