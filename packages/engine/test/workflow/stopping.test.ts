// A workflow that stops while jobs of it run and wait.
import { defineJob, defineWorkflow, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, signal } from '../support/setup.ts'
import { type Deeds, named, queues, running, undone, work } from './running.ts'

/** Nobody has a handler for it: it waits. */
const idle = defineJob({ type: 'idle', queue: queues.steps, payload: z.object({ n: z.number() }) })

const flow = defineWorkflow('flow')
  .step('broken', work, named('broken'))
  .step('slow', work, { ...named('slow'), ...undone })
  .each('many', idle, { over: () => [1, 2, 3], payload: ({ item }) => ({ n: item }) })

/** `slow` runs until it may end, or is asked to stop; `broken` fails as soon as that runs. */
function deedsOf(mayEnd: Promise<unknown>): Deeds {
  const isSlow = signal()
  return {
    done: [],
    work: async ({ name }, ctx) => {
      if (name === 'slow') {
        isSlow.resolve()
        const stop = new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
        await Promise.race([mayEnd, stop])
        return { did: name }
      }
      await isSlow.promise
      throw new Unrecoverable('no luck')
    },
  }
}

test('when a workflow fails, its jobs that wait are cancelled, and what runs may finish', async () => {
  const mayEnd = signal()
  const deeds = deedsOf(mayEnd.promise)
  await using t = await running([flow], deeds)
  const { id } = await t.workflows.start(flow)
  await eventually(async () => (await t.workflows.get(id))?.steps[2]?.status === 'cancelled')
  const [jobId] = (await t.workflows.get(id))?.steps[1]?.jobIds ?? []
  expect(await t.millrace.explain(jobId as string)).toMatchObject({
    summary: expect.stringMatching(/^It is running/),
    workflow: {
      ...{ id, name: 'flow', step: 'slow' },
      sentence: `It is a job of step "slow" of workflow ${id}, "flow", which is stopping (step "broken" failed: unrecoverable: no luck).`,
    },
  })
  expect(await t.workflows.get(id)).toMatchObject({
    status: 'stopping',
    stopping: 'failed',
    steps: [{ name: 'broken' }, { name: 'slow', status: 'running', running: 1 }, { name: 'many', cancelled: 3 }],
  })
  const [archived] = await t.sql(`select reason from millrace.job_archive where type = 'idle' limit 1`)
  expect(archived).toEqual({ reason: 'step "broken" failed: unrecoverable: no luck' })
  mayEnd.resolve()
  expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back' })
  expect(deeds.done).toEqual(['slow', 'undo slow'])
})

test('a workflow that awaits what runs after a failure can be cancelled', async () => {
  const deeds = deedsOf(new Promise(() => {}))
  await using t = await running([flow], deeds)
  const { id } = await t.workflows.start(flow)
  await eventually(async () => (await t.workflows.get(id))?.status === 'stopping')
  expect(await t.workflows.cancel(id, { by: 'ann', reason: 'enough' })).toEqual({ status: 'done', as: 'stopping' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'cancelled', reason: 'enough' })
  expect(deeds.done).toEqual([])
})
