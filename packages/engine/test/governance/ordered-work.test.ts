// Jobs with an order key: one after another, in the order of their ids, whatever happens to them.
import { createMillrace, defineJob, defineQueues, fixed, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, type Setup, setup, shortLease, signal, silent } from '../support/setup.ts'

const queues = defineQueues({ ledger: { concurrency: 20 } })
const payload = z.object({ account: z.string().nullable(), n: z.int() })
const retry = { attempts: 2, backoff: fixed(50) }
const order = { key: ({ account }: { account: string | null }) => account }
const entry = defineJob({ type: 'entry', queue: queues.ledger, payload, retry, order })
const strict = defineJob({
  type: 'strict',
  queue: queues.ledger,
  payload,
  retry: { ...retry, attempts: 1 },
  order: { ...order, onDead: 'stop' },
})

const of = (account: string | null, count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ account, n: from + i }))

/** What ran, as `account n`, and whether two of an account ever ran at once. */
function ledger() {
  const ran: string[] = []
  const running = new Map<string | null, number>()
  let overlaps = 0
  return {
    ran,
    of: (account: string) => ran.filter((line) => line.startsWith(`${account} `)),
    overlaps: () => overlaps,
    async write({ account, n }: { account: string | null; n: number }, work: () => Promise<unknown> = async () => {}) {
      running.set(account, (running.get(account) ?? 0) + 1)
      if ((running.get(account) ?? 0) > 1) overlaps++
      await new Promise((resolve) => setImmediate(resolve))
      try {
        await work()
        ran.push(`${account} ${n}`)
      } finally {
        running.set(account, (running.get(account) ?? 0) - 1)
      }
    },
  }
}

const allDone = (t: Setup) => eventually(async () => (await t.sql('select from millrace.job')).length === 0, 30_000)

const statuses = async (t: Setup) =>
  (await t.sql<{ status: string }>('select status from millrace.job order by id')).map(({ status }) => status)

test('several workers run the jobs of a key one after another, and other keys beside them', async () => {
  await using t = await setup()
  const book = ledger()
  const handlers = [implement(entry, (given) => book.write(given))]
  const { millrace } = await t.working(handlers)
  await t.working(handlers)
  await t.working(handlers)
  await millrace.enqueueMany(
    entry,
    ['a', 'b', 'c'].flatMap((account) => of(account, 30)),
  )
  await allDone(t)
  for (const account of ['a', 'b', 'c'])
    expect(book.of(account)).toEqual(of(account, 30).map(({ n }) => `${account} ${n}`))
  expect(book.overlaps()).toBe(0)
})

test('a job without a key is not held by those with one', async () => {
  await using t = await setup()
  const book = ledger()
  const gate = signal()
  const { millrace } = await t.working([
    implement(entry, (given) => book.write(given, async () => given.account === 'a' && (await gate.promise))),
  ])
  await millrace.enqueueMany(entry, of('a', 2))
  const [free] = await millrace.enqueueMany(entry, of(null, 1))
  await jobEvent(millrace, 'job_completed', free?.id ?? '')
  expect(book.ran).toEqual(['null 0'])
  gate.resolve()
  await allDone(t)
})

test('one of a key waits for its claim, the others are blocked, and all are counted', async () => {
  await using t = await setup()
  const millrace = t.client([entry])
  await millrace.enqueueMany(entry, of('a', 3))
  expect(await statuses(t)).toEqual(['pending', 'blocked', 'blocked'])
  expect(await millrace.queues()).toEqual([
    { queue: 'ledger', due: 1, scheduled: 0, processing: 0, blocked: 2, pauses: [] },
  ])
  expect((await millrace.jobs({ status: 'blocked' })).length).toBe(2)
})

