// Awaiting how a job ends, and reading its result.
import type pg from 'pg'
import { type Duration, toMs } from '../contract/duration.ts'
import type { JobContract, ResultOutput } from '../contract/job.ts'
import { validate } from '../contract/payload.ts'
import type { DeadReason } from '../contract/redrive.ts'
import type { Registry } from '../contract/registry.ts'
import { openStored, ownerOf } from '../contract/sealed.ts'
import { JobNotFound, ResultMismatch } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Database } from '../store/db.ts'
import type { EndedJob } from '../store/ended-jobs.ts'
import { isJobId } from '../store/job-id.ts'
import type { JobProgress } from '../store/progress.ts'
import { EndWatch } from './end-watch.ts'
import { EndedListener } from './ended-listener.ts'
import { shown } from './protect.ts'

export interface ResultOptions<C extends JobContract = JobContract> {
  /** How long to wait. Default 30 s. */
  timeout?: Duration
  /** Ends the waiting; the job goes on. */
  signal?: AbortSignal
  /** Types the result, and parses it by the contract's result schema. The job must be of its type. */
  contract?: C
  /** Told what the running handler says by ctx.progress, about once a second. */
  onProgress?: (progress: JobProgress) => void
}

/** How a job ended. */
export type JobResult<Result = unknown> =
  | { status: 'completed'; result: Result }
  | { status: 'cancelled'; reason: string }
  | { status: 'dead'; reason: DeadReason; error: string }
  /** It ended while it was awaited, and its retention is 'none': how is not recorded. */
  | { status: 'gone' }

export interface ResultsServices {
  db: Database
  events: Events
  registry: Registry
  connection: pg.ClientConfig
}

const DEFAULT_TIMEOUT: Duration = '30s'

export class Results {
  readonly #watch: EndWatch
  readonly #registry: Registry

  constructor({ db, events, registry, connection }: ResultsServices, options: { isNotifyEnabled: boolean }) {
    this.#registry = registry
    const listener = new EndedListener({
      connection,
      schema: db.schema,
      onEnded: (ids) => this.#watch.heard(ids),
      onListening: () => this.#watch.heardNothingBefore(),
    })
    this.#watch = new EndWatch({ db, events, listener: options.isNotifyEnabled ? listener : undefined })
  }

  async result<C extends JobContract>(id: string, options: ResultOptions<C>): Promise<JobResult<ResultOutput<C>>> {
    const { contract, signal, onProgress } = options
    const timeoutMs = toMs(options.timeout ?? DEFAULT_TIMEOUT, 'timeout')
    signal?.throwIfAborted()
    if (!isJobId(id)) throw new JobNotFound(id, 'that is no id. Pass the id that enqueue returned.')
    const ended = await this.#watch.until(id, { type: contract?.type, timeoutMs, signal, onProgress })
    if (ended === 'gone') return { status: 'gone' }
    return resultOf({ ...ended, result: this.#readable(ended, contract) }, contract)
  }

  /** Who names the contract means the value: only then what is sensitive in it is decrypted. */
  #readable({ type, result, ...ended }: EndedJob, contract: JobContract | undefined): unknown {
    if (contract === undefined) return shown(this.#registry, type, result)
    return openStored(this.#registry.keys, { contract, part: 'result', owner: ownerOf(ended) }, result)
  }

  close(): Promise<void> {
    return this.#watch.close()
  }
}

async function resultOf<C extends JobContract>(
  ended: EndedJob,
  contract: C | undefined,
): Promise<JobResult<ResultOutput<C>>> {
  switch (ended.status) {
    case 'completed':
      return { status: 'completed', result: (await parseResult(ended, contract)) as ResultOutput<C> }
    case 'cancelled':
      return { status: 'cancelled', reason: ended.reason ?? '' }
    case 'dead':
      return { status: 'dead', reason: ended.reason as DeadReason, error: ended.error ?? '' }
  }
}

/** The result as its schema puts it out. Throws ResultMismatch. */
export async function parseResult(
  ended: Pick<EndedJob, 'id' | 'type' | 'result' | 'hasResult'>,
  contract: JobContract | undefined,
): Promise<unknown> {
  const value = ended.hasResult ? ended.result : undefined
  if (contract?.result === undefined) return value
  const checked = await validate(contract.result, value)
  if ('value' in checked) return checked.value
  const issues = checked.issues.map(({ path, message }) => `${path} ${message}`.trim())
  throw new ResultMismatch(ended.id, ended.type, issues.join('; '))
}
