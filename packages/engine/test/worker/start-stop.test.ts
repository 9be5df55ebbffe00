import { readFileSync } from 'node:fs'
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { VERSION } from '#src/version'
import { eventually, setup, shortLease } from '../support/setup.ts'

const task = defineJob({
  type: 'task',
  queue: defineQueues({ default: {} }).default,
  payload: z.object({ n: z.number() }),
})

test('workers started and stopped under load lose nothing and leave nothing behind', async () => {
  await using t = await setup()
  const counts = new Map<number, number>()
  const handlers = [implement(task, ({ n }) => void counts.set(n, (counts.get(n) ?? 0) + 1))]
  const millrace = t.client([task])
  for (let round = 0; round < 6; round++) {
    const ran = millrace.events.next('job_completed')
    await millrace.enqueueMany(
      task,
      Array.from({ length: 500 }, (_, n) => ({ n: round * 500 + n })),
    )
    const workers = await Promise.all(
      [1, 2].map(() => millrace.work({ handlers, lease: shortLease, gracePeriod: '2s' })),
    )
    await ran
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(await t.sql(`select from millrace.job where status = 'processing'`)).toEqual([])
  }
  await millrace.work({ handlers, lease: shortLease })
  await eventually(async () => (await t.sql('select from millrace.job limit 1')).length === 0)
  expect(counts.size).toBe(3_000)
  expect([...counts.values()].every((count) => count === 1)).toBe(true)
  expect(await t.sql('select distinct attempt from millrace.job_archive')).toEqual([{ attempt: 1 }])
  expect(await t.sql('select count(*)::int from millrace.worker where ended_at is null')).toEqual([{ count: 1 }])
})

test('the version that workers register is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(VERSION).toBe(version)
})

test('an isolation level on which the guarantees do not hold is refused', async () => {
  await using t = await setup()
  const [row] = await t.sql<{ name: string }>('select current_database() as name')
  await t.sql(`alter database ${row?.name} set default_transaction_isolation = 'repeatable read'`)
  const starting = t.client([task]).work({ handlers: [implement(task, () => {})] })
  await expect(starting).rejects.toThrow(/"repeatable read".*needs "read committed"/)
})
