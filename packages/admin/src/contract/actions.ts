// Operations under /api/actions/, whose names and fields are written with hyphens.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { flag, id, pageSize, time } from './fields.ts'

/** Ids may come as numbers. */
const looseIds = z
  .array(z.union([id, z.int().min(0).transform(String)]))
  .min(1)
  .max(1000)

export const getDeadLetterJobs = endpoint({
  method: 'GET',
  path: '/api/actions/get-dead-letter-jobs',
  permission: 'operator',
  scope: 'tenant',
  summary: 'List dead letters with their original jobs, newest first',
  description: 'For the next page pass the id of the last letter as `before`.',
  input: z.object({ acknowledged: flag.optional(), before: id.optional(), limit: pageSize(200) }),
  output: z.array(
    z.object({
      id: z.string(),
      'original-job': z.looseObject({}),
      'error-message': z.string(),
      'error-details': z.looseObject({}).nullable(),
      'correlation-id': z.string(),
      'died-at': time,
      acknowledged: z.boolean(),
      'acknowledged-by': z.string().nullable(),
      'acknowledged-at': time.nullable(),
    }),
  ),
})

export const reprocessDeadLetterJobs = endpoint({
  method: 'POST',
  path: '/api/actions/reprocess-dead-letter-jobs',
  permission: 'operator',
  scope: 'tenant',
  summary: 'Give each dead letter a new job; one result per id, by position',
  input: z.object({ 'dead-letter-ids': looseIds, 'max-attempts': z.int().min(1).optional() }),
  output: z.array(
    z.object({
      id: z.string(),
      status: z.enum(['redriven', 'duplicate', 'already_redriven', 'refused', 'not_found']),
      'job-id': z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
    }),
  ),
})

export const acknowledgeDeadLetterJobs = endpoint({
  method: 'POST',
  path: '/api/actions/acknowledge-dead-letter-jobs',
  permission: 'operator',
  scope: 'tenant',
  summary: 'Mark dead letters as seen; one result per id, by position',
  input: z.object({ 'dead-letter-ids': looseIds }),
  output: z.array(
    z.object({
      id: z.string(),
      status: z.enum(['acknowledged', 'already_acknowledged', 'not_found']),
      by: z.string().nullable().optional(),
      at: time.nullable().optional(),
    }),
  ),
})