test('a head that waits for its retry keeps the others waiting', async () => {
  await using t = await setup()
  const book = ledger()
  const tries: number[] = []
  const { millrace } = await t.working([
    implement(entry, (given, ctx) =>
      book.write(given, async () => {
        tries.push(given.n)
        if (given.n === 0 && ctx.attempt === 1) throw new Error('not yet')
      }),
    ),
  ])
  await millrace.enqueueMany(entry, of('a', 3))
  await allDone(t)
  expect(tries).toEqual([0, 0, 1, 2])
  expect(book.ran).toEqual(['a 0', 'a 1', 'a 2'])
})

test('after a death the next one runs', async () => {
  await using t = await setup()
  const book = ledger()
  const { millrace } = await t.working([
    implement(entry, (given) =>
      book.write(given, async () => {
        if (given.n === 0) throw new Unrecoverable('never')
      }),
    ),
  ])
  await millrace.enqueueMany(entry, of('a', 2))
  await allDone(t)
  expect(book.ran).toEqual(['a 1'])
  expect(await millrace.keys.stopped()).toEqual([])
})

/** A worker whose jobs with n = 0 die as long as `isBroken`. */
async function stopping(t: Setup) {
  const book = ledger()
  const state = { isBroken: true }
  const { millrace } = await t.working([
    implement(strict, (given) =>
      book.write(given, async () => {
        if (given.n === 0 && state.isBroken) throw new Error('broken')
      }),
    ),
  ])
  const jobs = await millrace.enqueueMany(strict, of('a', 3))
  const [dead] = jobs
  await jobEvent(millrace, 'job_died', dead?.id ?? '')
  const other = await millrace.enqueue(strict, { account: 'b', n: 1 })
  await jobEvent(millrace, 'job_completed', other.id)
  expect(book.ran).toEqual(['b 1'])
  return { millrace, book, state, deadId: dead?.id ?? '' }
}

test('with onDead "stop" a death stops its key, and a person lets it go on', async () => {
  await using t = await setup()
  const { millrace, book, deadId } = await stopping(t)
  expect(await statuses(t)).toEqual(['blocked', 'blocked'])
  const letter = await millrace.deadLetters.ofJob(deadId)
  expect(await millrace.keys.stopped()).toEqual([
    {
      queue: 'ledger',
      tenant: null,
      key: 'a',
      jobId: deadId,
      stoppedAt: letter?.diedAt,
      deadLetterId: letter?.id,
      redrivenJobId: null,
      waiting: 2,
    },
  ])
  expect(await millrace.keys.continue({ queue: 'ledger', key: 'a' }, { by: 'rosa' })).toBe(true)
  await allDone(t)
  expect(book.ran).toEqual(['b 1', 'a 1', 'a 2'])
  expect(await millrace.keys.continue({ queue: 'ledger', key: 'a' }, { by: 'rosa' })).toBe(false)
  const audit = await t.sql('select actor as by, action, target, details from millrace.audit_log')
  expect(audit).toEqual([
    { by: 'rosa', action: 'key.continue', target: 'a', details: { queue: 'ledger', stoppedBy: deadId } },
  ])
})

test('the job that takes the place of the dead one runs first, and then the key goes on', async () => {
  await using t = await setup()
  const { millrace, book, state, deadId } = await stopping(t)
  state.isBroken = false
  await millrace.retry(deadId, { by: 'rosa' })
  await allDone(t)
  expect(book.ran).toEqual(['b 1', 'a 0', 'a 1', 'a 2'])
  expect(await millrace.keys.stopped()).toEqual([])
})

test('if that one dies too, the key stays stopped, now by its death', async () => {
  await using t = await setup()
  const { millrace, book, deadId } = await stopping(t)
  const retried = await millrace.retry(deadId, { by: 'rosa' })
  const jobId = retried.status === 'redriven' ? retried.jobId : ''
  await jobEvent(millrace, 'job_died', jobId)
  expect(await millrace.keys.stopped()).toMatchObject([{ key: 'a', jobId, redrivenJobId: null, waiting: 2 }])
  expect(book.ran).toEqual(['b 1'])
})

