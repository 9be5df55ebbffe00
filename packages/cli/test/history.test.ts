import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from './support/setup.ts'

const job = defineJob({ type: 'ship', queue: defineQueues({ default: {} }).default, payload: z.object({}) })

test('history is switched on, tells what happened to a job, and is switched off; job shows the steps', async () => {
  await using t = await setup({ jobs: [job] })
  const { millrace, run } = t
  expect((await run('history', 'settings')).out).toBe('No type has a history.\n')
  const { id: before } = await millrace.enqueue(job, {})
  expect((await run('history', before)).out).toMatch(/has no history: .*`millrace history on ship`/)
  expect((await run('history', 'on', 'ship', '--by', 'rosa')).out).toMatch(/^Every transition of ship is kept/)
  expect((await run('history', 'settings')).out).toMatch(/^ship +full +rosa +\w/m)
  const { id } = await millrace.enqueue(job, {}, { createdBy: 'web' })
  await millrace.work({ handlers: [implement(job, (_, ctx) => ctx.step('charge', () => 1))] })
  await millrace.result(id)
  const { out } = await run('history', id)
  expect(out).toMatch(/^AT +EVENT +STATUS +ATTEMPT +BY$/m)
  expect(out).toMatch(/Z +enqueued +pending +0 +web/)
  expect(out).toMatch(/Z +completed +processing → completed +1 +worker [\w-]{36}/)
  expect(JSON.parse((await run('history', id, '--json')).out)).toMatchObject([
    { event: 'enqueued' },
    { event: 'claimed', fromStatus: 'pending', toStatus: 'processing' },
    { event: 'completed' },
  ])
  expect((await run('job', id)).out).toMatch(/^STEP +FINISHED +TOOK\ncharge +\w.* +[\d.]+ s$/m)
  expect(JSON.parse((await run('job', id, '--json')).out)).toMatchObject({ steps: [{ name: 'charge' }] })
  const off = await run('history', 'off', 'ship', '--by', 'rosa', '--json')
  expect(JSON.parse(off.out)).toEqual({ type: 'ship', history: 'off' })
  expect(await run('history', 'nonsense')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/not the id of a job/),
  })
  expect(await run('history', '999999')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/There is no job 999999/),
  })
})
