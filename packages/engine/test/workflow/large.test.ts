// Workflows of many jobs, or with much to hand on.
import { defineBatch, defineWorkflow, type WorkflowDefinition } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../support/setup.ts'
import { named, running, work } from './running.ts'

test('a batch is started with the payloads of ten thousand jobs', async () => {
  const batch = defineBatch('batch', { each: work })
  await using t = await setup()
  const millrace = t.client([], { workflows: [batch] })
  const payloads = Array.from({ length: 10_000 }, (_, i) => ({ name: `a job with a name of some length, number ${i}` }))
  const { id } = await millrace.workflows.start(batch, payloads)
  expect((await millrace.workflows.get(id))?.steps).toMatchObject([{ jobs: 10_000, running: 10_000 }])
})

test('a step gets the results of all steps before it, however many there are', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `s${i}`)
  let flow = defineWorkflow('wide') as never as {
    step(name: string, contract: typeof work, options: object): typeof flow
  }
  for (const name of names) flow = flow.step(name, work, named(name))
  const last = {
    after: names,
    payload: ({ results }: { results: Record<string, { did: string }> }) => ({
      name: names.map((name) => results[name]?.did).join(),
    }),
  }
  flow = flow.step('last', work, last)
  const wide = flow as never as WorkflowDefinition<undefined, false>
  await using t = await running([wide], { done: [] })
  const { id } = await t.workflows.start(wide)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed', results: { last: { did: names.join() } } })
})
