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

const hours = z.number().min(0).max(168).optional()
const counted = z.object({ count: z.number(), oldest: time.nullable().optional() })
const healthStatus = z.enum(['ok', 'degraded', 'failing'])

export const createJobsMetricsReport = endpoint({
  method: 'POST',
  path: '/api/actions/create-jobs-metrics-report',
  permission: 'viewer',
  scope: 'all',
  summary: 'Report over hours: current counts, health, durations by type and outcome, throughput by the hour',
  description: 'Default: the last 24 hours. `from-hours-ago` is at most 168, and more than `to-hours-ago`.',
  input: z.object({ 'from-hours-ago': hours, 'to-hours-ago': hours }),
  output: z.object({
    'current-stats': z.record(z.string(), counted),
    health: healthStatus,
    'performance-metrics': z.array(
      z.object({
        type: z.string(),
        status: z.string(),
        'job-count': z.number(),
        'avg-duration-ms': z.number().nullable(),
        'p50-duration-ms': z.number().nullable(),
        'p95-duration-ms': z.number().nullable(),
        'p99-duration-ms': z.number().nullable(),
        'avg-queue-time-ms': z.number().nullable(),
      }),
    ),
    'hourly-throughput': z.array(
      z.object({ hour: time, type: z.string(), status: z.string(), 'job-count': z.number() }),
    ),
    'generated-at': time,
  }),
})

export const getJobsHealthStatus = endpoint({
  method: 'POST',
  path: '/api/actions/get-jobs-health-status',
  permission: 'viewer',
  scope: 'all',
  summary: 'Say how the jobs are, with reasons and counts',
  input: z.object({}),
  output: z.object({
    status: healthStatus,
    reasons: z.array(z.string()),
    'pending-count': z.number().nullable(),
    'processing-count': z.number().nullable(),
    'failed-count': z.number().nullable(),
    'dead-count': z.number().nullable(),
    'oldest-pending-minutes': z.number().nullable(),
    'longest-processing-minutes': z.number().nullable(),
    memory: z.number().nullable().describe('Of the worker that uses most of its memory, 0 to 1'),
    breakers: z.array(z.object({ service: z.string(), state: z.string() })),
  }),
})
