import {
  createMillrace,
  defineJob,
  defineQueues,
  type Implementation,
  implement,
  type JobContract,
  type LaneOptions,
  type Millrace,
  type Worker,
} from 'millrace'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { setup, silent } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Program {
  startWorker(database: string, handlers: Implementation[]): Promise<{ millrace: Millrace; worker: Worker }>
}

test('the worker of the guide has two lanes, and its variables change them', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/lanes.md')
  const { email, analysis } = await guide.load<Record<'email' | 'analysis', JobContract>>('contracts.ts')
  const { startWorker } = await guide.load<Program>('worker.ts')
  const handlers = [implement(email, async () => {}), implement(analysis, async () => {})]
  vi.stubEnv('WORKER_GENERAL_THREADS', '7')
  const { millrace, worker } = await startWorker(t.url, handlers)
  vi.unstubAllEnvs()
  expect(worker.lanes).toMatchObject([
    { name: 'fast', slots: 3, queues: ['work'] },
    { name: 'general', slots: 7, queues: ['work'] },
  ])
  await millrace.close()
})

test('the lane with shares serves all its queues', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/lanes.md')
  const { lanes } = await guide.load<{ lanes: Record<string, LaneOptions> }>('weights.ts')
  const queues = Object.values(defineQueues({ critical: {}, normal: {}, bulk: {} }))
  const jobs = queues.map((queue) => defineJob({ type: queue.name, queue, payload: z.object({}) }))
  await using millrace = createMillrace({ database: t.url, jobs, logger: silent })
  const worker = await millrace.work({ handlers: jobs.map((job) => implement(job, async () => {})), lanes })
  expect(worker.lanes).toMatchObject([{ name: 'all', slots: 10, queues: ['critical', 'normal', 'bulk'] }])
})
