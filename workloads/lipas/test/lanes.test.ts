// The two lanes: slow work never takes the slots that are kept for fast work, and fast work uses the others while they are free.
import { expect, test } from 'vitest'
import { analysis, email, limits } from '#src/contracts'
import { eventually, signal } from '../../../packages/engine/test/support/setup.ts'
import { heldAnalyses } from './support/held-analyses.ts'
import { setup } from './support/lipas.ts'

test('with five analyses running and two hundred waiting, twenty e-mails are sent', async () => {
  await using t = await setup()
  const gate = signal()
  const worker = await t.work({ handlers: heldAnalyses(t, gate.promise), gracePeriod: '5s' })
  await t.millrace.enqueueMany(
    analysis,
    Array.from({ length: 205 }, (_, i) => ({ 'lipas-id': i + 1 })),
  )
  await eventually(async () => worker.running === 5)
  const mails = await t.millrace.enqueueMany(
    email,
    Array.from({ length: 20 }, (_, i) => ({ to: `user${i}@example.com` })),
  )
  for (const { id } of mails) expect(await t.millrace.result(id)).toMatchObject({ status: 'completed' })
  expect(worker.lanes).toMatchObject([
    { name: 'fast', slots: 3 },
    { name: 'general', slots: 5, running: 5 },
  ])
  expect(
    await t.sql(`select status, count(*)::int from millrace.jobs where type = 'analysis' group by 1 order by 1`),
  ).toEqual([
    { status: 'pending', count: 200 },
    { status: 'processing', count: 5 },
  ])
  gate.resolve()
})

test('while no slow job waits, e-mails use the general slots, too', async () => {
  await using t = await setup()
  await t.millrace.limits.set(limits.mail.name, { rate: '1000/second' }, { by: 'test' })
  t.sandbox.set('smtp', 'slow', { delayMs: 1_000 })
  const worker = await t.work()
  await t.millrace.enqueueMany(
    email,
    Array.from({ length: 12 }, () => ({ to: 'user@example.com' })),
  )
  await eventually(async () => worker.running === 8)
  expect(worker.lanes).toMatchObject([{ running: 3 }, { running: 5 }])
})
