// The calls of the register's programs: enqueue by type, chains, statistics, traces, dead letters. Thin names over the client.
import { randomUUID } from 'node:crypto'
import {
  type CorrelatedJobs,
  type DeadLetter,
  type EnqueueResult,
  type JobContract,
  type Millrace,
  UnknownJobType,
} from 'millrace'
import { contracts } from './contracts.ts'

export interface JobOptions {
  /** Lower runs first. Default 100. */
  readonly priority?: number
  readonly runAt?: Date
  /** Default: a new uuid. */
  readonly correlationId?: string
  /** Instead of the key of the contract. */
  readonly dedupKey?: string
  readonly maxAttempts?: number
  readonly parentJobId?: string
  readonly createdBy?: string
}

export interface ChainedJob {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

export interface ChainOptions {
  readonly correlationId?: string
  readonly createdBy?: string
  /** True: each starts when the one before it has completed. Default: all at once, all or none. */
  readonly inOrder?: boolean
}

export type Chain =
  | { readonly correlationId: string; readonly jobs: readonly EnqueueResult[] }
  | { readonly correlationId: string; readonly workflowId: string }

export class JobsApi {
  readonly #millrace: Millrace

  constructor(millrace: Millrace) {
    this.#millrace = millrace
  }

  /** Throws UnknownJobType and InvalidPayload. */
  async enqueueJob(type: string, payload: object, options: JobOptions = {}): Promise<EnqueueResult> {
    const correlationId = options.correlationId ?? randomUUID()
    return this.#millrace.enqueueByType(type, payload, { ...options, correlationId })
  }

  async createJobChain(chain: readonly ChainedJob[], options: ChainOptions = {}): Promise<Chain> {
    const { inOrder = false, createdBy, correlationId = randomUUID() } = options
    const given = { correlationId, ...(createdBy !== undefined && { createdBy }) }
    const links = chain.map(({ type, payload }) => ({ job: contractOf(type), payload }))
    if (inOrder) {
      const { id } = await this.#millrace.workflows.startChain(links as never, given)
      return { correlationId, workflowId: id }
    }
    const items = links.map((link) => ({ ...link, options: given }))
    return { correlationId, jobs: await this.#millrace.enqueueMany(items as never) }
  }

  getQueueStats = () => this.#millrace.reports.queueStats()

  getAdminMetrics = ({ fromHoursAgo = 24, toHoursAgo = 0 }: { fromHoursAgo?: number; toHoursAgo?: number } = {}) =>
    this.#millrace.reports.overHours({ fromHoursAgo, toHoursAgo })

  getJobsByCorrelation = (correlationId: string): Promise<CorrelatedJobs> =>
    this.#millrace.jobsByCorrelation(correlationId)

  getCorrelationTrace = (correlationId: string) => this.#millrace.correlationTrace(correlationId)

  /** With attempts left the job waits for its retry, else it is a dead letter. The job's own numbers decide. */
  failJob = (
    id: string,
    reason: string,
    { by = 'lipas' }: { by?: string; currentAttempt?: number; maxAttempts?: number } = {},
  ) => this.#millrace.fail(id, { reason, by })

  getDeadLetterJobs = ({ acknowledged }: { acknowledged?: boolean } = {}): Promise<DeadLetter[]> =>
    this.#millrace.deadLetters.list(acknowledged === undefined ? {} : { acknowledged })

  reprocessDeadLetterJob = async (id: string, by: string, options: { maxAttempts?: number } = {}) =>
    (await this.#millrace.deadLetters.redrive([id], { by, ...options }))[0]

  reprocessDeadLetterJobs = (ids: readonly string[], by: string, options: { maxAttempts?: number } = {}) =>
    this.#millrace.deadLetters.redrive([...ids], { by, ...options })

  acknowledgeDeadLetterJobs = (ids: readonly string[], by: string) =>
    this.#millrace.deadLetters.acknowledge([...ids], { by })

  /** Valid payloads of every type, for a look at what a job carries. */
  exampleJobPayloads = (): Record<string, readonly unknown[]> =>
    Object.fromEntries(contracts.map(({ type, examples }) => [type, examples]))
}

function contractOf(type: string): JobContract {
  const found = contracts.find((each) => each.type === type)
  if (found !== undefined) return found
  throw new UnknownJobType(
    type,
    contracts.map((each) => each.type),
  )
}
