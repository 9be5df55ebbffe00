// A worker: leases, lanes and loops put together, started in one place and stopped in one order.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ClientConfig } from 'pg'
import type { Waker } from '../client/waker.ts'
import { type Clock, monotonicMs } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { LeaseLost, WorkerStopping } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Logger } from '../logger.ts'
import { Housekeeper } from '../maintenance/housekeeper.ts'
import { Loop } from '../maintenance/loop.ts'
import { Rescuer } from '../maintenance/rescuer.ts'
import type { Database } from '../store/db.ts'
import type { ClaimedJob } from '../store/jobs.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { settle } from '../store/settlements.ts'
import { VERSION } from '../version.ts'
import { Acker, type Entry, type SettleResult } from './acker.ts'
import { Completion } from './completion.ts'
import type { Implementation } from './context.ts'
import { Dispatcher } from './dispatcher.ts'
import { Executor } from './executor.ts'
import { Fetcher } from './fetcher.ts'
import type { Lane } from './lane.ts'
import { Prefetch } from './prefetch.ts'
import { Pulse } from './pulse.ts'
import type { FromPulse, LeaseTimes } from './pulse-protocol.ts'
import { Reconciler } from './reconciler.ts'
import { type Run, stuckAfterMs } from './run.ts'
import { reportSettled } from './settled-events.ts'
import { giveBack } from './verdict.ts'

export interface WorkerSettings {
  connection: ClientConfig
  lanes: Lane[]
  implementations: readonly Implementation[]
  times: LeaseTimes & { sweepMs: number }
  graceMs: number
}

export interface WorkerServices {
  /** For claims and settlements alone, so that handlers cannot starve them. */
  db: Database
  /** For the transactions of handlers. */
  handlerDb: Database
  clock: Clock
  registry: Registry
  events: Events
  logger: Logger
  waker: Waker
}

const WATCH_MS = 200
/** After the abort at the end of the grace period handlers get this long to return. */
const LAST_CALL_MS = 500
const DRAIN_DEADLINE_MS = 5_000

export class Worker {
  readonly #settings: WorkerSettings
  readonly #services: WorkerServices
  readonly #implementations: Map<string, Implementation>
  readonly #pulse: Pulse
  readonly #prefetch = new Prefetch()
  readonly #dispatcher: Dispatcher
  readonly #fetcher: Fetcher
  readonly #acker: Acker
  readonly #reconciler: Reconciler
  readonly #loops: Loop<unknown>[]
  #workerId = randomUUID()
  #onRegistered: (() => void) | undefined
  #isListenTrusted = false
  #wasTrusted = false
  #trustedSinceMs = Number.POSITIVE_INFINITY
  #watch: NodeJS.Timeout | undefined
  #offLocal: (() => void) | undefined
  #stopped: Promise<void> | undefined

