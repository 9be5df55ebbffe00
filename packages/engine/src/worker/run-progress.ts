// Stores how far the runs of this process are: the latest of each run, at most once a second, all runs in one statement.
//
// What a run said last before it ended is dropped, and its row is deleted with the next flush. A flush that failed is not
// repeated: the next report takes its place. If the process dies, housekeeping deletes its rows.
import { after, type Clock, monotonicMs } from '../clock.ts'
import type { Progress } from '../contract/progress.ts'
import type { Events } from '../events.ts'
import type { Database } from '../store/db.ts'
import { progressForget, progressWrite } from '../store/progress.ts'
import type { Run } from './run.ts'

const FLUSH_MS = 1_000

export interface RunProgressServices {
  db: Database
  clock: Clock
  events: Events
  onError(during: string, error: unknown): void
}

export class RunProgress {
  readonly #services: RunProgressServices
  readonly #reported = new Map<Run, Progress>()
  readonly #stored = new Set<Run>()
  #ended: Run[] = []
  #flushing: Promise<void> | undefined
  #isScheduled = false
  #flushedAtMs = Number.NEGATIVE_INFINITY

  constructor(services: RunProgressServices) {
    this.#services = services
  }

  report(run: Run, progress: Progress): void {
    if (run.isSettling || run.returnedAtMs !== 0) return
    this.#reported.set(run, progress)
    this.#schedule()
  }

  /** The run is settled: nothing more is stored of it. */
  ended(run: Run): void {
    this.#reported.delete(run)
    if (!this.#stored.delete(run)) return
    this.#ended.push(run)
    this.#schedule()
  }

  /** For a worker that stops. */
  async flush(): Promise<void> {
    await this.#flushing
    await this.#write()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    after(Math.max(0, this.#flushedAtMs + FLUSH_MS - monotonicMs()), () => {
      this.#flushing = this.#write().finally(() => {
        this.#isScheduled = false
        if (this.#reported.size > 0 || this.#ended.length > 0) this.#schedule()
      })
    })
  }

  async #write(): Promise<void> {
    this.#flushedAtMs = monotonicMs()
    const reports = [...this.#reported]
    const ended = this.#ended
    this.#reported.clear()
    this.#ended = []
    const { db, onError } = this.#services
    try {
      if (ended.length > 0)
        await progressForget(
          db,
          ended.map((run) => run.fence),
        )
      if (reports.length > 0) await this.#store(reports)
    } catch (error) {
      onError('store progress', error)
    }
  }

  async #store(reports: readonly [Run, Progress][]): Promise<void> {
    const { db, clock, events } = this.#services
    for (const [run] of reports) this.#stored.add(run)
    const told = reports.map(([run, { note, ...amounts }]) => ({
      ...amounts,
      note: note === null ? null : run.redactor.text(note),
    }))
    const won = await progressWrite(
      db,
      clock.databaseNow(),
      reports.map(([run], i) => ({ ...run.fence, ...(told[i] as Progress) })),
    )
    for (const [i, [run]] of reports.entries()) {
      // It ended while this was written.
      if (run.isSettling && this.#stored.delete(run)) this.#ended.push(run)
      if (won.has(run.job.id)) events.emit('job_progress', { job: run.ref(), progress: told[i] as Progress })
    }
  }
}
