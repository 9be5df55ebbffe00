// A worker: lease, lanes and loops put together, started in one place and stopped in one order.
import { hostname } from 'node:os'
import type { ClientConfig } from 'pg'
import { reportBreaker } from '../client/breaker-events.ts'
import type { Enqueuer } from '../client/enqueuer.ts'
import type { Herald } from '../client/herald.ts'
import { declareSchedules } from '../client/schedule-declaration.ts'
import type { Waker } from '../client/waker.ts'
import { after, type Clock, monotonicMs, within } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { HistoryRefused, LeaseLost, WorkerStopping } from '../errors.ts'
import type { Events } from '../events.ts'
import { type Admitter, keysWithRoom } from '../governance/admitter.ts'
import { BreakerGate } from '../governance/breaker-gate.ts'
import { Breakers } from '../governance/breakers.ts'
import { Budgets } from '../governance/budgets.ts'
import { Governor } from '../governance/governor.ts'
import { declareHistory } from '../governance/history.ts'
import type { Logger } from '../logger.ts'
import { Loop } from '../maintenance/loop.ts'
import { type MaintenanceLoops, maintenanceLoops } from '../maintenance/services.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import { budgetDeclare } from '../store/budgets.ts'
import type { Database } from '../store/db.ts'
import { type ClaimedJob, jobReleaseRun } from '../store/job-claims.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import { ensurePartitions } from '../store/partitions.ts'
import type { RunningRow } from '../store/running-jobs.ts'
import { endsStep, giveBack, type Settlement, settle } from '../store/settlements.ts'
import { VERSION } from '../version.ts'
import type { Advancer } from '../workflow/advancer.ts'
import { Acker, type Entry, type SettleResult } from './acker.ts'
import { BackPressure } from './back-pressure.ts'
import { breakerDoor } from './breaker-door.ts'
import type { Implementation } from './context.ts'
import { Dispatcher } from './dispatcher.ts'
import { Effects, recordVault } from './effects.ts'
import { Executor } from './executor.ts'
import { Fetcher } from './fetcher.ts'
import { IsolatedPools } from './isolation/pools.ts'
import type { Lane, LaneGroup } from './lane.ts'
import { Lease, type LeaseEvents } from './lease.ts'
import { MemoryGuard, type MemoryLimits } from './memory-guard.ts'
import type { Claim } from './open-claims.ts'
import type { OverloadLimits } from './overload.ts'
import { MAX_PREFETCH, Prefetch } from './prefetch.ts'
import type { LeaseTimes } from './pulse-protocol.ts'
import { Reconciler } from './reconciler.ts'
import type { Run } from './run.ts'
import { RunBudgets } from './run-budgets.ts'
import { reportSettled } from './settled-events.ts'
import { settlementOfValue } from './verdict.ts'

export interface WorkerSettings {
  connection: ClientConfig
  lanes: Lane[]
  implementations: readonly Implementation[]
  times: LeaseTimes & { sweepMs: number }
  graceMs: number
  memory: MemoryLimits
  overload: OverloadLimits
  deadLetterAlertAt: number
  tenantRole: string | undefined
}

export interface WorkerServices {
  /** For claims and settlements alone, so that handlers cannot starve them. Closed with the worker. */
  db: Database
  /** For the transactions of handlers. Closed with the worker. */
  handlerDb: Database
  /** For what handlers reserve and spend while they hold a connection of their own. Closed with the worker. */
  budgetDb: Database
  clock: Clock
  registry: Registry
  events: Events
  logger: Logger
  waker: Waker
  herald: Herald
  admitter: Admitter
  enqueuer: Enqueuer
  declared: DeclaredSchedules
  advancer: Advancer
  /** More connections to the same database. The caller closes them. */
  open(maxConnections: number): Database
}

export interface LaneDescription {
  readonly name: string
  readonly slots: number
  readonly queues: readonly string[]
}

/** After the abort at the end of the grace period handlers get this long to return. */
const LAST_CALL_MS = 500
/** How long each other step of a shutdown may take: with the database gone, the lease must end it. */
const STEP_MS = 2_000
const CLOSE_MS = 250
const MAX_UNSETTLED = 4_000
const HEARD_SPREAD_MS = 10
/** A queue that was not seen empty for so long has a backlog. */
const BACKLOG_MS = 60_000

