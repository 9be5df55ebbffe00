// Ends the leases of processes that died, so that their jobs are rescued at the next sweep and not when the lease runs out.
import { setTimeout as sleep } from 'node:timers/promises'
import { endWorker, type Logger } from 'millrace'
import { causeOf, type Supervisor } from './supervisor.ts'

/** While the database is away. After that the lease is about to run out by itself. */
const RETRIES_MS = [1_000, 2_000, 4_000, 8_000, 16_000]
/** How long the end of the supervisor may be held up. */
const PATIENCE_MS = 2_000

export class LeaseEnder {
  readonly #place: { databaseUrl: string; schema: string }
  readonly #logger: Logger
  readonly #underWay = new Set<Promise<void>>()

  constructor(place: { databaseUrl: string; schema: string }, logger: Logger) {
    this.#place = place
    this.#logger = logger
  }

  watch(supervisor: Supervisor): void {
    const onEnd = (end: { code: number | null; signal: NodeJS.Signals | null; workerId: string | null }) => {
      // Whoever stopped in order has ended its own lease.
      if (end.workerId === null || end.code === 0) return
      const ending = this.#end(end.workerId, `its process died: ${causeOf(end)}`)
      this.#underWay.add(ending)
      void ending.then(() => this.#underWay.delete(ending))
    }
    supervisor.on('process_died', onEnd)
    supervisor.on('process_stopped', onEnd)
  }

  /** Waits a moment for what is under way. */
  async stop(): Promise<void> {
    if (this.#underWay.size > 0) await Promise.race([Promise.all(this.#underWay), sleep(PATIENCE_MS)])
  }

  async #end(workerId: string, reason: string): Promise<void> {
    const { databaseUrl, schema } = this.#place
    for (const pauseMs of [0, ...RETRIES_MS]) {
      await sleep(pauseMs)
      try {
        if (await endWorker(databaseUrl, workerId, { reason, schema }))
          this.#logger.info({ worker: workerId }, 'the lease of the dead process is ended: its jobs can be rescued')
        return
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        this.#logger.warn({ worker: workerId, error: message }, 'the lease of a dead process could not be ended')
      }
    }
  }
}
