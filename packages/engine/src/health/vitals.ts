// One reading of the state of the whole platform: alerts, health and dashboards judge by it.
//
// Live jobs are counted in the indexes of the claims, runs come from the counts by minute, and workers from their last reports. The
// history is not read, so the size of the archive does not matter. The cost grows with the number of live jobs.
import { knownContracts } from '../client/catalogue.ts'
import type { Clock, Now } from '../clock.ts'
import type { Queue } from '../contract/queue.ts'
import type { QueueOwner } from '../contract/queue-facts.ts'
import type { Registry } from '../contract/registry.ts'
import { type BudgetStatus, budgetStatuses } from '../governance/budget-status.ts'
import { percentileMs } from '../histogram.ts'
import { type BreakerState, breakerLook } from '../store/breakers.ts'
import { budgetDeclared } from '../store/budgets.ts'
import type { Database } from '../store/db.ts'
import { type Pause, pauseList } from '../store/pauses.ts'
import { clockRead } from '../store/schedules.ts'
import { type LiveRow, statsLive } from '../store/stats.ts'
import {
  type DeadLetterVitals,
  type RecentOutcomes,
  type StuckRun,
  vitalsDeadLetters,
  vitalsDeadWorkers,
  vitalsLatencies,
  vitalsRuns,
  vitalsStuck,
  vitalsTenantLimits,
  type WorkerDeath,
} from '../store/vitals.ts'
import { workerList } from '../store/worker-reports.ts'
import { type LaneVitals, laneVitals, type WorkerVitals, workerVitals } from './worker-vitals.ts'

export interface QueueVitals {
  readonly queue: string
  /** As some program declares it; null: none does. */
  readonly owner: QueueOwner | null
  readonly slaMs: number | null
  /** All jobs that do not run: due, scheduled for later, or blocked. */
  readonly waiting: number
  readonly due: number
  readonly blocked: number
  readonly running: number
  /** How long its oldest due job has been due; null: no job is due. */
  readonly oldestDueMs: number | null
  /** Pauses that hold the whole queue. */
  readonly pauses: readonly Pause[]
  /** P95 of the last five minutes, from when jobs were due to the end of their first attempts; null: none ended. */
  readonly latencyP95Ms: number | null
}

/** Runs that succeeded or failed. */
export interface RunVitals {
  readonly runs: number
  readonly failures: number
  /** Failures per run, 0 to 1; null: there were no runs. */
  readonly errorRate: number | null
}

export interface TypeVitals {
  readonly queue: string
  readonly type: string
  readonly waiting: number
  readonly due: number
  readonly running: number
  readonly oldestDueMs: number | null
  readonly lastMinutes: RunVitals
  readonly lastHour: RunVitals
}

export interface BreakerVitals {
  readonly service: string
  readonly state: BreakerState
  readonly openedAt: Date | null
  /** While open: when one job may try the service; null: only after a reset. */
  readonly nextProbeAt: Date | null
  /** Queues with job types that are not taken while it is open. */
  readonly queues: readonly string[]
}

/** A tenant that has as many jobs in a queue as it may have, or more. */
export interface TenantVitals {
  readonly tenant: string
  readonly queue: string
  /** Waiting and running. */
  readonly jobs: number
  readonly limit: number
}

export interface Vitals {
  /** By the database's clock. */
  readonly at: Date
  readonly queues: readonly QueueVitals[]
  readonly types: readonly TypeVitals[]
  /** Slots in use, of all workers together. */
  readonly lanes: readonly LaneVitals[]
  /** Workers that hold a lease. */
  readonly workers: readonly WorkerVitals[]
  /** Workers that died in the last ten minutes. */
  readonly deaths: readonly WorkerDeath[]
  /** Runs beyond twice their timeout, now or in the last ten minutes. */
  readonly stuck: readonly StuckRun[]
  /** Services whose breaker is not closed. */
  readonly breakers: readonly BreakerVitals[]
  readonly deadLetters: DeadLetterVitals
  /** A budget that is kept in a table of a program is as that program last read it. */
  readonly budgets: readonly BudgetStatus[]
  /** Of the thousand with most jobs, those that are at their limit. */
  readonly tenants: readonly TenantVitals[]
}

export interface VitalsServices {
  db: Database
  clock: Clock
  registry: Registry
}

/** The last minutes, of error rates and latencies. */
const SHORT_MS = 5 * 60_000
/** For so long a death or a stuck run is news. */
const NEWS_MS = 10 * 60_000
const MAX_LETTERS = 10_000
const MAX_STUCK = 20
const MAX_TENANTS = 1_000