  constructor(settings: WorkerSettings, services: WorkerServices) {
    const { db, clock, registry, events, waker } = services
    this.#settings = settings
    this.#services = services
    this.#implementations = new Map(settings.implementations.map((each) => [each.contract.type, each]))
    const onError = (during: string, error: unknown) => this.#failed(during, error)
    const slots = settings.lanes.reduce((sum, lane) => sum + lane.slots, 0)
    const { connection, times } = settings
    this.#pulse = new Pulse({ connection, schema: db.schema, times }, slots + 4_096, (message) => this.#hear(message))
    this.#acker = new Acker({
      db,
      clock,
      onError,
      isTrusted: () => this.#pulse.isTrusted(),
      ensurePartitions: async () => void (await ensurePartitions(db, clock.databaseNow())),
      onSettled: (entry, result) => this.#settled(entry, result),
    })
    const completion = new Completion({ db: services.handlerDb, clock })
    const executor = new Executor({
      logger: services.logger,
      implementation: (type) => this.#implementations.get(type) as Implementation,
      mayStart: (run) => this.#mayStart(run),
      settle: (run, settlement) => this.#acker.add({ run, settlement }),
      completeInOwnTransaction: (run, work) => completion.inOwnTransaction(run, work),
      completeIn: (run, tx, result) => completion.in(run, tx, result),
      isCompleted: (run) => completion.wasSettled(run),
      onStarted: (run) => events.has('job_started') && events.emit('job_started', { job: run.ref() }),
      onReturned: (run) => this.#returned(run),
      onCommitted: (run) => this.#committed(run),
      onLeaked: (run) => this.#leaked(run),
    })
    this.#dispatcher = new Dispatcher({
      board: this.#pulse.board,
      lanes: settings.lanes,
      registry,
      prefetch: this.#prefetch,
      announce: (runId, jobs) => this.#pulse.claimed(runId, jobs),
      execute: (run) => executor.execute(run),
      giveBack: (run, why) => this.#giveBack(run, why),
      onHungry: () => this.#fetcher.nudge(),
    })
    this.#fetcher = new Fetcher({
      db,
      clock,
      onError,
      lanes: settings.lanes,
      types: settings.implementations.map(({ contract }) => ({
        type: contract.type,
        stuckAfterMs: stuckAfterMs(contract),
      })),
      workerId: () => this.#workerId,
      mayClaim: () => this.#pulse.isTrusted() && this.#acker.backlog < slots + 2_000 && this.#dispatcher.room > slots,
      isListenTrusted: () => this.#isListenTrusted,
      prefetchFor: (lane) => this.#prefetch.allowance(lane, monotonicMs()),
      mayTakeSuspect: () => !this.#dispatcher.hasSuspect,
      onClaimed: (jobs, claim) => this.#claimed(jobs, claim),
      onIdle: (queues) => events.emit('idle', { queues }),
    })
    this.#reconciler = new Reconciler({
      runs: () => this.#dispatcher.runs,
      find: (key) => this.#dispatcher.get(key),
      isOpenClaim: (runId) => this.#fetcher.openClaims.has(runId),
      giveBack: async (settlements) => {
        await settle(db, clock.databaseNow(), settlements)
        this.#fetcher.wake()
      },
      strayAfterMs: Math.min(5_000, times.ttlMs / 2),
    })
    const rescuer = new Rescuer({
      db,
      clock,
      registry,
      events,
      intervalMs: times.sweepMs,
      mayRescue: () => this.#pulse.isTrusted() && monotonicMs() - this.#trustedSinceMs >= times.ttlMs,
      wake: (queues) => waker.wake(queues),
    })
    this.#loops = [new Loop(rescuer, { onError }), new Loop(new Housekeeper({ db, clock }), { onError })]
  }

  get id(): string {
    return this.#workerId
  }

  /** Can it do its work right now? For readiness checks. */
  get isReady(): boolean {
    return this.#stopped === undefined && this.#pulse.isTrusted()
  }

  get running(): number {
    return this.#settings.lanes.reduce((sum, lane) => sum + lane.running, 0)
  }

  async start(): Promise<void> {
    const { clock, db, events, waker } = this.#services
    await ensurePartitions(db, clock.databaseNow())
    await this.#register()
    this.#offLocal = waker.onLocal((queue) => this.#fetcher.wake(queue))
    this.#watch = setInterval(() => this.#watchOver(), WATCH_MS)
    this.#fetcher.start()
    for (const loop of this.#loops) loop.start()
    events.emit('worker_started', { workerId: this.#workerId })
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
    this.#offLocal?.()
    await this.#fetcher.stop()
    this.#dispatcher.returnUnstarted('the worker is shutting down')
    await within(this.#settings.graceMs, this.#dispatcher.idle())
    this.#dispatcher.abortAll(new WorkerStopping())
    await within(LAST_CALL_MS, this.#dispatcher.idle())
    for (const run of this.#dispatcher.runs) if (!run.isSettling) this.#giveBack(run, 'the worker is shutting down')
    await within(DRAIN_DEADLINE_MS, this.#acker.drain())
    clearInterval(this.#watch)
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    await this.#pulse.stop('shut down')
    this.#services.events.emit('worker_stopped', { workerId: this.#workerId })
  }

  #hear(message: FromPulse | { kind: 'died'; error: unknown }): void {
    const { events } = this.#services
    switch (message.kind) {
      case 'registered':
        this.#onRegistered?.()
        break
      case 'running':
        if (message.workerId === this.#workerId) this.#reconcile(message)
        break
      case 'lost':
        if (message.workerId === this.#workerId) this.#loseLease('it was ended by a rescuer')
        break
      case 'work':
        this.#fetcher.wake(message.queue)
        break
      case 'listening':
        this.#isListenTrusted = message.isTrusted
        events.emit('listen_trusted', { isTrusted: message.isTrusted })
        // Whatever was said while nobody listened is lost: look once.
        this.#fetcher.wake()
        break
      case 'blocked':
        events.emit('loop_blocked', { ms: message.ms })
        this.#services.logger.warn({ ms: message.ms }, 'the event loop is blocked; unstarted jobs are given back')
        break
      case 'error':
        this.#failed(message.during, new Error(message.message))
        break
      case 'died':
        this.#failed('pulse thread', message.error)
        this.#loseLease('the pulse thread died')
        break
      case 'stopped':
        break
    }
  }

  #reconcile(message: FromPulse & { kind: 'running' }): void {
    this.#reconciler
      .reconcile(message.rows, message.sentAtMs)
      .catch((error: unknown) => this.#failed('reconcile', error))
  }

  async #register(): Promise<void> {
    const registered = new Promise<void>((resolve) => {
      this.#onRegistered = resolve
    })
    this.#pulse.register({
      id: this.#workerId,
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      lanes: Object.fromEntries(this.#settings.lanes.map((lane) => [lane.queue, lane.slots])),
      ttlMs: this.#settings.times.ttlMs,
    })
    await registered
  }

  /** One way: everything claimed under the old id is lost, and work goes on under a new one. */
  #loseLease(why: string): void {
    const lost = this.#workerId
    this.#dispatcher.abortAll(new LeaseLost(why))
    this.#dispatcher.returnUnstarted('the lease is lost')
    this.#workerId = randomUUID()
    this.#trustedSinceMs = Number.POSITIVE_INFINITY
    this.#services.events.emit('lease_lost', { workerId: lost, why })
    this.#services.logger.error({ worker: lost, why }, 'the lease is lost: running jobs were aborted')
    if (this.#stopped === undefined) void this.#register().then(() => this.#fetcher.wake())
  }

  /** Trust ends before the lease does. Then nobody knows who owns our runs, so they stop. */
  #watchOver(): void {
    const isTrusted = this.#pulse.isTrusted()
    if (isTrusted && !this.#wasTrusted) {
      this.#trustedSinceMs = monotonicMs()
      this.#fetcher.wake()
    }
    if (!isTrusted && this.#wasTrusted) {
      this.#trustedSinceMs = Number.POSITIVE_INFINITY
      this.#services.logger.warn(
        { worker: this.#workerId },
        'the lease could not be renewed in time: running jobs are aborted',
      )
      this.#dispatcher.abortAll(new LeaseLost('its lease could not be renewed in time'))
    }
    this.#wasTrusted = isTrusted
    this.#dispatcher.returnStale()
  }

  #claimed(jobs: ClaimedJob[], claim: { runId: string; workerId: string }): void {
    this.#dispatcher.accept(jobs, claim.runId)
    // The lease was lost while the claim was under way: its jobs are orphans already.
    if (claim.workerId !== this.#workerId) this.#dispatcher.returnUnstarted('the lease is lost')
  }

  #mayStart(run: Run): boolean {
    if (!this.#pulse.board.start(run.slot)) {
      this.#dispatcher.dropped(run)
      this.#dispatcher.forget(run)
      this.#services.events.emit('job_returned', { job: run.ref(), why: 'the event loop was blocked' })
      return false
    }
    if (this.#pulse.isTrusted()) return true
    this.#dispatcher.dropped(run)
    this.#giveBack(run, 'the lease is in doubt')
    return false
  }

  #giveBack(run: Run, why: string): void {
    this.#acker.add({ run, settlement: giveBack(run) })
    if (this.#services.events.has('job_returned')) this.#services.events.emit('job_returned', { job: run.ref(), why })
  }

  #returned(run: Run): void {
    this.#dispatcher.returned(run)
    if (run.isLeaked) this.#services.events.emit('slot_recovered', { job: run.ref() })
  }

  #committed(run: Run): void {
    if (run.inTransaction !== undefined) this.#settled({ run, settlement: run.inTransaction }, 'won')
  }

  #leaked(run: Run): void {
    this.#services.events.emit('slot_leaked', { job: run.ref() })
    this.#services.logger.error(
      { job: run.job.id, type: run.job.type },
      'a handler ignores its abort signal: its slot is leaked',
    )
  }

  #settled(entry: Entry, result: SettleResult): void {
    this.#dispatcher.forget(entry.run)
    reportSettled(this.#services.events, entry, result)
    if (result === 'won' && entry.settlement.kind === 'requeue') this.#fetcher.dueIn(entry.settlement.delayMs ?? 0)
  }

  #failed(during: string, error: unknown): void {
    this.#services.events.emit('database_error', { during, error })
    this.#services.logger.warn(
      { during, error: error instanceof Error ? error.message : String(error) },
      `${during} failed`,
    )
  }
}

/** Waits for `work`, but not longer than `ms`. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, deadline])
  clearTimeout(timer)
}
