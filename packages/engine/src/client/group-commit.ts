// Single enqueues that are under way at the same time share one insert and one commit.
//
// A batch goes out as soon as fewer than two are in flight, so a lone enqueue waits for nothing and a busy process
// batches by itself. A row that Postgres refuses is found by halving the batch and fails only its own caller.
import { monotonicMs } from '../clock.ts'
import { DatabaseConflict, DatabaseUnavailable, EnqueueUnknown, InvalidPayload } from '../errors.ts'
import { isContention, isRefused, isTransient } from '../sql-state.ts'
import { isConnectionFailure } from '../store/db.ts'
import type { NewJob } from '../store/jobs.ts'

const MAX_ROWS = 1_000
const MAX_BYTES = 1_000_000
const MAX_IN_FLIGHT = 2
/** The first one after nothing was under way for so long is not kept waiting for others. */
const SILENCE_MS = 5

interface Waiting {
  job: NewJob
  resolve: (id: string) => void
  reject: (error: unknown) => void
}

export class GroupCommit {
  readonly #insert: (jobs: readonly NewJob[]) => Promise<string[]>
  #waiting: Waiting[] = []
  #inFlight = 0
  #isScheduled = false
  #lastEndMs = Number.NEGATIVE_INFINITY

  constructor(insert: (jobs: readonly NewJob[]) => Promise<string[]>) {
    this.#insert = insert
  }

  /** Resolves with the id once the job is durable. */
  add(job: NewJob): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#inFlight >= MAX_IN_FLIGHT) return
    const isSilent = this.#inFlight === 0 && monotonicMs() > this.#lastEndMs + SILENCE_MS
    if (isSilent) return void this.#flush(this.#takeBatch())
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#waiting.length > 0 && this.#inFlight < MAX_IN_FLIGHT) void this.#flush(this.#takeBatch())
    })
  }

  async #flush(batch: Waiting[]): Promise<void> {
    this.#inFlight++
    try {
      await this.#write(batch)
    } finally {
      this.#inFlight--
      this.#lastEndMs = monotonicMs()
      this.#schedule()
    }
  }

  async #write(batch: Waiting[]): Promise<void> {
    try {
      const ids = await this.#insert(batch.map((each) => each.job))
      batch.forEach((each, i) => {
        each.resolve(ids[i] as string)
      })
    } catch (error) {
      if (!isRefused(error) || batch.length === 1) return failAll(batch, error)
      const middle = batch.length >> 1
      await this.#write(batch.slice(0, middle))
      await this.#write(batch.slice(middle))
    }
  }

  #takeBatch(): Waiting[] {
    let bytes = 0
    let count = 0
    while (count < this.#waiting.length && count < MAX_ROWS && (count === 0 || bytes < MAX_BYTES)) {
      bytes += (this.#waiting[count] as Waiting).job.payload.length + 200
      count++
    }
    return this.#waiting.splice(0, count)
  }
}

function failAll(batch: Waiting[], error: unknown): void {
  for (const each of batch) each.reject(enqueueFailure(error, each.job))
}

/** What the caller of an enqueue is told when the database failed or refused. */
export function enqueueFailure(error: unknown, job: NewJob): unknown {
  if (error instanceof DatabaseUnavailable) return error
  if (isConnectionFailure(error)) return new EnqueueUnknown(job.type, job.dedupKey !== null, error)
  if (isContention(error)) return new DatabaseConflict(error)
  if (isTransient(error)) return new DatabaseUnavailable(error)
  return isRefused(error) ? refusalBy(error as Error & { code: string }, job) : error
}

/** What passed our checks and not those of the server: its encoding lacks a character, say. Its words may quote data. */
function refusalBy(error: Error & { code: string }, job: NewJob): InvalidPayload {
  const message = `Postgres refuses to store it (SQLSTATE ${error.code}, see the cause)`
  return new InvalidPayload(job.type, [{ path: '', message }], 'given', error)
}
