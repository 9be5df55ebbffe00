import { type BulkReport, defineJob, defineQueues, implement, type Millrace, Unrecoverable } from 'millrace'
import { jobInState } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { bulkBatch } from '#src/client/bulk-batch'
import { DeadLetters } from '#src/client/dead-letters'
import { Millrace as Client } from '#src/millrace'
import { eventually, setup } from '../support/setup.ts'

const queues = defineQueues({ mail: { concurrency: 20 }, slow: {} })
const letter = defineJob({
  type: 'letter',
  queue: queues.mail,
  payload: z.object({ n: z.number() }),
  retry: { attempts: 1 },
})
const idle = defineJob({ type: 'idle', queue: queues.slow, payload: z.object({}) })

type Setup = Awaited<ReturnType<typeof setup>>

/** Dead letters of these tenants, in this order; `n` counts them. */
async function dead(millrace: Millrace, tenants: readonly (string | undefined)[]): Promise<string[]> {
  const ids: string[] = []
  for (const [n, tenant] of tenants.entries()) {
    const options = tenant === undefined ? {} : { tenant }
    ids.push((await jobInState(millrace, 'dead', { contract: letter, payload: { n }, ...options })).id)
  }
  return ids
}

const ended = (millrace: Millrace, { id }: { id: string }): Promise<BulkReport> =>
  until(millrace, id, ({ status }) => status !== 'running')
const until = (millrace: Millrace, id: string, isSo: (report: BulkReport) => boolean): Promise<BulkReport> =>
  eventually(async () => {
    const operation = await millrace.bulk.get(id)
    return operation !== undefined && isSo(operation) && operation
  })
const redrive = (millrace: Millrace, options = {}) =>
  millrace.bulk.start({ action: 'redrive', query: 'type:letter' }, { by: 'ann', canary: 5, rate: 1_000, ...options })

/** Letters wait until `open` has said how they end. */
function held(t: Setup) {
  const waiting: { n: number; end(error?: Error): void }[] = []
  const handler = implement(
    letter,
    ({ n }) => new Promise<void>((resolve, reject) => waiting.push({ n, end: (e) => (e ? reject(e) : resolve()) })),
  )
  return { waiting, millrace: t.client([letter, idle]), handler }
}

test('five letters of different tenants go first, and the rest once they have completed', async () => {
  await using t = await setup()
  const { waiting, millrace, handler } = held(t)
  const tenants = [...Array(10).fill('noisy'), 'b', 'c', undefined, 'd', 'e', 'f']
  const ids = await dead(millrace, tenants)
  await millrace.work({ handlers: [handler] })
  const { id } = await redrive(millrace)
  await eventually(async () => waiting.length === 5)
  const seen = await until(millrace, id, ({ canary }) => canary?.stage === 'waiting')
  expect(seen).toMatchObject({ status: 'running', changed: 5, canary: { size: 5, stage: 'waiting' }, waits: null })
  expect(new Set(seen.canaries.map(({ tenant }) => tenant)).size).toBe(5)
  expect(seen.canaries.map(({ status }) => status)).toEqual(Array(5).fill('processing'))
  for (const each of waiting.splice(0, 4)) each.end()
  await until(millrace, id, ({ canaries }) => canaries.filter(({ status }) => status === 'completed').length === 4)
  expect((await millrace.bulk.get(id))?.changed).toBe(5)
  waiting.splice(0, 1)[0]?.end()
  const passed = await ended(millrace, { id })
  expect(passed).toMatchObject({ status: 'completed', changed: ids.length, canary: { stage: 'passed' }, open: 0 })
  await eventually(async () => waiting.length === ids.length - 5)
  for (const each of waiting) each.end()
  expect((await millrace.bulk.list())[0]).toMatchObject({ id, canary: { size: 5, stage: 'passed' } })
})

test('the first death of a canary stops the operation and says which one', async () => {
  await using t = await setup()
  const { waiting, millrace, handler } = held(t)
  await dead(millrace, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  await millrace.work({ handlers: [handler] })
  const { id } = await redrive(millrace)
  await eventually(async () => waiting.length === 5)
  const victim = waiting.splice(2, 1)[0]
  victim?.end(new Unrecoverable('mailbox is full'))
  const stopped = await ended(millrace, { id })
  const died = stopped.canaries.find(({ status }) => status === 'dead')
  expect(stopped).toMatchObject({
    ...{ status: 'stopped', changed: 5, finishedAt: expect.any(Date) },
    error: `Canary job ${died?.newJobId} of tenant ${died?.tenant} died: mailbox is full`,
  })
  for (const each of waiting.splice(0)) each.end()
  const own = await eventually(async () => {
    const job = await millrace.job(stopped.jobId ?? '')
    return job?.status === 'completed' && job
  })
  expect(own.lastError).toBeNull()
  expect(await millrace.jobs({ type: 'letter', status: 'dead', limit: 100 })).toHaveLength(8)
})

test('of fewer tenants more letters each are taken, of named jobs only those, and a refused one is replaced', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  const ids = await dead(millrace, ['a', 'a', 'b', 'a', 'a', 'b', 'a', 'a'])
  // One is redriven before, and one will be refused: what it carried is gone.
  const [first = '', second = '', ...rest] = ids
  await millrace.deadLetters.redrive([(await millrace.deadLetters.ofJob(first))?.id ?? ''], { by: 'bob' })
  await t.sql(
    `update millrace.dead_letter_jobs set original_job = jsonb_set(original_job, '{payload}', '{"n":"x"}') where job_id = $1`,
    [second],
  )
  await millrace.work({ handlers: [implement(letter, () => {})] })
  const named = [first, second, ...rest.slice(0, 5)]
  const { id } = await millrace.bulk.start({ action: 'redrive', ids: named }, { by: 'ann', canary: 4, limit: 7 })
  const done = await ended(millrace, { id })
  expect(done).toMatchObject({ status: 'completed', changed: 5, already: 1, refused: 1 })
  const chosen = done.canaries.filter(({ newJobId }) => newJobId !== null)
  expect(chosen).toHaveLength(4)
  expect(new Set(chosen.map(({ tenant }) => tenant))).toEqual(new Set(['a', 'b']))
  expect(named).toEqual(expect.arrayContaining(done.canaries.map(({ jobId }) => jobId)))
  expect(done.canaries.find(({ jobId }) => jobId === second)).toMatchObject({ outcome: 'refused', newJobId: null })
})

