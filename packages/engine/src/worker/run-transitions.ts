// The way of a run through this worker, from its claim to its settlement: what follows for slots, places, keys, limits and
// workflows, and what is told of it.
import type { Waker } from '../client/waker.ts'
import { type Clock, monotonicMs } from '../clock.ts'
import type { Events } from '../events.ts'
import type { Governor } from '../governance/governor.ts'
import type { Logger } from '../logger.ts'
import type { MetricFlush } from '../maintenance/metric-flush.ts'
import type { Database } from '../store/db.ts'
import { type ClaimedJob, jobReleaseRun } from '../store/job-claims.ts'
import type { RunningRow } from '../store/running-jobs.ts'
import { endsStep, giveBack, settle } from '../store/settlements.ts'
import type { Advancer } from '../workflow/advancer.ts'
import type { Acker, Entry, SettleResult } from './acker.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Fetcher } from './fetcher.ts'
import type { KeyAdmissions } from './key-admissions.ts'
import type { LaneGroup } from './lane.ts'
import type { Lease } from './lease.ts'
import type { Claim } from './open-claims.ts'
import type { Run } from './run.ts'
import type { RunBudgets } from './run-budgets.ts'
import { endedRun, outcomeOf } from './run-metrics.ts'
import type { RunProgress } from './run-progress.ts'
import { reportSettled } from './settled-events.ts'

export interface RunTransitionServices {
  db: Database
  clock: Clock
  events: Events
  logger: Logger
  waker: Waker
  advancer: Advancer
  lease: Lease
  governor: Governor
  dispatcher: Dispatcher
  fetcher: Fetcher
  acker: Acker
  budgets: RunBudgets
  admissions: KeyAdmissions
  metrics: MetricFlush
  progress: RunProgress
  /** It is stopping, or was asked to take no more jobs. */
  takesNoMore(): boolean
  onError(during: string, error: unknown): void
}

export class RunTransitions {
  readonly #services: RunTransitionServices

  constructor(services: RunTransitionServices) {
    this.#services = services
  }

  claimed(jobs: readonly ClaimedJob[], claim: Claim, group: LaneGroup): void {
    const { db, clock, waker, lease, dispatcher, takesNoMore, onError } = this.#services
    if (!takesNoMore() && claim.workerId === lease.id) {
      dispatcher.accept(jobs, claim.runId, group)
      return
    }
    // Answered too late: nobody here will run them.
    jobReleaseRun(db, clock.databaseNow(), claim).then(
      () => waker.wake(new Set(jobs.map((job) => job.queue)), jobs),
      (error: unknown) => onError('release a late claim', error),
    )
  }

  mayStart(run: Run): boolean {
    const { events, governor, lease, dispatcher } = this.#services
    if (!lease.board.start(run.place)) {
      governor.returned(run.job)
      dispatcher.dropped(run)
      dispatcher.forget(run)
      events.emit('job_returned', { job: run.ref(), why: 'the event loop was blocked' })
      return false
    }
    if (lease.isTrusted()) return true
    dispatcher.dropped(run)
    this.giveBack(run, 'the lease is in doubt')
    return false
  }

  /** It has not started. */
  giveBack(run: Run, why: string): void {
    const { acker, events, governor } = this.#services
    governor.returned(run.job)
    acker.add(run, giveBack(run.fence))
    if (events.has('job_returned')) events.emit('job_returned', { job: run.ref(), why })
  }

  /** Jobs that are ours by what the database says, and that nobody here remembers. */
  async giveBackStrays(strays: readonly RunningRow[]): Promise<void> {
    const { db, clock, waker } = this.#services
    await settle(db, clock.databaseNow(), strays.map(giveBack))
    waker.wake(new Set(strays.map((stray) => stray.queue)))
  }

  /** The handler has returned or thrown. */
  returned(run: Run): void {
    const { budgets, dispatcher, events, fetcher, governor } = this.#services
    run.returnedAtMs = monotonicMs()
    governor.ran(run.job, run.returnedAtMs - run.startedAtMs)
    dispatcher.returned(run)
    if (run.hasCharged) void budgets.end(run)
    // The next suspect waits for this one.
    if (run.isSuspect) fetcher.wake(run.job.queue)
    if (run.isLeaked) events.emit('slot_recovered', { job: run.ref() })
  }

  /** The handler's own transaction has settled the run. */
  committed(run: Run): void {
    const settlement = run.inTransaction
    if (settlement === undefined) return
    this.settled({ run, settlement }, 'won')
    if (endsStep(settlement)) void this.#services.advancer.heard([run.job.workflowId as string])
  }

  leaked(run: Run): void {
    const { dispatcher, events, logger } = this.#services
    dispatcher.leaked(run)
    events.emit('slot_leaked', { job: run.ref() })
    logger.error({ job: run.job.id, type: run.job.type }, 'a handler ignores its abort signal: its slot is leaked')
  }

  settled(entry: Entry, result: SettleResult): void {
    const { admissions, dispatcher, events, fetcher, governor, metrics, progress, waker } = this.#services
    const { run, settlement } = entry
    dispatcher.forget(run)
    progress.ended(run)
    // Its place is free for others, also in other processes.
    const waiting = governor.queuesWaitingFor(run.contract, run.job.tenant)
    if (waiting.length > 0) waker.wake(waiting)
    reportSettled(events, entry, result)
    if (result !== 'won') return
    const outcome = outcomeOf(settlement)
    if (outcome !== undefined) metrics.count(endedRun(run, outcome))
    admissions.makeRoom(run, settlement)
    if (settlement.kind !== 'requeue') return
    // What was given back is due for anybody, at once; what has a delay is ours to remember.
    if (settlement.delayMs === null) waker.wake([run.job.queue], [run.job])
    else fetcher.dueIn(run.job.queue, settlement.delayMs)
  }
}
