import { BulkNotFound, type BulkReport, defineJob, defineQueues, implement, type Millrace } from 'millrace'
import { jobInState } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Millrace as Client } from '#src/millrace'
import { eventually, setup } from '../support/setup.ts'

const queues = defineQueues({ mail: {}, reports: {} })
const payload = z.object({ n: z.number() })
const letter = defineJob({ type: 'letter', queue: queues.mail, payload })
const report = defineJob({ type: 'report', queue: queues.reports, payload })
const other = defineJob({ type: 'other', queue: queues.reports, payload })
const idle = defineJob({ type: 'idle', queue: queues.reports, payload })

/** A worker that runs nothing of what the tests enqueue. */
const working = (millrace: Millrace) => millrace.work({ handlers: [implement(idle, () => 1)] })
const ended = (millrace: Millrace, { id }: { id: string }): Promise<BulkReport> =>
  eventually(async () => {
    const operation = await millrace.bulk.get(id)
    return operation?.status !== 'running' && operation
  })
const waiting = async (millrace: Millrace, count: number, options = {}) =>
  (
    await millrace.enqueueMany(
      letter,
      Array.from({ length: count }, (_, n) => ({ n })),
      { delay: '1h', ...options },
    )
  ).map(({ id }) => id)

test('a preview says by queue and type what would change, is done already or would be refused, and why', async () => {
  await using t = await setup()
  const millrace = t.client([letter, report])
  await waiting(millrace, 2)
  for (const state of ['pending', 'completed', 'cancelled', 'dead', 'processing'] as const)
    await jobInState(millrace, state, { contract: report, payload: { n: 1 } })
  const query = 'type:letter,report'
  expect(await millrace.bulk.preview({ action: 'cancel', query })).toEqual({
    action: 'cancel',
    ...{ total: 7, isCapped: false, willChange: 4, already: 1, refused: 2 },
    groups: [
      { queue: 'mail', type: 'letter', willChange: 2, already: 0, refused: 0 },
      { queue: 'reports', type: 'report', willChange: 2, already: 1, refused: 2 },
    ],
    reasons: [
      { outcome: 'already', reason: 'it is cancelled already', count: 1 },
      { outcome: 'refused', reason: 'it is completed', count: 1 },
      { outcome: 'refused', reason: 'it is dead', count: 1 },
    ],
    noUndo: expect.stringContaining('cancelled jobs have ended'),
  })
  const counts = async (request: Parameters<Millrace['bulk']['preview']>[0]) => {
    const { willChange, already, refused } = await millrace.bulk.preview(request)
    return [willChange, already, refused]
  }
  expect(await counts({ action: 'retry', query })).toEqual([3, 2, 2])
  expect(await counts({ action: 'redrive', query })).toEqual([1, 0, 6])
  expect(await counts({ action: 'prioritise', priority: 5, query })).toEqual([0, 3, 4])
  expect(await counts({ action: 'prioritise', priority: 1, query })).toEqual([3, 0, 4])
  expect(await counts({ action: 'fail', reason: 'x', query })).toEqual([4, 0, 3])
  expect(await counts({ action: 'prune', query })).toEqual([3, 0, 4])
  expect(await counts({ action: 'resolve', query: 'status:dead payload.n:1' })).toEqual([1, 0, 0])
})

test('an operation changes the jobs that fitted when it began, tells how far it is, and is audited job by job', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const ids = await waiting(millrace, 5, { tenant: 'acme' })
  await working(millrace)
  const started = await millrace.bulk.start({ action: 'cancel', query: 'queue:mail' }, { by: 'ann', rate: 1_000 })
  expect(started).toMatchObject({ expected: 5, isCapped: false, createdBy: 'ann', query: 'queue:mail' })
  const done = await ended(millrace, started)
  expect(done).toMatchObject({ status: 'completed', changed: 5, already: 0, refused: 0, open: 0, waits: null })
  expect((await millrace.jobs({ status: 'cancelled' })).map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect(await millrace.audit.list({ action: 'job.cancel' })).toHaveLength(5)
  expect(await millrace.audit.list({ action: 'bulk.start' })).toMatchObject([{ by: 'ann', target: started.id }])
  const own = await eventually(async () => {
    const job = await millrace.job(started.jobId ?? '')
    return job?.status === 'completed' && job
  })
  expect(own).toMatchObject({ type: 'millrace.bulk', queue: 'millrace', createdBy: 'ann' })
})

