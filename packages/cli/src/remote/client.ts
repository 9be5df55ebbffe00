// The calls of the client, answered by a remote admin API. The server takes the author of a change from the token.
import { type AnswerOf, contract } from '@millrace/admin/contract'
import {
  type BulkPreview,
  type BulkReport,
  type CatalogueEntry,
  type EnqueueByTypeOptions,
  type EnqueueResult,
  type Explanation,
  InvalidQuery,
  type JobAttempt,
  type JobCount,
  type JobDetails,
  type JobStep,
  type Pause,
  type QueueState,
  type Resumption,
  type SearchOptions,
  type SearchPage,
  type Stats,
  type WorkerState,
  type WorkflowDetails,
} from 'millrace'
import { ApiRefusal, type Ask, connect, undefinedIfMissing } from './ask.ts'
import { endOf } from './job-end.ts'
import { remoteLetters } from './letters.ts'
import type { Operations } from './operations.ts'

export interface RemoteClient extends Operations {
  /** The name of the token. */
  author(): Promise<string>
}

interface WholeJob extends JobDetails {
  attempts: JobAttempt[]
  steps: JobStep[]
  deadLetter: { id: string; status: string } | null
}

export function remoteClient(url: string): RemoteClient {
  const ask = connect(url)
  const jobs = new JobReader(ask)
  return {
    author: async () => ((await ask(contract.access.me, {})) as AnswerOf<typeof contract.access.me>).name,
    async job(id) {
      const whole = await jobs.read(id)
      if (whole === undefined) return undefined
      const { attempts: _, steps: __, deadLetter: ___, ...job } = whole
      return job
    },
    attempts: async (id) => (await jobs.read(id))?.attempts ?? [],
    steps: async (id) => (await jobs.read(id))?.steps ?? [],
    explain: async (id) => (await ask(contract.jobs.explain, { id })) as Explanation,
    result: (id, { timeout }) => endOf(id, timeout, () => jobs.readAgain(id)),
    enqueueByType: (type, payload, options = {}) => enqueue(ask, { type, payload }, options),
    queues: async () => ((await ask(contract.queues.list, {})) as { queues: QueueState[] }).queues,
    stats: async () => (await ask(contract.queues.stats, {})) as Stats,
    search: {
      jobs: async (q, options = {}) =>
        (await ask(contract.jobs.search, { q, ...pageOf(options) }).catch(pointInto(q))) as SearchPage,
      count: async (q, options = {}) =>
        (await ask(contract.jobs.count, { q, ...pageOf(options) }).catch(pointInto(q))) as JobCount,
    },
    catalogue: {
      async list(kind) {
        return ((await ask(contract.catalogue.list, { kind })) as { entries: CatalogueEntry<'queue'>[] }).entries
      },
    },
    pauses: remotePauses(ask),
    workers: remoteWorkers(ask),
    workflows: {
      get: async (id) => (await ask(contract.workflows.get, { id }).catch(undefinedIfMissing)) as WorkflowDetails,
    },
    reports: {
      runs: async (span) => (await ask(contract.reports.runs, span as never)) as never,
      series: async (span) => (await ask(contract.reports.series, span as never)) as never,
      deadLetters: async (span) => (await ask(contract.reports.deadLetters, span as never)) as never,
    },
    bulk: remoteBulk(ask),
    deadLetters: {
      ...remoteLetters(ask),
      ofJob: async (id) => (await jobs.read(id))?.deadLetter ?? undefined,
    },
  }
}

/** One answer has the job, its attempts, its steps and its letter. */
class JobReader {
  readonly #ask: Ask
  readonly #read = new Map<string, Promise<WholeJob | undefined>>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  read(id: string): Promise<WholeJob | undefined> {
    const reading = this.#read.get(id) ?? this.readAgain(id)
    this.#read.set(id, reading)
    return reading
  }

  async readAgain(id: string): Promise<WholeJob | undefined> {
    if (!/^\d{1,19}$/.test(id)) return undefined
    return (await this.#ask(contract.jobs.get, { id }).catch(undefinedIfMissing)) as WholeJob | undefined
  }
}

const pageOf = ({ timeoutMs, ...page }: SearchOptions) => ({
  ...page,
  ...(timeoutMs !== undefined && { timeout: `${timeoutMs}ms` }),
})

/** So that the place in the query is shown as with a database. */
const pointInto =
  (query: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiRefusal) || error.code !== 'invalid_query') throw error
    const { problem, start, end } = error.problem
    throw new InvalidQuery(query, {
      message: String(problem),
      start: Number(start),
      end: Number(end),
      suggestion: null,
    })
  }

async function enqueue(
  ask: Ask,
  { type, payload }: { type: string; payload: unknown },
  options: EnqueueByTypeOptions,
): Promise<EnqueueResult> {
  const { tenant, priority, runAt, delay, correlationId, maxAttempts, dedupKey, orderKey, limitKey } = options
  const answer = (await ask(contract.jobs.enqueue, {
    job_type: type,
    payload,
    tenant,
    priority,
    run_at: runAt === undefined ? undefined : new Date(runAt).toISOString(),
    delay: delay as string | undefined,
    correlation_id: correlationId,
    max_attempts: maxAttempts,
    dedup_key: dedupKey,
    order_key: orderKey,
    limit_key: limitKey,
  })) as AnswerOf<typeof contract.jobs.enqueue>
  const { status, id, warnings } = answer
  return (status === 'duplicate' ? { status, id } : { status, id, warnings }) as EnqueueResult
}

function remotePauses(ask: Ask): Operations['pauses'] {
  return {
    list: async () => ((await ask(contract.pauses.list, {})) as { pauses: Pause[] }).pauses,
    pause: async (target, { reason, for: time }) =>
      (await ask(contract.pauses.set, { ...named(target), reason, for: time as string | undefined })) as Pause,
    resume: async (target, { all }) => (await ask(contract.pauses.end, { ...named(target), all })) as Resumption,
  }
}

const named = (target: { queue?: string | null; type?: string | null; tenant?: string | null }) => ({
  queue: target.queue ?? undefined,
  type: target.type ?? undefined,
  tenant: target.tenant ?? undefined,
})

function remoteBulk(ask: Ask): Operations['bulk'] {
  const { bulk } = contract
  return {
    preview: async (request) =>
      (await ask(bulk.preview, request as never).catch(pointInto(request.query ?? ''))) as BulkPreview,
    start: async (request, { by: _, ...options }) =>
      (await ask(bulk.start, { ...request, ...options } as never)) as BulkReport,
    get: async (id) => (await ask(bulk.get, { id }).catch(undefinedIfMissing)) as BulkReport | undefined,
  }
}

function remoteWorkers(ask: Ask): Operations['workers'] {
  return {
    list: async () => ((await ask(contract.workers.list, {})) as { workers: WorkerState[] }).workers,
    quiet: async (id, { reason }) => (await ask(contract.workers.quiet, { id, reason })) as WorkerState,
    resume: async (id, { reason }) =>
      (await ask(contract.workers.resume, { id, reason: reason || undefined })) as WorkerState,
    stop: async (id, { reason }) => (await ask(contract.workers.stop, { id, reason })) as WorkerState,
  }
}
