import { randomUUID } from 'node:crypto'
import { defineJob, defineQueues } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Registry } from '#src/contract/registry'
import { Governor } from '#src/governance/governor'
import { Database, type RunOptions } from '#src/store/db'
import type { ClaimedJob } from '#src/store/job-claims'
import type { StatementName } from '#src/store/statements'
import { Fetcher } from '#src/worker/fetcher'
import { Lane, LaneQueue } from '#src/worker/lane'
import { setup as base, signal } from '../support/setup.ts'

const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.string() })

/** Counts statements, and can hold back or lose the answer to one of them. */
class WatchedDatabase extends Database {
  readonly counts = new Map<StatementName, number>()
  intercept: (statement: StatementName) => Promise<void> = async () => {}

  override async run<Row>(statement: StatementName, values: readonly unknown[], options?: RunOptions): Promise<Row[]> {
    this.counts.set(statement, (this.counts.get(statement) ?? 0) + 1)
    const rows = await super.run<Row>(statement, values, options)
    await this.intercept(statement)
    return rows
  }

  override async tuples<Tuple>(statement: StatementName, values: readonly unknown[]): Promise<Tuple[]> {
    this.counts.set(statement, (this.counts.get(statement) ?? 0) + 1)
    const tuples = await super.tuples<Tuple>(statement, values)
    await this.intercept(statement)
    return tuples
  }
}

async function setup() {
  const t = await base()
  const db = new WatchedDatabase({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 3 })
  const queue = new LaneQueue({ name: 'default', weight: 1, pollIntervalMs: 30_000 })
  const lane = new Lane({
    name: 'default',
    slots: 5,
    queues: [queue],
    types: [{ type: 'task', timeoutMs: 30_000, stuckAfterMs: 60_000 }],
    isSelective: false,
    batchSize: Number.POSITIVE_INFINITY,
  })
  const claims: (readonly ClaimedJob[])[] = []
  let idle = signal()
  let claimed = signal<readonly ClaimedJob[]>()
  const fetcher = new Fetcher({
    db,
    clock: systemClock,
    governor: new Governor({ db, clock: systemClock, registry: new Registry([task]) }),
    lanes: [lane],
    workerId: () => workerId,
    mayClaim: () => true,
    isListenTrusted: () => true,
    prefetchFor: () => 0,
    mayTakeSuspect: () => true,
    onClaimed: (jobs) => {
      claims.push(jobs)
      claimed.resolve(jobs)
      claimed = signal()
    },
    onIdle: () => {
      idle.resolve()
      idle = signal()
    },
    onError: () => {},
  })
  const workerId = randomUUID()
  return {
    ...t,
    db,
    fetcher,
    lane,
    claims,
    millrace: t.client([task], { notify: false }),
    nextIdle: () => idle.promise,
    nextClaim: () => claimed.promise,
    async [Symbol.asyncDispose]() {
      await fetcher.stop()
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

describe('the fetcher', () => {
  test('does not lose a wake-up that comes while a claim is under way', async () => {
    await using t = await setup()
    const answered = signal()
    const release = signal()
    t.db.intercept = async (statement) => {
      if (statement !== 'jobClaim') return
      answered.resolve()
      await release.promise
    }
    t.fetcher.start()
    await answered.promise
    // The empty answer is on its way when the job is written and announced.
    await t.millrace.enqueue(task, 'x')
    t.fetcher.wake('default')
    const claimed = t.nextClaim()
    release.resolve()
    expect(await claimed).toMatchObject([{ payload: 'x' }])
  })

  test('gives a claim back whose answer was lost, and takes the job again', async () => {
    await using t = await setup()
    await t.millrace.enqueue(task, 'x')
    let isLost = false
    t.db.intercept = async (statement) => {
      if (statement !== 'jobClaim' || isLost) return
      isLost = true
      throw new Error('Connection terminated unexpectedly')
    }
    const claimed = t.nextClaim()
    t.fetcher.start()
    expect(await claimed).toMatchObject([{ payload: 'x', attempt: 1 }])
    expect(t.claims).toHaveLength(1)
  })

  test('wakes by itself when a delayed job becomes due', async () => {
    await using t = await setup()
    await t.millrace.enqueue(task, 'later', { delay: '300ms' })
    const claimed = t.nextClaim()
    t.fetcher.start()
    expect(await claimed).toMatchObject([{ payload: 'later' }])
  })

  test('asks the database nothing more once it is idle', async () => {
    await using t = await setup()
    const idle = t.nextIdle()
    t.fetcher.start()
    await idle
    for (let i = 0; i < 20; i++) {
      t.fetcher.nudge()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await t.millrace.queues()
    expect(Object.fromEntries(t.db.counts)).toEqual({ lookAround: 1, rulesLoad: 1, jobClaim: 1, jobNextDue: 1 })
  })

  test('claims type by type while a type waits in its queue that it cannot run', async () => {
    await using t = await setup()
    await t.sql(
      `insert into millrace.job (type, queue, priority, run_at, max_attempts, correlation_id, payload, created_at, updated_at)
       values ('foreign', 'default', 0, now(), 1, 'c', '{}', now(), now())`,
    )
    await t.millrace.enqueue(task, 'mine')
    const claimed = t.nextClaim()
    t.fetcher.start()
    expect(await claimed).toMatchObject([{ payload: 'mine' }])
    expect(t.db.counts.get('jobClaimTypes')).toBe(1)
    expect(t.db.counts.get('jobClaim')).toBeUndefined()
  })
})
