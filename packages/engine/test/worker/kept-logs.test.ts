import { defineJob, defineQueues, implement, type JobContract } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ kept: { logs: 'keep' }, plain: {} })
const payload = z.looseObject({})
const byQueue = defineJob({ type: 'by-queue', queue: queues.kept, payload })
const byType = defineJob({ type: 'by-type', queue: queues.plain, payload, logs: 'keep' })
const refusing = defineJob({ type: 'refusing', queue: queues.kept, payload, logs: 'off' })
const plain = defineJob({ type: 'plain', queue: queues.plain, payload })
const inTransaction = defineJob({ type: 'in-transaction', queue: queues.kept, payload })
const isolated = defineJob({ type: 'isolated', queue: queues.kept, payload })
const module = new URL('./fixtures/deeds.js', import.meta.url)

test('the last log lines of runs that succeed are kept by queue or type, and erased with the job', async () => {
  await using t = await setup()
  const says = (contract: JobContract) =>
    implement(contract, (_, { log }) => {
      for (let i = 1; i <= 60; i++) log.info({ i }, `line ${i}`)
    })
  const { millrace } = await t.working([
    ...[byQueue, byType, refusing, plain].map(says),
    implement(inTransaction, (_, ctx) => ctx.transaction(async () => ctx.log.warn({}, 'inside'))),
    implement(isolated, { isolation: 'process', module }),
  ])
  const ended = async (contract: JobContract) => {
    const { id } = await millrace.enqueue(contract, { does: 'say' } as never)
    await millrace.result(id)
    return (await millrace.job(id)) as { id: string; logs: object[] | null }
  }
  const kept = await ended(byQueue)
  expect(kept.logs).toHaveLength(50)
  expect(kept.logs?.at(-1)).toMatchObject({ level: 'info', msg: 'line 60' })
  expect((await ended(byType)).logs).toHaveLength(50)
  expect((await ended(refusing)).logs).toBeNull()
  expect((await ended(plain)).logs).toBeNull()
  expect((await ended(inTransaction)).logs).toMatchObject([{ level: 'warn', msg: 'inside' }])
  expect((await ended(isolated)).logs?.length).toBeGreaterThan(0)
  await millrace.erase({ ids: [kept.id], by: 'test', reason: 'asked' })
  expect(await millrace.job(kept.id)).toMatchObject({ logs: null })
})

test('logs that cannot be kept are refused', () => {
  const declare = (more: object) => () => defineJob({ type: 'odd', queue: queues.plain, payload, ...more })
  expect(declare({ logs: 'all' })).toThrow(`has logs "all": expected 'keep' or 'off'`)
  expect(declare({ logs: 'keep', retention: 'none' })).toThrow(`keeps its logs and has retention 'none'`)
})
