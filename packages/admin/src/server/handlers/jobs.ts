import { type Duration, type Job, type JobAttempt, JobNotFound, type Millrace, searchFields, toMs } from 'millrace'
import type { z } from 'zod'
import { contract } from '../../contract/operations.ts'
import {
  type Caller,
  demandRole,
  demandTenant,
  hasRole,
  maySee,
  newestFirst,
  oneTenant,
  tenantNeeded,
  tenantsToList,
} from '../caller.ts'
import { csvResponse } from '../csv.ts'
import { conflict, Refusal } from '../problem.ts'
import { Answer, given, type Route, route } from '../route.ts'

const { jobs } = contract
const PAGE = 50

/** Without what only operators may see. A job alone has its log lines, one of a list has none. */
export function shownJob<J extends Job>(caller: Caller, job: J): Omit<J, 'payload' | 'result' | 'logs'> {
  if (hasRole(caller, 'operator')) return job
  const { payload: _, result: __, logs: ___, ...rest } = job as J & { logs?: unknown }
  return rest
}

export function shownAttempt(caller: Caller, attempt: JobAttempt): Omit<JobAttempt, 'logs'> {
  if (hasRole(caller, 'operator')) return attempt
  const { logs: _, ...rest } = attempt
  return rest
}

const noJob = (id: string) =>
  new JobNotFound(id, 'it never existed, nothing is kept of it any more, or you may not see it.')

async function visibleJob(millrace: Millrace, caller: Caller, id: string) {
  const job = await millrace.job(id)
  if (job === undefined || !maySee(caller, job.tenant)) throw noJob(id)
  return job
}

const isOver = (id: string, as: string) =>
  conflict('already_finished', `Job ${id} is ${as}: somebody or its worker was faster. Nothing was changed.`, { as })

const runsNow = (id: string) =>
  conflict('running', `Job ${id} runs at this moment, so nothing was changed. Cancel it, or wait until it has ended.`)

export const jobRoutes: readonly Route[] = [
  route(jobs.list, async ({ q, order, after, timeout, ...listed }, { millrace, caller }) => {
    const asked = given({ q, order, after, timeout })
    if (Object.keys(asked).length === 0) return jobList(millrace, caller, listed)
    const { tenant, limit, ...fields } = listed
    const [field] = Object.keys(given(fields))
    if (field === undefined) return jobSearch(millrace, caller, { ...asked, q: q ?? '', tenant, limit })
    const instead = field === 'before' ? 'pass `next` as `after`' : 'say it in the query'
    throw new Refusal(400, 'invalid_request', `\`${field}\` does not go with a query: ${instead}.`)
  }),

  route(jobs.search, (search, { millrace, caller }) => jobSearch(millrace, caller, search)),

  route(jobs.csv, ({ q = '', tenant, order, limit, after: first }, { millrace, caller }) =>
    csvResponse({
      ...{ kind: 'jobs', goOn: 'after', limit },
      async page(after = first, most) {
        const { jobs: rows, next } = await jobSearch(millrace, caller, { q, tenant, order, after, limit: most })
        return { rows, next }
      },
    }),
  ),

  route(jobs.count, async ({ q, tenant, timeout }, { millrace, caller }) => {
    demandTerms(millrace, caller, q)
    return millrace.search.count(q, given({ tenant: oneTenant(caller, tenant), timeoutMs: msOf(timeout) }))
  }),

  route(jobs.timeline, async ({ q, from, to, steps, tenant, timeout }, { millrace, caller }) => {
    demandTerms(millrace, caller, q)
    const options = given({ steps, tenant: oneTenant(caller, tenant), timeoutMs: msOf(timeout) })
    return millrace.search.timeline(q, { ...options, from: new Date(from), to: new Date(to) })
  }),

  route(jobs.suggest, async ({ q, position = q.length, tenant }, { millrace, caller }) =>
    millrace.search.suggest(q, position, given({ tenant: oneTenant(caller, tenant) })),
  ),

  route(jobs.get, async ({ id }, { millrace, caller }) => {
    const job = await visibleJob(millrace, caller, id)
    const attempts = await millrace.attempts(id)
    const letter = job.status === 'dead' ? await millrace.deadLetters.ofJob(id) : undefined
    return {
      ...shownJob(caller, job),
      attempts: attempts.map((attempt) => shownAttempt(caller, attempt)),
      steps: await millrace.steps(id),
      deadLetter: letter === undefined ? null : { id: letter.id, status: letter.status },
    }
  }),

  route(jobs.history, async ({ id }, { millrace, caller }) => {
    await visibleJob(millrace, caller, id)
    return { events: await millrace.history(id) }
  }),

  route(jobs.explain, async ({ id }, { millrace, caller }) => {
    await visibleJob(millrace, caller, id)
    // The names of other tenants are theirs.
    const explanation = await millrace.explain(id, caller.tenants === null ? {} : { tenants: caller.tenants })
    return { ...explanation, job: shownJob(caller, explanation.job) }
  }),

  route(jobs.enqueue, async (input, { millrace, caller, by }) => {
    const { job_type: type, payload = {} } = input
    const tenant = enqueuedTenant(caller, input.tenant)
    const result = await millrace.enqueueByType(type, payload, {
      createdBy: by,
      ...given({
        tenant,
        priority: input.priority,
        runAt: input.run_at === undefined ? undefined : new Date(input.run_at),
        delay: input.delay as `${number}s` | undefined,
        correlationId: input.correlation_id,
        maxAttempts: input.max_attempts,
        dedupKey: input.dedup_key,
        orderKey: input.order_key,
        limitKey: input.limit_key,
      }),
    })
    const { status, id } = result
    const job = await millrace.job(id)
    await millrace.audit.write({
      ...{ by, action: 'job.enqueue', target: id, tenant: job?.tenant ?? null },
      details: { type, status },
    })
    const warnings = 'warnings' in result ? result.warnings : []
    const body = { status, id, job_type: type, queue: job?.queue ?? null, warnings }
    return new Answer(status === 'duplicate' || status === 'replaced' ? 200 : 201, body)
  }),

  route(jobs.retry, async ({ id, ...options }, { millrace, caller, by }) => {
    await visibleJob(millrace, caller, id)
    const result = await millrace.retry(id, { ...given(options), by })
    switch (result.status) {
      case 'due':
      case 'redriven':
        return result
      case 'not_found':
        throw noJob(id)
      case 'running':
        throw runsNow(id)
      case 'finished':
        throw isOver(id, result.as)
      case 'refused':
        throw conflict(result.reason, result.message, { letterId: result.id })
      default:
        throw conflict(
          result.status,
          `Job ${result.jobId} does this work already, so nothing was changed. Look at that job.`,
          { jobId: result.jobId, letterId: result.id },
        )
    }
  }),

  route(jobs.cancel, async ({ id, reason }, { millrace, caller, by }) => {
    const before = await visibleJob(millrace, caller, id)
    const status = await millrace.cancel(id, { by, ...given({ reason }) })
    if (status === 'not_found') throw noJob(id)
    if (status === 'already_finished') throw isOver(id, (await millrace.job(id))?.status ?? before.status)
    return { status }
  }),

  route(jobs.fail, async ({ id, reason, final = false }, { millrace, caller, by }) => {
    await visibleJob(millrace, caller, id)
    const result = await millrace.fail(id, { by, reason, final })
    if (result.status === 'not_found') throw noJob(id)
    if (result.status === 'finished') throw isOver(id, result.as)
    return result
  }),

  route(jobs.prioritise, async ({ id, priority }, { millrace, caller, by }) => {
    await visibleJob(millrace, caller, id)
    const result = await millrace.prioritise(id, priority, { by })
    if (result.status === 'not_found') throw noJob(id)
    if (result.status === 'running') throw runsNow(id)
    if (result.status === 'finished') throw isOver(id, result.as)
    return result
  }),

  route(jobs.prune, async ({ olderThan, ...rest }, { millrace, by, request }) =>
    millrace.prune({ olderThan: olderThan as `${number}d`, ...given(rest), by, signal: request.signal }),
  ),

  route(jobs.correlation, async ({ correlationId, limit }, { millrace, caller }) => {
    const trace = await millrace.correlationTrace(correlationId, given({ limit }))
    const visible = trace.jobs.filter((job) => maySee(caller, job.tenant))
    const ids = new Set(visible.map(({ id }) => id))
    return {
      jobs: visible.map((job) => shownJob(caller, job)),
      timeline: trace.timeline.filter(({ jobId }) => ids.has(jobId)),
      isMore: trace.isMore,
    }
  }),
]