test('a dry run looks at every job and changes none', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const ids = await waiting(millrace, 3)
  await working(millrace)
  const tried = await millrace.bulk.start({ action: 'cancel', ids: [...ids, '999999'] }, { by: 'ann', dryRun: true })
  const done = await ended(millrace, tried)
  expect(done).toMatchObject({ isDryRun: true, changed: 3, refused: 1, noUndo: expect.any(String) })
  expect(done.reasons).toEqual([{ outcome: 'refused', reason: 'it does not exist any more', count: 1 }])
  expect(await millrace.jobs({ status: 'cancelled' })).toEqual([])
})

test('a job that changes before its turn is judged by what it is then', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const [first = '', second = ''] = await waiting(millrace, 2)
  const started = await millrace.bulk.start({ action: 'prioritise', priority: 1, ids: [first, second] }, { by: 'ann' })
  expect(started).toMatchObject({ status: 'running', open: 2, waits: 'no worker runs system jobs: start one' })
  await millrace.cancel(first, { by: 'bob' })
  await working(millrace)
  expect(await ended(millrace, started)).toMatchObject({ changed: 1, refused: 1 })
  expect(await millrace.bulk.items(started.id)).toMatchObject([
    { jobId: first, outcome: 'refused', reason: 'it is cancelled' },
    { jobId: second, outcome: 'changed', before: 5 },
  ])
})

test('a change of priority is taken back where nobody has changed it since, and only once', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const [first = '', second = ''] = await waiting(millrace, 2)
  await working(millrace)
  const started = await millrace.bulk.start({ action: 'prioritise', priority: 1, query: 'type:letter' }, { by: 'ann' })
  expect(await ended(millrace, started)).toMatchObject({ changed: 2, noUndo: null })
  await millrace.prioritise(second, 9, { by: 'bob' })
  const undone = await ended(millrace, await millrace.bulk.undo(started.id, { by: 'ann' }))
  expect(undone).toMatchObject({ undoOf: started.id, changed: 1, refused: 1 })
  expect(undone.reasons).toEqual([{ outcome: 'refused', reason: 'its priority was changed since', count: 1 }])
  expect([(await millrace.job(first))?.priority, (await millrace.job(second))?.priority]).toEqual([5, 9])
  await expect(millrace.bulk.undo(started.id, { by: 'ann' })).rejects.toThrow(/takes it back/)
  await expect(millrace.bulk.undo('77', { by: 'ann' })).rejects.toThrow(BulkNotFound)
})

test('dead jobs are redriven, decided about and forgotten', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const dead = []
  for (const n of [1, 2, 3]) dead.push(await jobInState(millrace, 'dead', { contract: letter, payload: { n } }))
  await working(millrace)
  const run = async (request: Parameters<Millrace['bulk']['start']>[0]) =>
    ended(millrace, await millrace.bulk.start(request, { by: 'ann' }))
  const redriven = await run({ action: 'redrive', query: 'status:dead payload.n:1' })
  expect(redriven).toMatchObject({ changed: 1 })
  const [item] = await millrace.bulk.items(redriven.id)
  expect(await millrace.job(item?.newJobId ?? '')).toMatchObject({ payload: { n: 1 }, createdBy: 'ann' })
  expect(await run({ action: 'retry', ids: dead.map(({ id }) => id) })).toMatchObject({ changed: 2, already: 1 })
  expect(await run({ action: 'resolve', query: 'status:dead' })).toMatchObject({ changed: 3 })
  expect(await run({ action: 'prune', query: 'status:dead' })).toMatchObject({ changed: 3 })
  expect(
    await run({ action: 'fail', reason: 'by hand', final: true, query: 'type:letter status:pending' }),
  ).toMatchObject({
    changed: 3,
  })
})

