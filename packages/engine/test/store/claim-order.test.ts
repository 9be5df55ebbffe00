import { randomUUID } from 'node:crypto'
import { defineJob, defineQueues } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import {
  type ClaimedJob,
  type ClaimRequest,
  jobClaim,
  jobNextDue,
  jobReleaseRun,
  lookAround,
  type Position,
} from '#src/store/job-claims'
import { setup as base } from '../support/setup.ts'

const queues = defineQueues({ a: {}, b: {} })
const one = defineJob({ type: 'one', queue: queues.a, payload: z.string() })
const two = defineJob({ type: 'two', queue: queues.a, payload: z.string() })
const other = defineJob({ type: 'other', queue: queues.b, payload: z.string() })

async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 4 })
  const claim = async (request: Partial<ClaimRequest> = {}, now: Date | null = null) =>
    jobClaim(db, now, {
      queues: [{ queue: 'a', limit: 10 }],
      types: [one, two, other].map(({ type }) => ({ type, stuckAfterMs: 1_000 })),
      runId: randomUUID(),
      workerId: randomUUID(),
      suspectQueues: ['a', 'b'],
      byType: false,
      ...request,
    })
  return {
    ...t,
    db,
    millrace: t.client([one, two, other]),
    claim,
    claimed: async (...args: Parameters<typeof claim>) => (await claim(...args)).map((job) => job.payload),
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

const positionsOf = (t: Awaited<ReturnType<typeof setup>>, ...payloads: string[]): Promise<Position[]> =>
  t.sql<Position & Record<string, unknown>>(
    `select tenant, type, priority, date_part('epoch', run_at) as "runAtS", id from millrace.job
     where payload::text = any($1) order by priority`,
    [payloads.map((payload) => JSON.stringify(payload))],
  )

describe('a claim that enters its queue behind a job', () => {
  test('takes what comes after it and what has another priority, and leaves what stands before it', async () => {
    await using t = await setup()
    const at = (day: number) => ({ runAt: new Date(2020, 0, day) })
    await t.millrace.enqueue(one, 'before', at(1))
    await t.millrace.enqueueMany(one, ['same time 1', 'entry', 'same time 2'], at(2))
    await t.millrace.enqueue(one, 'after', at(3))
    await t.millrace.enqueue(one, 'urgent', { ...at(1), priority: 0 })
    await t.millrace.enqueue(one, 'very urgent', { ...at(1), priority: 1 })
    await t.millrace.enqueue(one, 'low', { ...at(1), priority: 9 })
    await t.millrace.enqueue(one, 'lower', { ...at(1), priority: 2_147_483_647 })
    const entry = await positionsOf(t, 'entry')
    const behind = (limit: number) => ({ queues: [{ queue: 'a', limit, behind: entry }] })
    expect(await t.claimed(behind(3))).toEqual(['urgent', 'very urgent', 'same time 2'])
    expect(await t.claimed(behind(9))).toEqual(['after', 'low', 'lower'])
    expect(await t.claimed(behind(9))).toEqual([])
    expect(await t.claimed()).toEqual(['before', 'same time 1', 'entry'])
  })

  test('may enter each priority and each queue elsewhere, and finds what stands between them', async () => {
    await using t = await setup()
    for (const priority of [1, 3, 5]) {
      await t.millrace.enqueueMany(one, [`before ${priority}`, `entry ${priority}`, `after ${priority}`], { priority })
    }
    for (const priority of [0, 2, 4, 6]) await t.millrace.enqueue(one, `level ${priority}`, { priority })
    await t.millrace.enqueueMany(other, ['before b', 'entry b', 'after b'], { priority: 3 })
    const behind = (await positionsOf(t, 'entry 5', 'entry 1', 'entry 3')).reverse()
    const queues = [
      { queue: 'a', limit: 9, behind },
      { queue: 'b', limit: 9, behind: await positionsOf(t, 'entry b') },
    ]
    const taken = await t.claim({ queues })
    expect(taken.filter(({ queue }) => queue === 'a').map(({ payload }) => payload)).toEqual([
      'level 0',
      'after 1',
      'level 2',
      'after 3',
      'level 4',
      'after 5',
      'level 6',
    ])
    expect(taken.filter(({ queue }) => queue === 'b').map(({ payload }) => payload)).toEqual(['after b'])
    expect(await t.claimed({ queues })).toEqual([])
    expect(await t.claimed()).toHaveLength(6)
  })

  test('by type, may enter each type at each priority elsewhere', async () => {
    await using t = await setup()
    for (const priority of [1, 3]) {
      for (const type of [one, two]) {
        const payloads = ['before', 'entry', 'after'].map((place) => `${place} ${type.type} ${priority}`)
        await t.millrace.enqueueMany(type, payloads, { priority })
      }
    }
    for (const priority of [0, 2, 4]) await t.millrace.enqueue(two, `level ${priority}`, { priority })
    const behind = await positionsOf(t, 'entry one 1', 'entry two 1', 'entry two 3')
    const queues = [{ queue: 'a', limit: 20, behind }]
    expect((await t.claimed({ byType: true, queues })).sort()).toEqual(
      [
        ...['level 0', 'level 2', 'level 4', 'after one 1', 'after two 1', 'after two 3'],
        ...['before one 3', 'entry one 3', 'after one 3'],
      ].sort(),
    )
    expect(await t.claimed({ byType: true, queues })).toEqual([])
    expect(await t.claimed({ byType: true })).toHaveLength(6)
  })

  test.each([false, true])('finds its place to the microsecond, %s by type', async (byType) => {
    await using t = await setup()
    await t.millrace.enqueueMany(one, ['1', '2', '3'])
    await t.sql(`update millrace.job set run_at = '2026-03-04 05:06:07.123456+00'::timestamptz + id * interval '1 us'`)
    let behind: ClaimedJob[] = []
    for (const payload of ['1', '2', '3']) {
      const jobs = await t.claim({ byType, queues: [{ queue: 'a', limit: 1, behind }] })
      expect(jobs[0]?.payload).toBe(payload)
      behind = jobs
    }
  })
})

describe.each([{ byType: false }, { byType: true }])('a claim ($byType by type)', ({ byType }) => {
  test('takes by priority, then due time, then id, and never more than its limit', async () => {
    await using t = await setup()
    await t.millrace.enqueue(one, 'late', { runAt: new Date(2020, 0, 2) })
    await t.millrace.enqueue(one, 'early', { runAt: new Date(2020, 0, 1) })
    await t.millrace.enqueue(one, 'urgent', { priority: 0 })
    await t.millrace.enqueue(one, 'low', { priority: 9 })
    await t.millrace.enqueue(one, 'future', { delay: '1h', priority: 0 })
    const limit = (n: number) => ({ byType, queues: [{ queue: 'a', limit: n }] })
    expect(await t.claimed(limit(1))).toEqual(['urgent'])
    expect(await t.claimed(limit(2))).toEqual(['early', 'late'])
    expect(await t.claimed(limit(9))).toEqual(['low'])
    expect(await t.claimed(limit(9))).toEqual([])
    expect(await t.claimed(limit(9), new Date(Date.now() + 3_700_000))).toEqual(['future'])
  })

  test('takes nothing under a lease that somebody has ended, not even a suspect', async () => {
    await using t = await setup()
    await t.millrace.enqueueMany(one, ['plain', 'suspect'])
    await t.sql(`update millrace.job set crashes = 1 where payload = '"suspect"'`)
    const [worker] = await t.sql<{ id: string }>(
      `insert into millrace.worker values (gen_random_uuid(), 'h', 1, '0', '{}', now(), now(), now() + interval '1 hour')
       returning id`,
    )
    const workerId = `${worker?.id}`
    await t.sql('update millrace.worker set ended_at = now()')
    expect(await t.claimed({ byType, workerId })).toEqual([])
    await t.sql('update millrace.worker set ended_at = null')
    expect((await t.claimed({ byType, workerId })).sort()).toEqual(['plain', 'suspect'])
  })

  test('takes from several queues, each up to its own limit', async () => {
    await using t = await setup()
    await t.millrace.enqueueMany(one, ['1', '2', '3'])
    await t.millrace.enqueueMany(other, ['4', '5', '6'])
    const wanted = [
      { queue: 'a', limit: 2 },
      { queue: 'b', limit: 1 },
      { queue: 'none', limit: 5 },
    ]
    expect((await t.claimed({ byType, queues: wanted })).sort()).toEqual(['1', '2', '4'])
  })

  test('leaves types alone that the worker does not know', async () => {
    await using t = await setup()
    await t.millrace.enqueue(one, 'foreign')
    await t.millrace.enqueue(two, 'mine')
    expect(await t.claimed({ byType, types: [{ type: 'two', stuckAfterMs: 1 }] })).toEqual(['mine'])
    expect(await t.sql(`select type from millrace.job where status = 'pending'`)).toEqual([{ type: 'one' }])
  })

  test('marks the rows as one run of that worker, with a deadline by type', async () => {
    await using t = await setup()
    await t.millrace.enqueue(one, 'x')
    const runId = randomUUID()
    const workerId = randomUUID()
    await t.claim({
      byType,
      runId,
      workerId,
      types: [
        { type: 'two', stuckAfterMs: 1 },
        { type: 'one', stuckAfterMs: 5_000 },
      ],
    })
    expect(
      await t.sql(
        'select status, attempt, run_id, worker_id, extract(epoch from deadline_at - started_at)::int as s from millrace.job',
      ),
    ).toEqual([{ status: 'processing', attempt: 1, run_id: runId, worker_id: workerId, s: 5 }])
  })

  test('takes one suspect when asked, and only from the queues named', async () => {
    await using t = await setup()
    await t.millrace.enqueueMany(one, ['s1', 's2'])
    await t.sql('update millrace.job set crashes = 1')
    await t.millrace.enqueue(one, 'good')
    expect(await t.claimed({ byType, suspectQueues: [] })).toEqual(['good'])
    expect(await t.claimed({ byType, suspectQueues: ['b'] })).toEqual([])
    expect(await t.claimed({ byType, suspectQueues: ['a'] })).toHaveLength(1)
    expect(await t.claimed({ byType, suspectQueues: ['a'] })).toHaveLength(1)
  })

  test('passes over rows that others have locked', async () => {
    await using t = await setup()
    const [first] = await t.millrace.enqueueMany(one, ['locked', 'free'])
    const client = await t.pool.connect()
    await client.query('begin')
    await client.query('select from millrace.job where id = $1 for update', [first?.id])
    expect(await t.claimed({ byType })).toEqual(['free'])
    await client.query('rollback')
    client.release()
  })
})

test('by type, types of one priority come in the order given', async () => {
  await using t = await setup()
  await t.millrace.enqueue(one, 'one')
  await t.millrace.enqueue(two, 'two')
  const types = [
    { type: 'two', stuckAfterMs: 1 },
    { type: 'one', stuckAfterMs: 1 },
  ]
  expect(await t.claimed({ byType: true, types, queues: [{ queue: 'a', limit: 1 }] })).toEqual(['two'])
})

test('a claim whose reply was lost is given back by its run id, with its attempts', async () => {
  await using t = await setup()
  await t.millrace.enqueueMany(one, ['x', 'y'])
  const run = { runId: randomUUID(), workerId: randomUUID() }
  await t.claim(run)
  expect(await jobReleaseRun(t.db, null, { ...run, runId: randomUUID() })).toEqual([])
  expect(await jobReleaseRun(t.db, null, { ...run, workerId: randomUUID() })).toEqual([])
  expect(await jobReleaseRun(t.db, null, run)).toHaveLength(2)
  expect(await t.sql('select distinct status, attempt from millrace.job')).toEqual([{ status: 'pending', attempt: 0 }])
})

test('the next due time looks at every priority, and at suspects', async () => {
  await using t = await setup()
  const waitMs = async () => (await jobNextDue(t.db, null, [{ queue: 'a' }]))[0]?.waitMs
  expect(await waitMs()).toBeNull()
  await t.millrace.enqueue(one, 'x', { delay: '2h', priority: 0 })
  await t.millrace.enqueue(one, 'x', { delay: '1h', priority: 7 })
  expect(Math.round(((await waitMs()) ?? 0) / 60_000)).toBe(60)
  await t.sql(`update millrace.job set crashes = 1, run_at = now() + interval '30 minutes' where priority = 0`)
  expect(Math.round(((await waitMs()) ?? 0) / 60_000)).toBe(30)
})

test('the next due time is that of what comes after the entries, or has another priority', async () => {
  await using t = await setup()
  const minutes = async (behind: readonly Position[]) => {
    const answers = await jobNextDue(t.db, null, [{ queue: 'a', behind }, { queue: 'b' }])
    expect(answers.find(({ queue }) => queue === 'b')).toMatchObject({ waitMs: null, isShared: false })
    const waitMs = answers.find(({ queue }) => queue === 'a')?.waitMs ?? null
    return waitMs === null ? null : Math.round(waitMs / 60_000)
  }
  await t.millrace.enqueue(one, 'first', { delay: '10m' })
  await t.millrace.enqueue(one, 'second', { delay: '20m' })
  const [first, second] = [await positionsOf(t, 'first'), await positionsOf(t, 'second')]
  expect(await minutes([])).toBe(10)
  expect(await minutes(first)).toBe(20)
  expect(await minutes(second)).toBeNull()
  await t.millrace.enqueue(one, 'less urgent', { delay: '40m', priority: 9 })
  expect(await minutes(second)).toBe(40)
  await t.millrace.enqueue(one, 'more urgent', { delay: '30m', priority: 0 })
  expect(await minutes(second)).toBe(30)
  expect(await minutes([...(await positionsOf(t, 'more urgent')), ...second])).toBe(40)
})

test('the types waiting in a queue are found, and whether jobs of tenants do', async () => {
  await using t = await setup()
  await t.millrace.enqueueMany(one, ['1', '2'])
  await t.millrace.enqueue(two, '3')
  await t.millrace.enqueue(other, '4')
  const types = [
    ['a', 'one'],
    ['a', 'two'],
  ]
  expect(await lookAround(t.db, ['a', 'none'], [])).toMatchObject({ types, shared: [] })
  await t.millrace.enqueue(other, '5', { tenant: 'x' })
  await t.millrace.enqueue(one, '6', { tenant: 'x' })
  expect(await lookAround(t.db, ['a', 'none'], [])).toMatchObject({ types, shared: ['a'] })
})

test('types that need not be looked for are left out, in their queue, and those around them are found', async () => {
  await using t = await setup()
  await t.millrace.enqueueMany(one, ['1', '2'])
  await t.millrace.enqueue(two, '3')
  await t.millrace.enqueue(other, '4')
  const found = async (...familiar: [queue: string, type: string][]) =>
    (await lookAround(t.db, ['a', 'b'], familiar)).types.map((each) => each.join(' ')).sort()
  expect(await found(['a', 'one'])).toEqual(['a two', 'b other'])
  expect(await found(['a', 'two'], ['b', 'other'])).toEqual(['a one'])
  expect(await found(['a', 'two'], ['a', 'one'], ['a', 'gone'])).toEqual(['b other'])
  expect(await found(['b', 'one'], ['a', 'other'], ['a', 'z'])).toEqual(['a one', 'a two', 'b other'])
})
