// When the jobs of a workflow's steps ran.
import { defineWorkflow } from 'millrace'
import { expect, test } from 'vitest'
import { type Deeds, named, running, work } from './running.ts'

test('times says of each step when its jobs ran, how long, and what became of each', async () => {
  const inner = defineWorkflow('inner').step('i', work, named('i'))
  const flow = defineWorkflow('flow')
    .each('many', work, { over: () => ['x', 'y', 'z'], payload: ({ item }) => ({ name: item }) })
    .workflow('part', inner, { after: 'many' })
    .step('last', work, { ...named('last'), after: 'part' })
  const deeds: Deeds = { done: [] }
  await using t = await running([inner, flow], deeds)
  const { id } = await t.workflows.start(flow)
  await t.workflows.result(id)
  const [many, part, last] = await t.workflows.times(id)
  expect(many).toMatchObject({
    name: 'many',
    kind: 'do',
    type: 'work',
    queue: 'steps',
    jobs: 3,
    retried: 0,
    states: 'ccc',
  })
  expect(many?.spread.reduce((sum, runs) => sum + runs, 0)).toBe(3)
  expect(many?.maxMs).toBeGreaterThanOrEqual(many?.p50Ms ?? Number.NaN)
  expect(part).toMatchObject({ name: 'part', type: 'inner', queue: null, spread: [], states: '' })
  expect(last?.startedAt?.getTime()).toBeGreaterThanOrEqual(many?.endedAt?.getTime() ?? Number.NaN)
  expect(await t.workflows.times('999')).toEqual([])
  expect(await t.workflows.times('x')).toEqual([])
})
