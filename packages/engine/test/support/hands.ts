import { randomUUID } from 'node:crypto'
import type { JobContract } from 'millrace'
import { type FakeClock, fakeClock } from 'millrace/testing'
import { Registry } from '#src/contract/registry'
import { Events } from '#src/events'
import { Rescuer } from '#src/maintenance/rescuer'
import { Database } from '#src/store/db'
import { governedTake } from '#src/store/governed-claims'
import { type ClaimedJob, jobClaim, jobReleaseRun } from '#src/store/job-claims'
import { ensurePartitions } from '#src/store/partitions'
import { giveBack, type Settlement, settle } from '#src/store/settlements'
import { eventually, setup } from './setup.ts'

export interface HandRun {
  job: ClaimedJob
  runId: string
}

/** A database, a clock that is moved by hand, and a worker that does nothing by itself. */
export async function hands(contracts: readonly JobContract[], start = '2030-01-01T00:00:00Z') {
  const t = await setup()
  const clock: FakeClock = fakeClock(start)
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 4 })
  await ensurePartitions(db, clock.now())
  const millrace = t.client(contracts, { clock })
  const settled = async (settlement: Settlement) => (await settle(db, clock.now(), [settlement])).won.size === 1
  const key = ({ job, runId }: HandRun) => ({ id: job.id, runId })
  const failure = { class: 'E', message: 'failed by hand', stack: null, fingerprint: 'f', logs: null }
  const retention = 'standard' as const

  return {
    ...t,
    db,
    clock,
    millrace,

    /** Claims whatever is due. Its worker has no lease, so a rescue takes the runs away. */
    async claim(): Promise<HandRun[]> {
      const claim = { runId: randomUUID(), workerId: randomUUID() }
      const types = contracts.map(({ type }) => ({ type, stuckAfterMs: 3_600_000, limits: [] }))
      const queues = [{ queue: 'default', limit: 100 }]
      const plain = { ...claim, queues, types, suspectQueues: ['default'], byType: false }
      const jobs = await jobClaim(db, clock.now(), plain)
      // Jobs of tenants are chosen by a governor: here, all that are due.
      const due = await t.sql<{ id: string }>(
        `select id from millrace.job where tenant is not null and status = 'pending' and run_at <= $1`,
        [clock.now()],
      )
      const ids = due.map(({ id }) => id)
      const shared = { ...claim, ids, types, queue: 'default', turn: null, since: null, spent: [], isDurable: false }
      return [...jobs, ...(await governedTake(db, clock.now(), shared))].map((job) => ({ job, runId: claim.runId }))
    },

    /** The one job that is due. */
    async claimOne(): Promise<HandRun> {
      const runs = await this.claim()
      if (runs.length !== 1) throw new Error(`Expected one due job, and there were ${runs.length}`)
      return runs[0] as HandRun
    },

    complete: (run: HandRun) =>
      settled({ kind: 'finish', ...key(run), status: 'completed', result: null, reason: null, retention }),
    cancelled: (run: HandRun) =>
      settled({ kind: 'finish', ...key(run), status: 'cancelled', result: null, reason: null, retention }),
    fail: (run: HandRun, delayMs = 1_000) =>
      settled({ kind: 'requeue', ...key(run), delayMs, refund: false, crash: 'clear', failure }),
    giveBack: (run: HandRun) => settled(giveBack(key(run))),
    bury: (run: HandRun) =>
      settled({ kind: 'bury', ...key(run), reason: 'exhausted', failure, retention, drop: false }),
    /** Gives back the claim with this run_id, as if its reply had been lost. */
    release: async (runId: string) => {
      const [row] = await t.sql<{ worker_id: string }>('select worker_id from millrace.job where run_id = $1', [runId])
      return jobReleaseRun(db, clock.now(), { workerId: row?.worker_id ?? '', runId })
    },
    /** Until some statement waits for another transaction to end. */
    waitsForLock: () =>
      eventually(async () => {
        const waiting = await t.sql(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return waiting.length > 0
      }),
    rescue: () =>
      new Rescuer({
        db,
        clock,
        registry: new Registry(contracts),
        events: new Events(),
        intervalMs: 1_000,
        mayJudge: () => true,
        onBlocked: () => {},
        onStepsEnded: () => {},
        wake: () => {},
      }).tick(),

    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

export type Hands = Awaited<ReturnType<typeof hands>>