export class Worker {
  readonly #settings: WorkerSettings
  readonly #services: WorkerServices
  readonly #lease: Lease
  readonly #governor: Governor
  readonly #prefetch = new Prefetch()
  readonly #breakers: Breakers
  readonly #isolated: IsolatedPools
  readonly #budgets: RunBudgets
  readonly #dispatcher: Dispatcher
  readonly #fetcher: Fetcher
  readonly #acker: Acker
  readonly #reconciler: Reconciler
  readonly #memory: MemoryGuard
  readonly #pressure: BackPressure | undefined
  readonly #scheduler: Loop<unknown>
  readonly #loops: Loop<unknown>[]
  #isListenTrusted = false
  #offLocal: (() => void) | undefined
  #offRules: (() => void) | undefined
  #offSchedules: (() => void) | undefined
  #offClock: (() => void) | undefined
  #started: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(settings: WorkerSettings, services: WorkerServices) {
    this.#settings = settings
    this.#services = services
    this.#governor = new Governor(services)
    this.#lease = this.#makeLease()
    this.#acker = this.#makeAcker()
    this.#budgets = this.#makeBudgets()
    this.#breakers = this.#makeBreakers()
    this.#isolated = new IsolatedPools({ ...settings, schema: services.db.schema }, services)
    this.#dispatcher = this.#makeDispatcher(this.#makeExecutor())
    this.#pressure = this.#makeBackPressure()
    this.#fetcher = this.#makeFetcher()
    this.#reconciler = new Reconciler({
      runs: () => this.#dispatcher.runs,
      isOpenClaim: (runId) => this.#fetcher.isOpen(runId),
      giveBack: (strays) => this.#giveBackStrays(strays),
      strayAfterMs: Math.min(5_000, settings.times.ttlMs / 2),
    })
    this.#memory = this.#makeMemoryGuard()
    const maintenance = this.#makeMaintenance()
    this.#scheduler = maintenance.scheduler
    this.#loops = this.#makeLoops(maintenance.all)
  }

  get id(): string {
    return this.#lease.id
  }

  /** Can it do its work right now? For readiness checks. */
  get isReady(): boolean {
    return this.#stopped === undefined && this.#lease.isTrusted()
  }

  get running(): number {
    return this.#settings.lanes.reduce((sum, lane) => sum + lane.running, 0)
  }

  /** How many more could run in this process under a limit that has `perProcess`; undefined: it has none, or nobody uses it. */
  freePlaces(limit: string): number | undefined {
    return this.#governor.freeHere(limit, this.#dispatcher.runsByType())
  }

  get lanes(): readonly LaneDescription[] {
    return this.#settings.lanes.map(({ name, slots, queues }) => ({
      name,
      slots,
      queues: queues.map((each) => each.name),
    }))
  }

  start(): Promise<void> {
    this.#started ??= this.#startUp()
    return this.#started
  }

  async #startUp(): Promise<void> {
    const { clock, db, events, registry, waker } = this.#services
    await ensurePartitions(db, clock.databaseNow())
    const { budgets } = registry
    if (budgets.length > 0) await budgetDeclare(db, clock.databaseNow(), budgets)
    await this.#declareHistory()
    await this.#declareSchedules()
    await this.#isolated.start()
    await this.#lease.take()
    if (this.#stopped !== undefined) throw new WorkerStopping()
    this.#offLocal = waker.onLocal((queue) => this.#fetcher.wake(queue))
    this.#offRules = waker.onRules(() => this.#heedRules())
    this.#offSchedules = waker.onSchedules(() => this.#scheduler.wake())
    this.#offClock = clock.onMoved?.(() => this.#clockMoved())
    this.#fetcher.start()
    for (const loop of this.#loops) loop.start()
    events.emit('worker_started', { workerId: this.id })
  }

  /** Whoever creates a schedule must not keep workers from starting. */
  async #declareSchedules(): Promise<void> {
    const { db, clock, declared, logger, waker } = this.#services
    const { isNews, taken } = await declareSchedules(db, clock.databaseNow(), declared.all)
    for (const schedule of taken) {
      logger.error({ worker: this.id, schedule }, 'a schedule of the code does not fire: its name is taken at run time')
    }
    if (isNews) await waker.tellWorkers([{ kind: 'schedules' }])
  }

  /** Jobs run without a history too: whoever is missing it finds out why. Housekeeping tries again. */
  async #declareHistory(): Promise<void> {
    const { logger, registry } = this.#services
    await declareHistory(this.#services, registry.historic).catch((error: unknown) => {
      if (!(error instanceof HistoryRefused)) throw error
      logger.warn({ worker: this.id, types: registry.historic, error: error.message }, 'history is not kept')
    })
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
    this.#offLocal?.()
    this.#offRules?.()
    this.#offSchedules?.()
    this.#offClock?.()
    this.#pressure?.close()
    const loops = Promise.all(this.#loops.map((loop) => loop.stop()))
    await within(STEP_MS, this.#fetcher.stop())
    this.#dispatcher.returnUnstarted(why)
    await within(this.#settings.graceMs, this.#dispatcher.idle())
    this.#dispatcher.abortAll(new WorkerStopping())
    await within(LAST_CALL_MS, this.#dispatcher.idle())
    await within(STEP_MS, this.#isolated.close())
    for (const run of this.#dispatcher.runs) if (!run.isSettling) this.#giveBack(run, why)
    await within(STEP_MS, this.#acker.drain())
    await within(STEP_MS, this.#services.advancer.idle())
    await within(STEP_MS, this.#services.admitter.idle())
    await within(STEP_MS, Promise.all([loops, this.#services.waker.flush(), this.#budgets.idle()]))
    await this.#lease.end('shut down')
    // Whatever still runs has lost its job: its transaction must not go on, let alone hold us up.
    const { db, budgetDb, handlerDb } = this.#services
    await Promise.all([db.close(CLOSE_MS), budgetDb.close(CLOSE_MS), handlerDb.close(0)])
    this.#services.events.emit('worker_stopped', { workerId: this.id })
  }

  get #types(): string[] {
    return this.#settings.implementations.map(({ contract }) => contract.type)
  }

  #makeLease(): Lease {
    const { connection, times, lanes } = this.#settings
    const worker = {
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      lanes: Object.fromEntries(lanes.map((lane) => [lane.name, lane.slots])),
      types: this.#types,
      schedules: this.#services.declared.names,
      ttlMs: times.ttlMs,
    }
    // Each lane holds its slots, what is prefetched for it, and perhaps a suspect.
    const places = lanes.reduce((sum, lane) => sum + lane.slots + MAX_PREFETCH + 1, 0)
    return new Lease({ connection, schema: this.#services.db.schema, times }, worker, places, this.#leaseEvents())
  }

  #leaseEvents(): LeaseEvents {
    const { events, logger } = this.#services
    return {
      onLost: (workerId, why) => {
        logger.error({ worker: workerId, why }, 'the lease is lost: running jobs were aborted')
        this.#dispatcher.abortAll(new LeaseLost(why))
        this.#dispatcher.returnUnstarted('the lease is lost')
        events.emit('lease_lost', { workerId, why })
      },
      onDoubt: () => {
        logger.warn({ worker: this.id }, 'the lease could not be renewed in time: running jobs are aborted')
        this.#dispatcher.abortAll(new LeaseLost('its lease could not be renewed in time'))
      },
      onTrusted: () => this.#fetcher.wake(),
      onRunning: (rows, sentAtMs) => {
        // Whoever cannot be told learns it so.
        if (!this.#isListenTrusted) this.#heedRules()
        this.#reconciler.reconcile(rows, sentAtMs).catch((error: unknown) => this.#failed('reconcile', error))
      },
      onWork: (queue) => this.#fetcher.wake(queue),
      onRules: () => this.#heedRules(),
      onSchedules: () => this.#scheduler.wake(),
      onAwaited: (ids) => this.#services.herald.remember(ids),
      onWorkflows: (ids) => void this.#services.advancer.told(ids),
      onKey: (key) => this.#heardOf(key),
      onListening: (isTrusted) => {
        this.#isListenTrusted = isTrusted
        events.emit('listen_trusted', { isTrusted })
        // Whatever was said while nobody listened is lost: look once.
        this.#fetcher.wake()
        this.#scheduler.wake()
      },
      onBlocked: (ms) => {
        events.emit('loop_blocked', { ms })
        logger.warn({ ms }, 'the event loop is blocked; unstarted jobs are given back')
      },
      onError: (during, error) => this.#failed(during, error),
      onWatch: () => this.#dispatcher.returnStale(),
    }
  }

  #makeAcker(): Acker {
    const { db, clock } = this.#services
    return new Acker({
      db,
      clock,
      isTrusted: () => this.#lease.isTrusted(),
      ensurePartitions: async () => void (await ensurePartitions(db, clock.databaseNow())),
      onSettled: (entry, result) => this.#settled(entry, result),
      onFlushed: () => this.#fetcher.nudge(),
      onError: (during, error) => this.#failed(during, error),
    })
  }

  #makeBreakers(): Breakers {
    const { db, clock, registry } = this.#services
    return new Breakers({
      db,
      clock,
      definition: (name) => registry.service(name),
      onChange: (change) => {
        reportBreaker(this.#services, change)
        if (change.isOwn) this.#fetcher.wake()
      },
      onError: (during, error) => this.#failed(during, error),
    })
  }

  #makeExecutor(): Executor {
    const { clock, events, handlerDb, logger } = this.#services
    const implementations = new Map(this.#settings.implementations.map((each) => [each.contract.type, each]))
    const effects = new Effects<Run>({
      db: handlerDb,
      clock,
      logger,
      tenantRole: this.#settings.tenantRole,
      settlementOf: (run, value) => settlementOfValue(run, value, null),
      vault: recordVault,
    })
    const { completion } = effects
    return new Executor({
      clock,
      logger,
      implementation: (type) => implementations.get(type) as Implementation,
      isolatedHandler: (run) => this.#isolated.handlerFor(run),
      mayStart: (run) => this.#mayStart(run),
      admit: (run) => this.#budgets.admit(run),
      budgetPort: (run) => this.#budgets.port(run),
      settle: (run, settlement) => this.#acker.add(run, settlement),
      completeInOwnTransaction: (run, work) => completion.inOwnTransaction(run, work),
      completeIn: (run, tx, result) => completion.in(run, tx, result),
      breakerDoor: (run, service) => breakerDoor(this.#breakers, run, service),
      once: (run, context, call) => effects.once(run, context, call),
      step: (run, context, call) => effects.step(run, context, call),
      tenantDb: (run, context, call) => effects.tenantDb(run, context, call),
      isCompleted: (run) => completion.wasSettled(run),
      onStarted: (run) => events.has('job_started') && events.emit('job_started', { job: run.ref() }),
      onReturned: (run) => this.#returned(run),
      onCommitted: (run) => this.#committed(run),
      onLeaked: (run) => this.#leaked(run),
      onPostponed: (run, why) => {
        const held = this.#governor.hold(run.contract, run.job.tenant, why)
        held.catch((error: unknown) => this.#failed('hold a limit', error))
      },
    })
  }

  #makeBudgets(): RunBudgets {
    const { budgetDb: db, clock, events, logger } = this.#services
    const onError = (during: string, error: unknown) => this.#failed(during, error)
    const budgets = new Budgets({
      db,
      clock,
      onThreshold: (threshold, budget) => {
        events.emit('budget_threshold', { threshold, budget })
        logger.warn({ threshold, ...budget }, 'a budget has reached a threshold')
      },
      onError,
    })
    return new RunBudgets({ budgets, onError })
  }

  #makeDispatcher(executor: Executor): Dispatcher {
    return new Dispatcher({
      board: this.#lease.board,
      lanes: this.#settings.lanes,
      registry: this.#services.registry,
      prefetch: this.#prefetch,
      announce: (jobs) => this.#lease.announce(jobs),
      execute: (run) => executor.execute(run),
      giveBack: (run, why) => this.#giveBack(run, why),
      onHungry: () => this.#fetcher.nudge(),
    })
  }

  #makeFetcher(): Fetcher {
    const { db, clock, events } = this.#services
    return new Fetcher({
      db,
      clock,
      governor: this.#governor,
      lanes: this.#settings.lanes,
      gate: new BreakerGate(
        this.#breakers,
        this.#settings.implementations.map(({ contract }) => contract),
      ),
      pressure: this.#pressure,
      workerId: () => this.id,
      mayClaim: () => this.#lease.isTrusted() && !this.#memory.isHigh && this.#acker.backlog < MAX_UNSETTLED,
      isListenTrusted: () => this.#isListenTrusted,
      prefetchFor: (lane) => this.#prefetch.allowance(lane, monotonicMs()),
      mayTakeSuspect: () => !this.#dispatcher.hasSuspect,
      runsByType: () => this.#dispatcher.runsByType(),
      onClaimed: (jobs, claim, group) => this.#claimed(jobs, claim, group),
      onIdle: (queues) => events.emit('idle', { queues }),
      onError: (during, error) => this.#failed(during, error),
    })
  }

  #makeMemoryGuard(): MemoryGuard {
    const { events, logger } = this.#services
    return new MemoryGuard(this.#settings.memory, {
      onChange: ({ percent, isHigh }) => {
        events.emit('memory_pressure', { percent, isHigh })
        if (isHigh) logger.warn({ percent }, 'memory runs short: no more jobs are taken')
        else logger.info({ percent }, 'memory is free again: jobs are taken')
        this.#fetcher.nudge()
      },
    })
  }

  #makeBackPressure(): BackPressure | undefined {
    const { lanes, implementations, overload: limits } = this.#settings
    const queues = implementations.map(({ contract }) => contract.queue)
    return BackPressure.of(
      { lanes, queues, limits },
      {
        ...this.#services,
        workerId: () => this.id,
        onChange: () => this.#fetcher.nudge(),
        onError: (during, error) => this.#failed(during, error),
      },
    )
  }

  #makeMaintenance(): MaintenanceLoops {
    const { times, deadLetterAlertAt } = this.#settings
    return maintenanceLoops({
      ...this.#services,
      types: this.#types,
      sweepMs: times.sweepMs,
      deadLetterAlertAt,
      backloggedQueues: () => this.#backlogged(),
      mayJudge: () => this.#lease.heldMs() >= times.ttlMs,
      wake: (queues) => this.#services.waker.wake(queues),
      isTold: () => this.#isListenTrusted,
      onError: (during, error) => this.#failed(during, error),
    })
  }

  #makeLoops(maintenance: readonly Loop<unknown>[]): Loop<unknown>[] {
    const onError = (during: string, error: unknown) => this.#failed(during, error)
    const pressure = this.#pressure === undefined ? [] : [new Loop(this.#pressure.overload, { onError })]
    return [...maintenance, new Loop(this.#memory, { onError }), ...pressure]
  }

  #backlogged(): string[] {
    const queues = this.#settings.lanes.flatMap((lane) => lane.queues)
    return queues.filter(({ busyMs }) => busyMs >= BACKLOG_MS).map(({ name }) => name)
  }

  /** Somebody changed tenants, pauses or limits: runs of tenants that may not run are stopped, and claims begin anew. */
  #heedRules(): void {
    this.#governor.refresh().then(
      () => {
        for (const run of this.#dispatcher.runs) {
          const suspended = this.#governor.suspension(run.job.tenant)
          if (suspended !== undefined) run.abort(suspended)
        }
        this.#fetcher.wake()
      },
      (error: unknown) => this.#failed('read the rules', error),
    )
  }

  #claimed(jobs: readonly ClaimedJob[], claim: Claim, group: LaneGroup): void {
    if (this.#stopped === undefined && claim.workerId === this.id) {
      this.#dispatcher.accept(jobs, claim.runId, group)
      return
    }
    // Answered too late: nobody here will run them.
    const { db, clock, waker } = this.#services
    jobReleaseRun(db, clock.databaseNow(), claim).then(
      () => waker.wake(new Set(jobs.map((job) => job.queue))),
      (error: unknown) => this.#failed('release a late claim', error),
    )
  }

  #mayStart(run: Run): boolean {
    if (!this.#lease.board.start(run.place)) {
      this.#dispatcher.dropped(run)
      this.#dispatcher.forget(run)
      this.#services.events.emit('job_returned', { job: run.ref(), why: 'the event loop was blocked' })
      return false
    }
    if (this.#lease.isTrusted()) return true
    this.#dispatcher.dropped(run)
    this.#giveBack(run, 'the lease is in doubt')
    return false
  }

  #giveBack(run: Run, why: string): void {
    this.#acker.add(run, giveBack(run.fence))
    if (this.#services.events.has('job_returned')) this.#services.events.emit('job_returned', { job: run.ref(), why })
  }

  async #giveBackStrays(strays: readonly RunningRow[]): Promise<void> {
    const { db, clock, waker } = this.#services
    await settle(db, clock.databaseNow(), strays.map(giveBack))
    waker.wake(new Set(strays.map((stray) => stray.queue)))
  }

  #returned(run: Run): void {
    this.#dispatcher.returned(run)
    if (run.hasCharged) void this.#budgets.end(run)
    // The next suspect waits for this one.
    if (run.isSuspect) this.#fetcher.wake(run.job.queue)
    if (run.isLeaked) this.#services.events.emit('slot_recovered', { job: run.ref() })
  }

  #committed(run: Run): void {
    if (run.inTransaction !== undefined) this.#settled({ run, settlement: run.inTransaction }, 'won')
  }

  #leaked(run: Run): void {
    this.#dispatcher.leaked(run)
    this.#services.events.emit('slot_leaked', { job: run.ref() })
    this.#services.logger.error(
      { job: run.job.id, type: run.job.type },
      'a handler ignores its abort signal: its slot is leaked',
    )
  }

  #settled(entry: Entry, result: SettleResult): void {
    const { run, settlement } = entry
    this.#dispatcher.forget(run)
    // Its place is free for others, also in other processes.
    const waiting = this.#governor.queuesWaitingFor(run.contract, run.job.tenant)
    if (waiting.length > 0) this.#services.waker.wake(waiting)
    reportSettled(this.#services.events, entry, result)
    if (result === 'won') this.#makeRoom(run, settlement)
    if (result === 'won' && endsStep(settlement)) void this.#services.advancer.heard([run.job.workflowId as string])
    if (result !== 'won' || settlement.kind !== 'requeue') return
    // What was given back is due for anybody, at once; what has a delay is ours to remember.
    if (settlement.delayMs === null) this.#services.waker.wake([run.job.queue])
    else this.#fetcher.dueIn(settlement.delayMs)
  }

  /** What was to wait for its time may be due now. */
  #clockMoved(): void {
    this.#fetcher.wake()
    this.#scheduler.wake()
    const { admitter, advancer } = this.#services
    if (advancer.isNeeded) advancer.sweep().catch((error: unknown) => this.#failed('workflows', error))
    if (admitter.isSweepNeeded) admitter.sweep().catch((error: unknown) => this.#failed('admission', error))
  }

  /** The next of its key may run, and later this one again. */
  #makeRoom({ job }: Run, settlement: Settlement): void {
    const keys = keysWithRoom(job, settlement)
    if (keys.length === 0) return
    void this.#services.admitter.admit(keys)
    if (settlement.kind === 'requeue') this.#admitIn(settlement.delayMs ?? 0, keys)
  }

  /** All workers have heard of it: those that serve the queue, and not all at the same moment. */
  #heardOf(key: WorkKey): void {
    if (!this.#settings.lanes.some((lane) => lane.queues.some(({ name }) => name === key.queue))) return
    this.#admitIn(Math.random() * HEARD_SPREAD_MS, [key])
  }

  #admitIn(delayMs: number, keys: readonly WorkKey[]): void {
    after(delayMs, () => this.#stopped ?? this.#services.admitter.admit(keys))
  }

  #failed(during: string, error: unknown): void {
    this.#services.events.emit('database_error', { during, error })
    const message = error instanceof Error ? error.message : String(error)
    this.#services.logger.warn({ during, error: message }, `${during} failed`)
  }
}
