import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

const task = defineJob({ type: 'task', queue: defineQueues({ work: {} }).work, payload: z.object({}) })

interface Manager {
  onWorkerExit(workerId: string, signal: string | null): Promise<void>
}

test('a process manager ends the lease of a worker that it saw die', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/operating-a-worker.md')
  const { onWorkerExit } = await guide.load<Manager>('end-worker.ts')
  const { worker } = await t.working([implement(task, async () => {})])
  vi.stubEnv('DATABASE_URL', t.url)
  await onWorkerExit(worker.id, 'SIGKILL')
  vi.unstubAllEnvs()
  const reasons = await t.sql('select ended_reason from millrace.worker where ended_at is not null')
  expect(reasons).toEqual([{ ended_reason: 'its process died: SIGKILL' }])
})