test('an operation with a limit changes no more than that, its canaries included', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  await dead(millrace, ['a', 'a', 'a', 'b', 'c', 'c', 'c'])
  await millrace.work({ handlers: [implement(letter, () => {})] })
  const done = await ended(millrace, await redrive(millrace, { canary: 3, limit: 5 }))
  expect(done).toMatchObject({ status: 'completed', changed: 5, expected: 5 })
})

test('a canary that is cancelled is no death, but if all of them are the operation stops', async () => {
  await using t = await setup()
  const { waiting, millrace, handler } = held(t)
  await dead(millrace, ['a', 'b', 'c'])
  await millrace.work({ handlers: [implement(idle, () => {})] })
  const { id } = await redrive(millrace, { canary: 2 })
  const { canaries } = await until(millrace, id, ({ canary }) => canary?.stage === 'waiting')
  for (const { newJobId } of canaries) await millrace.cancel(newJobId ?? '', { by: 'bob' })
  expect(await ended(millrace, { id })).toMatchObject({
    status: 'stopped',
    error: expect.stringContaining('cancelled'),
  })
  expect([waiting.length, handler.contract.type]).toEqual([0, 'letter'])
})

test('somebody who does not want to wait for the canary goes on, at another rate', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  await dead(millrace, ['a', 'b', 'c', 'd'])
  await millrace.work({ handlers: [implement(idle, () => {})] })
  const { id } = await redrive(millrace, { canary: 2 })
  await until(millrace, id, ({ canary }) => canary?.stage === 'waiting')
  const skipped = await millrace.bulk.proceed(id, { by: 'bob', rate: 50 })
  expect(skipped).toMatchObject({ canary: { stage: 'skipped' }, rate: 50 })
  expect(await ended(millrace, { id })).toMatchObject({ status: 'completed', changed: 4 })
  await millrace.bulk.proceed(id, { by: 'bob' })
  expect(await millrace.audit.list({ action: 'bulk.proceed' })).toMatchObject([
    { by: 'bob', target: id, details: { rate: 50 } },
  ])
})

test('a run that died after redriving canaries goes on with them, and redrives none of them twice', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  await dead(millrace, ['a', 'b', 'c', 'd', 'e', 'f'])
  const { id } = await redrive(millrace, { canary: 3 })
  const services = Client.servicesOf(millrace)
  const work = { ...services, deadLetters: new DeadLetters(services) } as never
  // Canaries are chosen, redriven, and the process dies before it writes that down.
  while ((await t.sql('select * from millrace.bulk_canary')).length < 3) await bulkBatch(work, id, { limit: 100 })
  const letters = await t.sql<{ id: string }>(
    'select id from millrace.dead_letter_jobs where job_id in (select job_id from millrace.bulk_canary)',
  )
  await millrace.deadLetters.redrive(
    letters.map((each) => `${each.id}`),
    { by: 'ann' },
  )
  await millrace.work({ handlers: [implement(letter, () => {})] })
  const done = await ended(millrace, { id })
  expect(done).toMatchObject({ status: 'completed', changed: 3, already: 3, canary: { stage: 'passed' } })
  expect(done.canaries.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
  expect(await millrace.jobs({ type: 'letter', status: 'completed' })).toHaveLength(6)
})

test('a cancelled operation leaves its canaries to run, and redrives no more', async () => {
  await using t = await setup()
  const millrace = t.client([letter, idle])
  await dead(millrace, ['a', 'b', 'c'])
  await millrace.work({ handlers: [implement(idle, () => {})] })
  const { id } = await redrive(millrace, { canary: 2 })
  await until(millrace, id, ({ canary }) => canary?.stage === 'waiting')
  expect(await millrace.bulk.cancel(id, { by: 'bob' })).toMatchObject({ status: 'cancelled', changed: 2 })
  expect(await millrace.jobs({ type: 'letter', status: 'pending' })).toHaveLength(2)
})

test('a canary that cannot be meant is refused', async () => {
  await using t = await setup()
  const millrace = t.client([letter])
  await expect(redrive(millrace, { canary: 21 })).rejects.toThrow(/20 jobs are the most/)
  await expect(redrive(millrace, { canary: 0 })).rejects.toThrow(/canary/)
  await expect(redrive(millrace, { dryRun: true })).rejects.toThrow(/dry run/)
  await expect(
    millrace.bulk.start({ action: 'cancel', query: 'type:letter' }, { by: 'ann', canary: 5 }),
  ).rejects.toThrow(/does not belong to cancel/)
  await jobInState(millrace, 'dead', { contract: letter, payload: { n: 1 } })
  const { id } = await millrace.bulk.start({ action: 'redrive', query: 'type:letter' }, { by: 'ann' })
  await expect(millrace.bulk.proceed(id, { by: 'ann' })).rejects.toThrow(/no canary/)
})
