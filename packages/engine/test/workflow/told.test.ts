// Who ends a job without knowing its workflow tells the others, and nobody waits for a sweep.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { defineJob, defineWorkflow } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { attentive, setup } from '../support/setup.ts'
import { handlersOf, named, queues, statuses, undo, work } from './running.ts'

const block = defineJob({ type: 'block', queue: queues.steps, payload: z.object({}), timeout: '200ms' })

/** A client with a worker that hears what others say, and does not rescue what they run. */
async function listening(t: Awaited<ReturnType<typeof setup>>, flow: unknown) {
  const millrace = t.client([work, undo, block], { workflows: [flow as never] })
  const isHeard = millrace.events.next('listen_trusted')
  const worker = await millrace.work({ handlers: handlersOf({ done: [] }), lease: { ...attentive, sweep: '60s' } })
  await isHeard
  return { millrace, worker }
}

test('a workflow goes on at once when a process has ended its job that does not know it', async () => {
  const other = defineJob({ type: 'other', queue: queues.steps, payload: z.object({}) })
  const flow = defineWorkflow('flow')
    .step('a', other, { payload: () => ({}) })
    .step('b', work, { ...named('b'), after: { a: 'continue' } })
  await using t = await setup()
  const { millrace } = await listening(t, flow)
  const { id } = await millrace.workflows.start(flow)
  const [jobId] = (await millrace.workflows.get(id))?.steps[0]?.jobIds ?? []
  expect(await t.client([other]).cancel(jobId as string, { by: 'ann' })).toBe('cancelled')
  expect(await millrace.workflows.result(id, { timeout: '20s' })).toMatchObject({ status: 'completed' })
})

test('a workflow goes on when a run of it blocks its process for good', async () => {
  const flow = defineWorkflow('flow')
    .step('a', block, { payload: () => ({}) })
    .step('b', work, { ...named('b'), after: { a: 'continue' } })
  await using t = await setup()
  const { millrace } = await listening(t, flow)
  const { id } = await millrace.workflows.start(flow)
  const program = fileURLToPath(new URL('fixtures/blocked.js', import.meta.url))
  const child = spawn(process.execPath, [program], { env: { ...process.env, DATABASE: t.url }, stdio: 'ignore' })
  const hasEnded = once(child, 'exit')
  expect(await millrace.workflows.result(id, { timeout: '20s' })).toMatchObject({ status: 'completed' })
  expect(await statuses(millrace.workflows, id)).toEqual({ a: 'failed', b: 'completed' })
  expect((await millrace.workflows.get(id))?.steps[0]?.reason).toMatch(/^stuck: The run blocked/)
  expect(await hasEnded).toEqual([null, 'SIGKILL'])
})
