// Governed runs are counted from the start of the oldest one on. That must never leave one out: limits depend on it.
import { randomUUID } from 'node:crypto'
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import { governedStanding, governedTake } from '#src/store/governed-claims'
import { setup as base } from '../support/setup.ts'

const queues = defineQueues({ a: {}, b: {} })
const jobs = {
  a: defineJob({ type: 'one', queue: queues.a, payload: z.number() }),
  b: defineJob({ type: 'two', queue: queues.b, payload: z.number() }),
}

async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const millrace = t.client([jobs.a, jobs.b])
  const at = (second: number) => new Date(1_700_000_000_000 + second * 1_000)

  /** What is counted in queue a, and under the limit in all queues. */
  async function counted(second: number): Promise<{ running: number; held: number; since: Date | null }> {
    const { running, held, since } = await governedStanding(db, at(second), {
      queue: 'a',
      limits: ['shared'],
      tenants: [],
    })
    const sum = (rows: readonly (readonly [unknown, unknown, number])[] | null) =>
      (rows ?? []).reduce((all, [, , count]) => all + count, 0)
    return { running: sum(running), held: sum(held), since }
  }

  return {
    ...t,
    counted,
    /** A claim of one job, as a worker makes it. */
    async take(second: number, queue: 'a' | 'b' = 'a'): Promise<string> {
      const { id } = await millrace.enqueue(jobs[queue], second, { tenant: 'x', runAt: at(0) })
      const { since } = await governedStanding(db, at(second), { queue, limits: [], tenants: [] })
      const taken = await governedTake(db, at(second), {
        ids: [id],
        types: [{ type: jobs[queue].type, stuckAfterMs: 1_000, limits: ['shared'] }],
        runId: randomUUID(),
        workerId: randomUUID(),
        queue,
        turn: null,
        since,
        spent: [],
        isDurable: true,
      })
      expect(taken).toHaveLength(1)
      return id
    },
    end: (id: string) => t.sql('delete from millrace.job where id = $1', [id]),
    async runningSince(queue = 'a'): Promise<number | undefined> {
      const [row] = await t.sql<{ s: number }>(
        `select date_part('epoch', running_since) - 1700000000 as s from millrace.queue_turn where queue = $1`,
        [queue],
      )
      return row?.s
    },
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

test('what is counted moves on with the oldest run, and is written down only now and then', async () => {
  await using t = await setup()
  const first = await t.take(10)
  expect(await t.runningSince()).toBe(10)
  const second = await t.take(20)
  await t.take(21)
  expect(await t.runningSince()).toBe(10)
  expect(await t.counted(22)).toMatchObject({ running: 3, held: 3, since: null })
  await t.end(first)
  await t.take(30)
  expect(await t.runningSince()).toBeCloseTo(19.999, 4)
  await t.end(second)
  await t.take(31)
  expect(await t.runningSince()).toBeCloseTo(19.999, 4)
  expect(await t.counted(32)).toMatchObject({ running: 3, held: 3 })
})

test('once nothing runs it moves on to now', async () => {
  await using t = await setup()
  await t.end(await t.take(10))
  expect((await t.counted(50)).since?.getTime()).toBe(1_700_000_050_000)
  await t.take(50)
  expect(await t.runningSince()).toBe(50)
  expect(await t.counted(51)).toMatchObject({ running: 1, held: 1 })
})

test('runs count that began before, because a clock was put back', async () => {
  await using t = await setup()
  await t.end(await t.take(100))
  await t.take(110)
  expect(await t.runningSince()).toBe(110)
  await t.take(40)
  expect(await t.runningSince()).toBe(40)
  expect(await t.counted(41)).toMatchObject({ running: 2, held: 2 })
})

test('a limit counts in every queue, each from its own oldest run on', async () => {
  await using t = await setup()
  await t.take(10, 'b')
  await t.end(await t.take(20))
  await t.take(90)
  expect(await t.runningSince('b')).toBe(10)
  expect(await t.runningSince()).toBe(90)
  expect(await t.counted(91)).toMatchObject({ running: 1, held: 2 })
})

test('runs count whose start nobody wrote down', async () => {
  await using t = await setup()
  await t.take(10)
  await t.sql('update millrace.queue_turn set running_since = null')
  expect(await t.counted(11)).toMatchObject({ running: 1, held: 1 })
  await t.take(12)
  expect(await t.counted(13)).toMatchObject({ running: 2, held: 2 })
})
