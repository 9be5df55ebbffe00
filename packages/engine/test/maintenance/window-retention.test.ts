import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { hands } from '../support/hands.ts'

const { default: queue } = defineQueues({ default: {} })
const payload = z.object({ key: z.string() })
const task = defineJob({
  type: 'task',
  queue,
  payload,
  dedupe: { key: (given) => given.key, mode: 'window', window: '1h' },
})

test('windows that are over are forgotten in batches, the others stay', async () => {
  await using t = await hands([task])
  await t.millrace.enqueueMany(
    task,
    Array.from({ length: 5_005 }, (_, i) => ({ key: `${i}` })),
  )
  t.clock.advance('59m')
  await t.millrace.enqueue(task, { key: 'young' })
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([task]) })
  expect(await housekeeper.tick()).toMatchObject({ windowsForgotten: 0 })
  t.clock.advance('1m')
  const first = await housekeeper.tick()
  expect([first.windowsForgotten, housekeeper.delayAfter(first)]).toEqual([5_000, 0])
  const second = await housekeeper.tick()
  expect([second.windowsForgotten, housekeeper.delayAfter(second)]).toEqual([5, 3_600_000])
  expect(await t.sql('select dedup_key from millrace.dedup_window')).toEqual([{ dedup_key: 'young' }])
})
