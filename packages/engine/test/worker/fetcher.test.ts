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
  /** How many claims asked for this queue. */
  readonly claimsOf = new Map<string, number>()

  override async run<Row>(statement: StatementName, values: readonly unknown[], options?: RunOptions): Promise<Row[]> {
    this.counts.set(statement, (this.counts.get(statement) ?? 0) + 1)
    const rows = await super.run<Row>(statement, values, options)
    await this.intercept(statement)
    return rows
  }

  override async tuples<Tuple>(statement: StatementName, values: readonly unknown[]): Promise<Tuple[]> {
    this.counts.set(statement, (this.counts.get(statement) ?? 0) + 1)
    if (statement === 'jobClaim')
      for (const queue of String(values[1]).match(/\w+/g) ?? [])
        this.claimsOf.set(queue, (this.claimsOf.get(queue) ?? 0) + 1)
    const tuples = await super.tuples<Tuple>(statement, values)
    await this.intercept(statement)
    return tuples
  }
}

interface Setup {
  /** Poll intervals by queue. */
  polls?: Record<string, number>
  isListenTrusted?: boolean
}

async function setup({ polls = { default: 30_000 }, isListenTrusted = true }: Setup = {}) {
  const t = await base()
  const db = new WatchedDatabase({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 3 })
  const queues = Object.entries(polls).map(
    ([name, pollIntervalMs]) => new LaneQueue({ name, weight: 1, pollIntervalMs }),
  )
  const lane = new Lane({
    name: 'default',
    slots: 5,
    queues,
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
    isListenTrusted: () => isListenTrusted,
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
    claims,
    millrace: t.client([task], { notify: false }),
    insert: (queue: string, runAt: string, type = 'task') =>
      t.sql(
        `insert into millrace.job (type, queue, priority, run_at, max_attempts, correlation_id, payload, created_at, updated_at)
         values ('${type}', '${queue}', 0, ${runAt}, 1, 'c', '{}', now(), now())`,
      ),
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

  test('polls each queue at its own interval while wake-ups are not trusted', async () => {
    await using t = await setup({ polls: { fast: 10, slow: 60_000 }, isListenTrusted: false })
    const polledOften = signal()
    t.db.intercept = async (statement) => {
      if (statement === 'jobNextDue' && t.db.counts.get(statement) === 1) await t.insert('slow', 'now()')
      if (statement === 'jobClaim' && t.db.claimsOf.get('fast') === 10) polledOften.resolve()
    }
    t.fetcher.start()
    await polledOften.promise
    expect(t.db.claimsOf.get('slow')).toBe(1)
    expect(t.claims).toEqual([])
  })

  test('looks only into the queue whose job becomes due', async () => {
    await using t = await setup({ polls: { one: 60_000, other: 60_000 } })
    await t.insert('one', "now() + interval '300 milliseconds'")
    const claimed = t.nextClaim()
    t.fetcher.start()
    expect(await claimed).toMatchObject([{ queue: 'one' }])
    expect(t.db.claimsOf.get('other')).toBe(1)
  })

  test('claims type by type while a type waits in its queue that it cannot run', async () => {
    await using t = await setup()
    await t.insert('default', 'now()', 'foreign')
    await t.millrace.enqueue(task, 'mine')
    const claimed = t.nextClaim()
    t.fetcher.start()
    expect(await claimed).toMatchObject([{ payload: 'mine' }])
    expect(t.db.counts.get('jobClaimTypes')).toBe(1)
    expect(t.db.counts.get('jobClaim')).toBeUndefined()
  })
})