const msOf = (timeout: string | undefined): number | undefined =>
  timeout === undefined ? undefined : toMs(timeout as Duration, 'timeout')

type ListInput = z.output<typeof jobs.list.input>

async function jobList(
  millrace: Millrace,
  caller: Caller,
  { tenant, limit = PAGE, ...filter }: Omit<ListInput, 'q' | 'order' | 'after' | 'timeout'>,
) {
  const lists = await eachTenant(tenantsToList(caller, tenant), (each) =>
    millrace.jobs({ ...given({ ...filter, tenant: each }), limit }),
  )
  const page = newestFirst(lists, limit)
  const next = page.length === limit ? (page.at(-1)?.id ?? null) : null
  return { jobs: page.map((job) => shownJob(caller, job)), next, scanned: null }
}

async function jobSearch(millrace: Millrace, caller: Caller, search: z.output<typeof jobs.search.input>) {
  const { q, tenant, timeout, ...page } = search
  demandTerms(millrace, caller, q)
  const scope = { tenant: oneTenant(caller, tenant), timeoutMs: msOf(timeout) }
  const found = await millrace.search.jobs(q, given({ ...page, ...scope }))
  return { ...found, jobs: found.jobs.map((job) => shownJob(caller, job)) }
}

/** Payloads are hidden from viewers, and texts are looked through job by job. */
const OPERATORS_FIELDS: ReadonlySet<string> = new Set(
  searchFields.filter(({ isScanned }) => isScanned).map(({ name }) => name),
)

function demandTerms(millrace: Millrace, caller: Caller, q: string): void {
  const { query } = millrace.search.read(q)
  if (query?.conditions.some(({ field }) => OPERATORS_FIELDS.has(field))) demandRole(caller, 'operator')
}

/** Of a caller that acts for tenants it is always said, so that a payload that names another one is refused. */
function enqueuedTenant(caller: Caller, named: string | undefined): string | undefined {
  if (caller.tenants === null) return named
  const tenant = named ?? onlyTenant(caller)
  if (tenant === undefined) throw tenantNeeded(caller)
  demandTenant(caller, tenant, `tenant "${tenant}"`)
  return tenant
}

/** A caller that acts for one tenant need not name it. */
const onlyTenant = ({ tenants }: Caller): string | undefined => (tenants?.length === 1 ? tenants[0] : undefined)

export async function eachTenant<Item>(
  tenants: readonly (string | undefined)[],
  list: (tenant: string | undefined) => Promise<Item[]>,
): Promise<Item[][]> {
  const lists: Item[][] = []
  for (const tenant of tenants) lists.push(await list(tenant))
  return lists
}