export async function readVitals(services: VitalsServices): Promise<Vitals> {
  const { db, clock } = services
  const now = clock.databaseNow()
  const at = await clockRead(db, now)
  const known = await knownContracts(services)
  const live = await statsLive(db, now, MAX_TENANTS)
  const ofTypes = live.filter(({ tenant }) => tenant === null)
  const queues = new Map(known.contracts.map(({ queue }) => [queue.name, queue]))
  const workers = await workerList(db)
  return {
    at,
    queues: await queueVitals({ db, now, at, queues, live: ofTypes }),
    types: typeVitals(at, ofTypes, await vitalsRuns(db, now, SHORT_MS)),
    lanes: laneVitals(workers),
    workers: workers.map(workerVitals),
    deaths: await vitalsDeadWorkers(db, NEWS_MS),
    stuck: await vitalsStuck(db, now, { spanMs: NEWS_MS, limit: MAX_STUCK }),
    breakers: await breakerVitals(db, now, known),
    deadLetters: await vitalsDeadLetters(db, now, MAX_LETTERS),
    budgets: await budgetVitals(db, now),
    tenants: await tenantVitals(
      db,
      queues,
      live.filter(({ tenant }) => tenant !== null),
    ),
  }
}

interface QueueReading {
  db: Database
  now: Now
  at: Date
  queues: ReadonlyMap<string, Queue>
  live: readonly LiveRow[]
}

async function queueVitals({ db, now, at, queues, live }: QueueReading): Promise<QueueVitals[]> {
  const pauses = await pauseList(db, now)
  const latencies = new Map((await vitalsLatencies(db, now, SHORT_MS)).map((row) => [row.queue, row.latencies]))
  const names = new Set([...queues.keys(), ...live.map(({ queue }) => queue), ...latencies.keys()])
  return [...names].sort().map((queue) => {
    const rows = live.filter((row) => row.queue === queue)
    const sum = (read: (row: LiveRow) => number) => rows.reduce((total, row) => total + read(row), 0)
    return {
      queue,
      owner: queues.get(queue)?.facts.owner ?? null,
      slaMs: queues.get(queue)?.slaMs ?? null,
      waiting: sum((row) => row.waiting),
      due: sum((row) => row.due),
      blocked: sum((row) => row.blocked),
      running: sum((row) => row.running),
      oldestDueMs: oldestOf(at, rows),
      pauses: pauses.filter((pause) => pause.queue === queue && pause.type === null && pause.tenant === null),
      latencyP95Ms: percentileMs(latencies.get(queue) ?? [], 0.95),
    }
  })
}

function oldestOf(at: Date, rows: readonly LiveRow[]): number | null {
  const times = rows.flatMap(({ oldestDueAt }) => oldestDueAt?.getTime() ?? [])
  return times.length === 0 ? null : Math.max(0, at.getTime() - Math.min(...times))
}

const NO_RUNS = { runsHour: 0, failuresHour: 0, runsShort: 0, failuresShort: 0 }
const NO_JOBS = { waiting: 0, due: 0, running: 0 }

function typeVitals(at: Date, live: readonly LiveRow[], recent: readonly RecentOutcomes[]): TypeVitals[] {
  const key = ({ queue, type }: { queue: string; type: string | null }) => `${queue}\0${type}`
  const rows = new Map(live.map((row) => [key(row), row]))
  const runs = new Map(recent.map((row) => [key(row), row]))
  return [...new Set([...rows.keys(), ...runs.keys()])].sort().map((name) => {
    const row = rows.get(name)
    const { waiting, due, running } = row ?? NO_JOBS
    const { runsHour, failuresHour, runsShort, failuresShort } = runs.get(name) ?? NO_RUNS
    const [queue, type] = name.split('\0') as [string, string]
    return {
      ...{ queue, type, waiting, due, running },
      oldestDueMs: row === undefined ? null : oldestOf(at, [row]),
      lastMinutes: runVitals(runsShort, failuresShort),
      lastHour: runVitals(runsHour, failuresHour),
    }
  })
}

const runVitals = (runs: number, failures: number): RunVitals => ({
  runs,
  failures,
  errorRate: runs === 0 ? null : failures / runs,
})

async function breakerVitals(db: Database, now: Now, known: Registry): Promise<BreakerVitals[]> {
  const rows = await breakerLook(db, now)
  return rows
    .filter(({ state }) => state !== 'closed')
    .map(({ serviceName, state, openedAt, openUntil }) => ({
      service: serviceName,
      state,
      openedAt,
      nextProbeAt: state === 'open' ? openUntil : null,
      queues: [...new Set(known.dependants(serviceName).map(({ queue }) => queue.name))].sort(),
    }))
}

/** Budgets with a source are not read by it here: code of the program might fail, or be slow. */
async function budgetVitals(db: Database, now: Now): Promise<BudgetStatus[]> {
  const declared = await budgetDeclared(db)
  const budgets = declared.map(({ hasSource, ...budget }) => ({ ...budget, source: undefined, isForeign: hasSource }))
  return budgetStatuses(db, now, budgets)
}

async function tenantVitals(
  db: Database,
  queues: ReadonlyMap<string, Queue>,
  live: readonly LiveRow[],
): Promise<TenantVitals[]> {
  const rows = live as (LiveRow & { tenant: string })[]
  const own = new Map((await vitalsTenantLimits(db, rows)).map((row) => [`${row.tenant}\0${row.queue}`, row.jobs]))
  return rows.flatMap(({ tenant, queue, waiting, running }) => {
    const limit = own.get(`${tenant}\0${queue}`) ?? queues.get(queue)?.tenantJobs?.max
    const jobs = waiting + running
    return limit === undefined || jobs < limit ? [] : { tenant, queue, jobs, limit }
  })
}
