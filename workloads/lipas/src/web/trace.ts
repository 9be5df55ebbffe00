// GET /lipas/api/trace/:correlation follows one action through its jobs.
import { type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import { z } from 'zod'
import { traceHtml } from './page/trace.ts'
import { represented } from './representation.ts'
import { isOver, type TracedJob, tracedJobs } from './traced-jobs.ts'

const time = z.iso.datetime({ offset: true })

const run = z.object({
  attempt: z.int(),
  outcome: z.string(),
  'started-at': time,
  'duration-ms': z.number().nullable(),
  error: z.string().nullable(),
})

const job = z.object({
  id: z.string(),
  type: z.string(),
  status: z.string(),
  attempt: z.int(),
  'max-attempts': z.int(),
  'created-at': time,
  'finished-at': time.nullable(),
  note: z.string().nullable().describe('Why it waits, or why it has died'),
  'is-joined': z.boolean().describe('Another action enqueued it, and this one waits for it, too'),
  runs: z.array(run),
})

const trace = endpoint({
  method: 'GET',
  path: '/lipas/api/trace/:correlation',
  permission: 'viewer',
  scope: 'all',
  summary: 'Follow one action through its jobs',
  description:
    'With `Accept: text/html` as the page shows it. `also` names jobs that the action found waiting, by id, with commas between them.',
  input: z.object({
    correlation: z.string().min(1).max(200),
    also: z
      .string()
      .regex(/^\d{1,18}(,\d{1,18}){0,9}$/, 'expected up to ten ids of jobs, with commas between them')
      .optional(),
  }),
  output: z.object({ 'correlation-id': z.string(), 'is-over': z.boolean(), jobs: z.array(job) }),
})

export const traceRoute = (): Route =>
  route(trace, async ({ correlation, also }, { millrace, request }) => {
    const jobs = await tracedJobs(millrace, correlation, also?.split(',') ?? [])
    return represented(request, {
      html: () => traceHtml(jobs, { correlation, now: new Date() }),
      json: () => ({ 'correlation-id': correlation, 'is-over': isOver(jobs), jobs: jobs.map(documentOf) }),
    })
  })

const documentOf = ({ job, isJoined, note, runs }: TracedJob) => ({
  ...{ id: job.id, type: job.type, status: job.status, attempt: job.attempt, 'max-attempts': job.maxAttempts },
  ...{ 'created-at': job.createdAt, 'finished-at': job.finishedAt, note, 'is-joined': isJoined },
  runs: runs.map(({ attempt, outcome, at, durationMs, errorMessage }) => ({
    ...{ attempt, outcome, 'started-at': at, 'duration-ms': durationMs, error: errorMessage },
  })),
})