test.each(['resolve', 'ignore'] as const)('to %s the dead letter lets the key go on', async (decide) => {
  await using t = await setup()
  const { millrace, book, deadId } = await stopping(t)
  const letter = await millrace.deadLetters.ofJob(deadId)
  await millrace.deadLetters[decide](letter?.id ?? '', { by: 'rosa' })
  await allDone(t)
  expect(book.ran).toEqual(['b 1', 'a 1', 'a 2'])
})

test('a cancelled head makes room at once, and a cancelled follower is passed over', async () => {
  await using t = await setup()
  const millrace = t.client([entry])
  const [head, second, third] = await millrace.enqueueMany(entry, of('a', 3))
  expect(await millrace.cancel(second?.id ?? '', { by: 'ann' })).toBe('cancelled')
  expect(await millrace.cancel(head?.id ?? '', { by: 'ann' })).toBe('cancelled')
  expect((await millrace.job(third?.id ?? ''))?.status).toBe('pending')
})

test('a delayed head keeps the others waiting', async () => {
  await using t = await setup()
  const millrace = t.client([entry])
  const head = await millrace.enqueue(entry, { account: 'a', n: 0 }, { delay: '1h' })
  await millrace.enqueue(entry, { account: 'a', n: 1 })
  expect(await statuses(t)).toEqual(['pending', 'blocked'])
  expect(await millrace.runNow(head.id, { by: 'ann' })).toBe(true)
})

test('jobs that a transaction enqueues run in order once it has committed', async () => {
  await using t = await setup()
  const book = ledger()
  const { millrace } = await t.working([implement(entry, (given) => book.write(given))])
  const tx = await t.pool.connect()
  await tx.query('begin')
  for (const given of of('a', 3)) await millrace.enqueue(entry, given, { tx })
  expect(await statuses(t)).toEqual([])
  await tx.query('commit')
  tx.release()
  await allDone(t)
  expect(book.ran).toEqual(['a 0', 'a 1', 'a 2'])
})

test('a lower id that commits later waits for the one that was admitted before it', async () => {
  await using t = await setup()
  const millrace = t.client([entry])
  const tx = await t.pool.connect()
  await tx.query('begin')
  const late = await millrace.enqueue(entry, { account: 'a', n: 0 }, { tx })
  const early = await millrace.enqueue(entry, { account: 'a', n: 1 })
  await tx.query('commit')
  tx.release()
  expect(BigInt(late.id)).toBeLessThan(BigInt(early.id))
  await millrace.enqueue(entry, { account: 'a', n: 2 })
  expect(await statuses(t)).toEqual(['blocked', 'pending', 'blocked'])
  await millrace.cancel(early.id, { by: 'ann' })
  expect(await statuses(t)).toEqual(['pending', 'blocked'])
})

test('a list runs in the order given, whatever its dedup keys are', async () => {
  await using t = await setup()
  const both = defineJob({
    type: 'both',
    queue: queues.ledger,
    payload,
    order,
    dedupe: { key: ({ n }) => `${9 - n}` },
  })
  const millrace = t.client([both])
  await millrace.enqueueMany(both, of('a', 5))
  const rows = await t.sql<{ n: number }>(`select (payload->>'n')::int as n from millrace.job order by id`)
  expect(rows.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4])
})

test('tenants have keys of their own', async () => {
  await using t = await setup()
  const millrace = t.client([entry])
  for (const tenant of ['x', 'y', undefined])
    await millrace.enqueue(entry, { account: 'a', n: 0 }, tenant === undefined ? {} : { tenant })
  expect(await statuses(t)).toEqual(['pending', 'pending', 'pending'])
})

test('the key goes on when the process died between the settlement and the admission', async () => {
  await using t = await setup()
  const client = createMillrace({ database: t.url, jobs: [entry], logger: silent })
  await client.enqueueMany(entry, of('a', 2))
  await client.close()
  // What a process leaves behind that dies after its settlement.
  await t.sql(`delete from millrace.job where status = 'pending'`)
  const book = ledger()
  await t.working([implement(entry, (given) => book.write(given))], { lease: shortLease })
  await allDone(t)
  expect(book.ran).toEqual(['a 1'])
})
