// The parts of a worker, each made of what it needs of the others. They call one another in a circle: where one is not there
// yet, a function finds it when it is called.
import { hostname } from 'node:os'
import { reportBreaker } from '../client/breaker-events.ts'
import { type CatalogueLane, programOf } from '../client/catalogue-document.ts'
import type { Enqueuer } from '../client/enqueuer.ts'
import type { Herald } from '../client/herald.ts'
import type { JobManager } from '../client/manage.ts'
import type { Waker } from '../client/waker.ts'
import { type Clock, monotonicMs } from '../clock.ts'
import type { LetterRetention } from '../contract/letter-retention.ts'
import type { Registry } from '../contract/registry.ts'
import type { Events } from '../events.ts'
import { failureFrom } from '../failure.ts'
import type { Admitter } from '../governance/admitter.ts'
import { BreakerGate } from '../governance/breaker-gate.ts'
import { Breakers } from '../governance/breakers.ts'
import { Governor } from '../governance/governor.ts'
import type { Logger } from '../logger.ts'
import type { Loop } from '../maintenance/loop.ts'
import { MetricFlush } from '../maintenance/metric-flush.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import type { NewProgram } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { VERSION } from '../version.ts'
import type { Advancer } from '../workflow/advancer.ts'
import type { Definitions } from '../workflow/definitions.ts'
import { Acker } from './acker.ts'
import { BackPressure } from './back-pressure.ts'
import { Dispatcher } from './dispatcher.ts'
import { Execution } from './execution.ts'
import { Fetcher } from './fetcher.ts'
import { KeyAdmissions } from './key-admissions.ts'
import type { Lane } from './lane.ts'
import { Lease } from './lease.ts'
import { leaseEvents } from './lease-events.ts'
import { MemoryGuard } from './memory-guard.ts'
import { MAX_PREFETCH, Prefetch } from './prefetch.ts'
import { Reconciler } from './reconciler.ts'
import { Reporter } from './reporter.ts'
import { Requests } from './requests.ts'
import { RunProgress } from './run-progress.ts'
import { RunTransitions } from './run-transitions.ts'
import { WakeUps } from './wake-ups.ts'
import type { WorkerSettings } from './work-options.ts'
import { workerLoops } from './worker-loops.ts'

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
  jobs: JobManager
  enqueuer: Enqueuer
  declared: DeclaredSchedules
  definitions: Definitions
  /** As the program calls its version. */
  version: string | null
  /** How long dead letters are kept that were decided about. */
  letterRetention: LetterRetention | null
  advancer: Advancer
  /** More connections to the same database. The caller closes them. */
  open(maxConnections: number): Database
}

/** The worker that the parts belong to. */
interface Owner {
  isStopping(): boolean
  stop(): Promise<void>
}

/** What every part is given. */
interface PartServices extends WorkerServices, Owner {
  onError(during: string, error: unknown): void
}

const MAX_UNSETTLED = 4_000

export class WorkerParts {
  /** What its code declares. */
  readonly program: NewProgram
  readonly governor: Governor
  readonly lease: Lease
  readonly acker: Acker
  readonly execution: Execution
  readonly dispatcher: Dispatcher
  readonly pressure: BackPressure | undefined
  readonly fetcher: Fetcher
  readonly reconciler: Reconciler
  readonly admissions: KeyAdmissions
  readonly transitions: RunTransitions
  readonly metrics: MetricFlush
  readonly progress: RunProgress
  readonly wakeUps: WakeUps
  readonly requests: Requests
  readonly reporter: Reporter
  readonly memory: MemoryGuard
  readonly loops: readonly Loop<unknown>[]
  readonly #settings: WorkerSettings
  readonly #services: PartServices

