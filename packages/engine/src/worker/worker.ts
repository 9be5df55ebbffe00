// A worker: its parts started in one place and stopped in one order.
import { monotonicMs, within } from '../clock.ts'
import { WorkerStopping } from '../errors.ts'
import type { WorkerRequest } from '../store/workers.ts'
import { declareCode, declareProgram } from './declarations.ts'
import type { WorkerSettings } from './work-options.ts'
import { WorkerParts, type WorkerServices } from './worker-parts.ts'

export interface LaneDescription {
  readonly name: string
  readonly slots: number
  /** Slots in use. */
  readonly running: number
  readonly queues: readonly string[]
}

/** After the abort at the end of the grace period handlers get this long to return. */
const LAST_CALL_MS = 500
/** How long each other step of a shutdown may take: with the database gone, the lease must end it. */
const STEP_MS = 2_000
const CLOSE_MS = 250

export class Worker {
  readonly #settings: WorkerSettings
  readonly #services: WorkerServices
  readonly #parts: WorkerParts
  #started: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(settings: WorkerSettings, services: WorkerServices) {
    this.#settings = settings
    this.#services = services
    this.#parts = new WorkerParts(settings, services, {
      isStopping: () => this.#stopped !== undefined,
      stop: () => this.stop(),
    })
  }

  get id(): string {
    return this.#parts.lease.id
  }

  /** Can it do its work right now? For readiness checks. */
  get isReady(): boolean {
    return this.#stopped === undefined && this.#parts.lease.isTrusted()
  }

  /** An operator asked it to take no more jobs. */
  get isQuiet(): boolean {
    return this.#parts.requests.current !== null
  }

  /** How full its memory is: of the heap's limit or of the container's memory, whichever is fuller. */
  get memoryPercent(): number {
    return this.#parts.memory.use().percent
  }

  /** When its lease was last renewed, by the clock of this process; null: it holds none. */
  get heartbeatAt(): Date | null {
    const beatAtMs = this.#parts.lease.beatAtMs()
    return beatAtMs === undefined ? null : new Date(Date.now() - (monotonicMs() - beatAtMs))
  }

  get running(): number {
    return this.#settings.lanes.reduce((sum, lane) => sum + lane.running, 0)
  }

  /** How many more could run in this process under a limit that has `perProcess`; undefined: it has none, or nobody uses it. */
  freePlaces(limit: string): number | undefined {
    return this.#parts.governor.freeHere(limit)
  }

  get lanes(): readonly LaneDescription[] {
    return this.#settings.lanes.map(({ name, slots, running, queues }) => ({
      name,
      slots,
      running,
      queues: queues.map((each) => each.name),
    }))
  }

  start(): Promise<void> {
    this.#started ??= this.#startUp()
    return this.#started
  }

  async #startUp(): Promise<void> {
    const { execution, fetcher, lease, loops, program, wakeUps } = this.#parts
    await declareCode(this.#services, this.id)
    await execution.isolated.start()
    await lease.take()
    await declareProgram(this.#services, this.id, program)
    if (this.#stopped !== undefined) throw new WorkerStopping()
    wakeUps.start()
    fetcher.start()
    for (const loop of loops) loop.start()
    this.#services.events.emit('worker_started', { workerId: this.id })
  }

  /**
   * Stops claiming, gives unstarted jobs back, waits for handlers for the grace period, aborts the rest and gives them
   * back without using up an attempt.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#shutDown()
    return this.#stopped
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #shutDown(): Promise<void> {
    const why = 'the worker is shutting down'
    const failed = (during: string) => (error: unknown) => events.emit('database_error', { during, error })
    const {
      acker,
      dispatcher,
      execution,
      fetcher,
      lease,
      loops,
      metrics,
      pressure,
      progress,
      requests,
      transitions,
      wakeUps,
    } = this.#parts
    const { admitter, advancer, db, budgetDb, handlerDb, events, waker } = this.#services
    wakeUps.stop()
    pressure?.close()
    const ended = Promise.all(loops.map((loop) => loop.stop()))
    await within(STEP_MS, fetcher.stop())
    dispatcher.returnUnstarted(why)
    await within(this.#settings.graceMs, dispatcher.idle())
    dispatcher.abortAll(new WorkerStopping())
    await within(LAST_CALL_MS, dispatcher.idle())
    await within(STEP_MS, execution.isolated.close())
    for (const run of dispatcher.runs) if (!run.isSettling) transitions.giveBack(run, why)
    await within(STEP_MS, acker.drain())
    await within(STEP_MS, metrics.tick().catch(failed('metric flush')))
    await within(STEP_MS, progress.flush())
    await within(STEP_MS, advancer.idle())
    await within(STEP_MS, admitter.idle())
    await within(STEP_MS, Promise.all([ended, waker.flush(), execution.budgets.idle()]))
    await lease.end(requests.current?.kind === 'stop' ? askedToStop(requests.current) : 'shut down')
    // Whatever still runs has lost its job: its transaction must not go on, let alone hold us up.
    await Promise.all([db.close(CLOSE_MS), budgetDb.close(CLOSE_MS), handlerDb.close(0)])
    dispatcher.forgetAll()
    events.emit('worker_stopped', { workerId: this.id })
  }
}

const askedToStop = ({ by, reason }: WorkerRequest): string => `stopped, as ${by} asked: ${reason}`
