import { defineWorkflow, Unrecoverable } from 'millrace'
import { drain } from 'millrace/testing'
import { expect, test } from 'vitest'
import { setup } from '../support/setup.ts'
import { type Deeds, handlersOf, named, undo, undone, work } from '../workflow/running.ts'

test('drain runs workflows to their end, with what is undone', async () => {
  const flow = defineWorkflow('flow')
    .step('a', work, { ...named('a'), ...undone })
    .each('b', work, { after: 'a', over: () => [1, 2], payload: ({ item }) => ({ name: `b${item}` }) })
    .step('c', work, { ...named('c'), after: 'b' })
  const deeds: Deeds = {
    done: [],
    work: ({ name }) => {
      if (name === 'c') throw new Unrecoverable('no')
      return { did: name }
    },
  }
  await using t = await setup()
  const millrace = t.client([work, undo], { workflows: [flow] })
  const { id } = await millrace.workflows.start(flow)
  const runs = await drain(millrace, handlersOf(deeds))
  expect(runs).toHaveLength(5)
  expect(deeds.done).toEqual(['a', 'b1', 'b2', 'undo a'])
  expect(await millrace.workflows.get(id)).toMatchObject({ status: 'rolled back' })
})