  constructor(settings: WorkerSettings, given: WorkerServices, owner: Owner) {
    const services = { ...given, ...owner, onError: reporting(given) }
    this.#settings = settings
    this.#services = services
    this.program = programOf(services, laneDocuments(settings.lanes))
    this.governor = new Governor(services)
    this.lease = this.#makeLease()
    this.acker = this.#makeAcker()
    const breakers = this.#makeBreakers()
    this.execution = this.#makeExecution(breakers)
    const prefetch = new Prefetch()
    this.dispatcher = this.#makeDispatcher(prefetch)
    this.pressure = this.#makeBackPressure()
    this.memory = this.#makeMemoryGuard()
    const { memory } = this
    this.fetcher = this.#makeFetcher({ breakers, prefetch, memory })
    this.admissions = new KeyAdmissions({ ...services, lanes: settings.lanes })
    const { governor, lease, acker, dispatcher, fetcher, admissions } = this
    const { budgets } = this.execution
    const joined = { governor, lease, acker, dispatcher, fetcher, admissions, budgets }
    const takesNoMore = () => services.isStopping() || this.requests.current !== null
    this.metrics = new MetricFlush(services)
    this.progress = new RunProgress(services)
    const { metrics, progress } = this
    this.transitions = new RunTransitions({ ...services, ...joined, metrics, progress, takesNoMore })
    this.reconciler = new Reconciler({
      runs: () => dispatcher.runs,
      isOpenClaim: (runId) => fetcher.isOpen(runId) || isSystemRun(runId),
      giveBack: (strays) => this.transitions.giveBackStrays(strays),
      strayAfterMs: Math.min(5_000, settings.times.ttlMs / 2),
    })
    const { all, scheduler, system, isSystemRun } = workerLoops({ lease, memory, pressure: this.pressure }, settings, {
      ...services,
      metrics,
      wake: (queues) => services.waker.wake(queues),
      isTold: () => this.wakeUps.isListenTrusted,
      workerId: () => lease.id,
      mayClaim: () => lease.isTrusted() && !memory.isHigh && !takesNoMore(),
    })
    this.loops = all
    this.wakeUps = new WakeUps({ ...services, governor, dispatcher, fetcher, scheduler, system })
    this.requests = this.#makeRequests()
    this.reporter = this.#makeReporter(memory)
  }

