import { type BulkReport, defineJob, defineQueues, implement, type Millrace } from 'millrace'
import { jobInState } from 'millrace/testing'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { examplesOf } from '../../packages/engine/test/support/guide.ts'
import { eventually, setup } from '../../packages/engine/test/support/setup.ts'

const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload: z.object({}) })
const idle = defineJob({ type: 'idle', queue: queues.mail, payload: z.object({}) })

test('the example passes the type checker and retries what timed out', async () => {
  await using t = await setup()
  await using examples = await examplesOf('bulk-operations.md')
  expect(await examples.complaints()).toBe('')
  const { retryTimeouts } = await examples.load<{
    retryTimeouts(millrace: Millrace, by: string): Promise<BulkReport | undefined>
  }>('bulk.ts')
  const millrace = t.client([send, idle])
  const log = vi.spyOn(console, 'log').mockReturnValue()
  expect(await retryTimeouts(millrace, 'ann')).toBeUndefined()
  await jobInState(millrace, 'dead', { contract: send, payload: {} })
  const { id } = await jobInState(millrace, 'dead', { contract: send, payload: {} })
  await t.sql(`update millrace.job_archive set last_error = 'read timeout'`)
  await millrace.deadLetters.resolve((await millrace.deadLetters.ofJob(id))?.id ?? '', { by: 'ann' })
  await millrace.work({ handlers: [implement(idle, () => 1)] })
  const started = await retryTimeouts(millrace, 'ann')
  expect(log).toHaveBeenCalledWith('1 will not be tried again: its letter is resolved')
  const done = await eventually(async () => {
    const operation = await millrace.bulk.get(started?.id ?? '')
    return operation?.status === 'completed' && operation
  })
  expect(done).toMatchObject({ changed: 1, refused: 1, limit: 5 })
})
