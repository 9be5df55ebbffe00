// A handler that ignores its signal is dead at twice its timeout, whatever it returns afterwards.
import { expect, test } from 'vitest'
import { ignoreSignal } from '#src/contracts/monitoring'
import { sandboxHandlers } from '#src/sandbox/ignore-signal'
import { LARGE, setup } from '../support/dartwing.ts'

test('it is a dead letter for being stuck, its slot is reported leaked, and its late result is dropped', async () => {
  await using t = await setup({ handlers: () => sandboxHandlers({}) })
  const leaked = new Promise((resolve) => t.millrace.events.on('slot_leaked', ({ job }) => resolve(job.id)))
  const recovered = new Promise((resolve) => t.millrace.events.on('slot_recovered', ({ job }) => resolve(job.id)))
  await t.work({ timeouts: { [ignoreSignal.type]: '300ms' }, lease: { heartbeat: '200ms', ttl: '5s', sweep: '200ms' } })
  const { id } = await t.millrace.enqueue(ignoreSignal, { organization: LARGE, seconds: 4 })
  expect(await leaked).toBe(id)
  await expect.poll(() => t.millrace.deadLetters.list()).toMatchObject([{ jobId: id, reason: 'stuck', tenant: LARGE }])
  expect(await recovered, 'the handler has returned').toBe(id)
  expect((await t.millrace.job(id))?.status).toBe('dead')
})