  #makeRequests(): Requests {
    return new Requests({
      ...this.#services,
      workerId: () => this.lease.id,
      returnUnstarted: (why) => this.dispatcher.returnUnstarted(why),
      wake: () => this.fetcher.wake(),
    })
  }

  #makeReporter(memory: MemoryGuard): Reporter {
    const { governor, dispatcher } = this
    const { lanes } = this.#settings
    return new Reporter({
      ...{ lanes, dispatcher, governor, memory },
      state: () => {
        if (this.#services.isStopping()) return 'stopping'
        return this.requests.current === null ? 'working' : 'quiet'
      },
      isListening: () => this.wakeUps.isListenTrusted,
    })
  }

  #makeLease(): Lease {
    const { connection, times, lanes, implementations } = this.#settings
    const worker = {
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      lanes: Object.fromEntries(lanes.map((lane) => [lane.name, lane.slots])),
      types: implementations.map(({ contract }) => contract.type),
      schedules: this.#services.declared.names,
      program: this.program.hash,
      ttlMs: times.ttlMs,
    }
    // Each lane holds its slots, what is prefetched for it, and perhaps a suspect.
    const places = lanes.reduce((sum, lane) => sum + lane.slots + MAX_PREFETCH + 1, 0)
    const events = leaseEvents(this, this.#services)
    return new Lease({ connection, schema: this.#services.db.schema, times }, worker, places, events)
  }

  #makeAcker(): Acker {
    const { db, clock, advancer, onError } = this.#services
    return new Acker({
      db,
      clock,
      isTrusted: () => this.lease.isTrusted(),
      ensurePartitions: async () => void (await ensurePartitions(db, clock.databaseNow())),
      settleStep: (settlement, onAdvanced) => advancer.settleStep(db, settlement, onAdvanced),
      onSettled: (entry, result) => this.transitions.settled(entry, result),
      onDue: (workflows) => void advancer.due(workflows),
      onStepsEnded: (workflowIds) => void advancer.heard(workflowIds),
      onFlushed: () => this.fetcher.nudge(),
      onError,
    })
  }

  #makeBreakers(): Breakers {
    const { db, clock, registry, onError } = this.#services
    return new Breakers({
      db,
      clock,
      definition: (name) => registry.service(name),
      onChange: (change) => {
        reportBreaker(this.#services, change)
        if (change.isOwn) this.fetcher.wake()
      },
      onError,
    })
  }

  #makeExecution(breakers: Breakers): Execution {
    const { governor } = this
    return new Execution(
      this.#settings,
      { ...this.#services, breakers, governor },
      {
        mayStart: (run) => this.transitions.mayStart(run),
        onProgress: (run, progress) => this.progress.report(run, progress),
        settle: (run, settlement) => this.acker.add(run, settlement),
        onReturned: (run) => this.transitions.returned(run),
        onCommitted: (run) => this.transitions.committed(run),
        onLeaked: (run) => this.transitions.leaked(run),
      },
    )
  }

  #makeDispatcher(prefetch: Prefetch): Dispatcher {
    const { executor } = this.execution
    return new Dispatcher({
      board: this.lease.board,
      lanes: this.#settings.lanes,
      registry: this.#services.registry,
      prefetch,
      announce: (jobs) => this.lease.announce(jobs),
      execute: (run) => executor.execute(run),
      giveBack: (run, why) => this.transitions.giveBack(run, why),
      onHungry: () => this.fetcher.nudge(),
    })
  }

  #makeBackPressure(): BackPressure | undefined {
    const { lanes, implementations, overload: limits } = this.#settings
    const queues = implementations.map(({ contract }) => contract.queue)
    return BackPressure.of(
      { lanes, queues, limits },
      { ...this.#services, workerId: () => this.lease.id, onChange: () => this.fetcher.nudge() },
    )
  }

  #makeMemoryGuard(): MemoryGuard {
    const { events, logger } = this.#services
    return new MemoryGuard(this.#settings.memory, {
      onChange: ({ percent, isHigh }) => {
        events.emit('memory_pressure', { percent, isHigh })
        if (isHigh) logger.warn({ percent }, 'memory runs short: no more jobs are taken')
        else logger.info({ percent }, 'memory is free again: jobs are taken')
        this.fetcher.nudge()
      },
    })
  }

  #makeFetcher({ breakers, prefetch, memory }: { breakers: Breakers; prefetch: Prefetch; memory: MemoryGuard }) {
    const { db, clock, events, onError } = this.#services
    const contracts = this.#settings.implementations.map(({ contract }) => contract)
    return new Fetcher({
      db,
      clock,
      governor: this.governor,
      lanes: this.#settings.lanes,
      gate: new BreakerGate(breakers, contracts),
      pressure: this.pressure,
      workerId: () => this.lease.id,
      mayClaim: () =>
        this.lease.isTrusted() &&
        !memory.isHigh &&
        this.requests.current === null &&
        this.acker.backlog < MAX_UNSETTLED,
      isListenTrusted: () => this.wakeUps.isListenTrusted,
      prefetchFor: (lane) => prefetch.allowance(lane, monotonicMs()),
      mayTakeSuspect: () => !this.dispatcher.hasSuspect,
      onClaimed: (jobs, claim, group) => this.transitions.claimed(jobs, claim, group),
      onIdle: (queues) => events.emit('idle', { queues }),
      onError,
    })
  }
}

function laneDocuments(lanes: readonly Lane[]): Record<string, CatalogueLane> {
  const documentOf = ({ slots, queues, types }: Lane) => ({
    slots,
    queues: Object.fromEntries(queues.map(({ name, weight }) => [name, weight])),
    timeouts: Object.fromEntries(types.map(({ type, timeoutMs }) => [type, timeoutMs])),
  })
  return Object.fromEntries(lanes.map((lane) => [lane.name, documentOf(lane)]))
}

const reporting =
  ({ events, logger }: WorkerServices) =>
  (during: string, error: unknown): void => {
    events.emit('database_error', { during, error })
    logger.warn({ during, error: failureFrom(error).message }, `${during} failed`)
  }