test('dead jobs of a type that only another program knows are left to its workers', async () => {
  await using t = await setup()
  const theirs = t.client([other])
  await jobInState(theirs, 'dead', { contract: other, payload: { n: 1 } })
  const millrace = t.client([idle])
  await theirs.work({ handlers: [implement(other, () => 1)] })
  const mine = await working(millrace)
  const started = await millrace.bulk.start({ action: 'redrive', query: 'type:other' }, { by: 'ann' })
  await mine.stop()
  expect(await ended(millrace, started)).toMatchObject({ changed: 1, refused: 0 })
})

test('an operation stops when it is cancelled, or takes only so many jobs', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const ids = await waiting(millrace, 120)
  await working(millrace)
  const slow = await millrace.bulk.start(
    { action: 'prioritise', priority: 1, query: 'type:letter' },
    { by: 'ann', rate: 1 },
  )
  await eventually(async () => ((await millrace.bulk.get(slow.id))?.changed ?? 0) > 0)
  expect(await millrace.bulk.cancel(slow.id, { by: 'bob' })).toMatchObject({ status: 'cancelled', cancelledBy: 'bob' })
  const few = await millrace.bulk.start({ action: 'cancel', query: 'type:letter' }, { by: 'ann', limit: 5 })
  expect(few.expected).toBe(5)
  await eventually(async () => (await millrace.job(slow.jobId ?? ''))?.status === 'completed')
  expect(await ended(millrace, few)).toMatchObject({ changed: 5 })
  expect((await millrace.jobs({ status: 'cancelled' })).map(({ id }) => id)).toEqual(ids.slice(0, 5).reverse())
  expect((await millrace.bulk.list()).map(({ id }) => id)).toEqual([few.id, slow.id])
})

test('what cannot be meant is refused', async () => {
  await using t = await setup()
  const millrace = t.client([letter])
  await expect(millrace.bulk.preview({ action: 'cancel', query: ' ' })).rejects.toThrow(/every job would be concerned/)
  await expect(millrace.bulk.preview({ action: 'cancel', query: '', tenant: 'a' })).rejects.toThrow(/every job/)
  await expect(millrace.bulk.preview({ action: 'cancel', ids: [] })).rejects.toThrow(/expected 1 to 10000/)
  await expect(millrace.bulk.preview({ action: 'cancel', ids: ['x'] })).rejects.toThrow(/"x"/)
  await expect(millrace.bulk.preview({ action: 'burn' as never, query: 'id:1' })).rejects.toThrow(
    /expected one of retry/,
  )
  await expect(millrace.bulk.start({ action: 'cancel', query: 'id:1' }, { by: '' })).rejects.toThrow(/who decides/)
  await expect(millrace.bulk.cancel('5', { by: 'ann' })).rejects.toThrow(BulkNotFound)
})

test('a caller who may change one tenant changes no other', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const mine = await waiting(millrace, 1, { tenant: 'mine' })
  const yours = await waiting(millrace, 1, { tenant: 'yours' })
  await working(millrace)
  const request = { action: 'cancel', ids: [...mine, ...yours], tenant: 'mine' } as const
  expect(await millrace.bulk.preview(request)).toMatchObject({ total: 1, willChange: 1 })
  await ended(millrace, await millrace.bulk.start(request, { by: 'ann' }))
  expect((await millrace.jobs({ status: 'cancelled' })).map(({ id }) => id)).toEqual(mine)
})

test('reports are forgotten after 30 days', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  await waiting(millrace, 2)
  await working(millrace)
  const started = await millrace.bulk.start({ action: 'cancel', query: 'type:letter' }, { by: 'ann' })
  await ended(millrace, started)
  await t.sql(`update millrace.bulk_operation set finished_at = finished_at - interval '31 days'`)
  const housekeeper = new Housekeeper(Client.servicesOf(millrace))
  await housekeeper.tick()
  await housekeeper.tick()
  expect(await millrace.bulk.get(started.id)).toBeUndefined()
  expect(await t.sql('select * from millrace.bulk_item')).toEqual([])
})
