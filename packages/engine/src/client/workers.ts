// The living workers of all processes: what each says about itself, and what operators ask of one.
//
// A request is a row that the worker reads with its heartbeat. A notification makes that heartbeat come at once; without LISTEN the
// worker hears of it with the next one.
import type { Clock } from '../clock.ts'
import { WorkerNotFound } from '../errors.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { type StoredReport, type WorkerRow, workerList, workerRequest } from '../store/worker-reports.ts'
import type { WorkerRequest } from '../store/workers.ts'
import { author, label } from './enqueue-options.ts'
import type { Waker } from './waker.ts'

export interface WorkerReport extends Omit<StoredReport, 'runs' | 'ageMs'> {
  /** By the database's clock. Old while the worker's event loop is blocked. */
  readonly at: Date
  /** What runs, the longest first; at most ten of them. */
  readonly runs: readonly { readonly jobId: string; readonly type: string; readonly since: Date }[]
}

export interface WorkerState {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly startedAt: Date
  readonly heartbeatAt: Date
  /** When its lease ends if it is not renewed. */
  readonly expiresAt: Date
  /** Job types that it has handlers for. */
  readonly types: readonly string[]
  /** What an operator asks of it; null: nothing. The report's `state` says whether it has heard. */
  readonly request: (WorkerRequest & { readonly at: Date }) | null
  /** What it said with its last heartbeat; null: it runs a version that does not report. */
  readonly report: WorkerReport | null
}

/** Who asks, and why: the worker's log and the audit log have it. */
export interface WorkerAsk {
  readonly by: string
  readonly reason: string
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export class Workers {
  readonly #services: { db: Database; clock: Clock; waker: Waker }

  constructor(services: { db: Database; clock: Clock; waker: Waker }) {
    this.#services = services
  }

  /** Those that hold a lease, oldest first. */
  async list(): Promise<WorkerState[]> {
    return (await workerList(this.#services.db)).map(stateOf)
  }

  /** Undefined: no living worker has that id. */
  async get(id: string): Promise<WorkerState | undefined> {
    return (await this.list()).find((worker) => worker.id === id)
  }

  /**
   * Asks a worker to take no more jobs: it gives back what it has not started, finishes what it runs, and stays. Throws
   * WorkerNotFound.
   */
  quiet(id: string, ask: WorkerAsk): Promise<WorkerState> {
    return this.#ask(id, 'quiet', ask)
  }

  /** Asks a worker to stop in order, as SIGTERM does. It cannot be taken back. Throws WorkerNotFound. */
  stop(id: string, ask: WorkerAsk): Promise<WorkerState> {
    return this.#ask(id, 'stop', ask)
  }

  /** Lets a worker take jobs again. Throws WorkerNotFound. */
  resume(id: string, { by, reason = '' }: Pick<WorkerAsk, 'by'> & Partial<WorkerAsk>): Promise<WorkerState> {
    return this.#ask(id, null, { by, reason })
  }

  async #ask(id: string, kind: WorkerRequest['kind'] | null, ask: WorkerAsk): Promise<WorkerState> {
    const { db, clock, waker } = this.#services
    const by = author(ask.by)
    const reason = kind === null ? (label(ask.reason, 'reason') as string) : author(ask.reason, 'reason')
    const before = await this.#demand(id)
    const isDone = await db.transaction(async (tx) => {
      // Leases live on the database's own clock.
      if (!(await workerRequest(tx, null, { id, kind, by, reason }))) return false
      const { host, pid } = before
      const action = `worker.${kind ?? 'resume'}`
      await auditWrite(tx, clock.databaseNow(), { by, action, target: id, details: { reason, host, pid } })
      return true
    })
    if (!isDone) throw new WorkerNotFound(id, 'it has ended, or was asked to stop meanwhile.')
    await waker.tellWorkers([{ kind: 'reconcile', workerId: id }])
    return (await this.get(id)) ?? before
  }

  async #demand(id: string): Promise<WorkerState> {
    const worker = UUID.test(id) ? await this.get(id.toLowerCase()) : undefined
    if (worker === undefined)
      throw new WorkerNotFound(id, 'no living worker has that id. `millrace workers` lists them.')
    if (worker.report === null)
      throw new WorkerNotFound(
        id,
        `it runs version ${worker.version}, which hears no requests. Send its process SIGTERM.`,
      )
    if (worker.request?.kind === 'stop')
      throw new WorkerNotFound(id, `${worker.request.by} has asked it to stop, and a stop cannot be taken back.`)
    return worker
  }
}

function stateOf({
  request,
  requestedBy,
  requestReason,
  requestedAt,
  lanes: _,
  silentMs: __,
  ...row
}: WorkerRow): WorkerState {
  const asked = request && {
    kind: request,
    by: requestedBy as string,
    reason: requestReason as string,
    at: requestedAt as Date,
  }
  return { ...row, request: asked, report: row.report && reportOf(row.report, row.heartbeatAt) }
}

function reportOf({ runs, ageMs, ...report }: StoredReport, heartbeatAt: Date): WorkerReport {
  const atMs = heartbeatAt.getTime() - ageMs
  return {
    ...report,
    at: new Date(atMs),
    runs: runs.map(({ jobId, type, forMs }) => ({ jobId, type, since: new Date(atMs - forMs) })),
  }
}
