// Payloads that somebody gives when a workflow is resumed are used, or the resume is refused: none is lost.
import { defineWorkflow, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { type Deeds, named, running, undone, work } from './running.ts'

const flow = defineWorkflow('flow', { onFailure: 'stop' })
  .each('many', work, { over: () => [0, 1, 2], payload: ({ item }) => ({ name: `job ${item}` }) })
  .step('last', work, { ...named('last'), after: 'many' })

/** Jobs of these names fail. */
const failing = (names: Set<string>): Deeds => ({
  done: [],
  work: ({ name }) => {
    if (names.has(name)) throw new Unrecoverable('broken')
    return { did: name }
  },
  undo: ({ name }) => {
    if (names.has(`undo ${name}`)) throw new Unrecoverable('broken')
  },
})

test.each([
  ['a step that begins later', { last: { name: 'x' } }, /"last", which does not begin yet/],
  ['a job that completed', { many: { 0: { name: 'x' } } }, /job "0" of step "many".* the indexes 1\./],
  ['a job that there is not', { many: { 3: { name: 'x' } } }, /job "3" of step "many"/],
  ['a step with many jobs as a whole', { many: { name: 'x' } }, /job "name" of step "many"/],
])('a payload for %s is refused, and nothing has begun', async (_, payloads, message) => {
  await using t = await running([flow], failing(new Set(['job 1'])))
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
  await expect(t.workflows.resume(id, { by: 'ann', payloads })).rejects.toThrow(message)
  expect(await t.workflows.get(id)).toMatchObject({ status: 'failed', steps: [{ status: 'failed', failed: 1 }, {}] })
  expect(await t.sql('select from millrace.audit_log')).toEqual([])
})

test('a payload for an undo whose turn has not come is refused', async () => {
  const both = defineWorkflow('both', { onFailure: 'stop' })
    .step('a', work, { ...named('a'), ...undone })
    .step('b', work, { ...named('b'), ...undone, after: 'a' })
    .step('c', work, { ...named('c'), after: 'b' })
  const names = new Set(['c', 'undo a', 'undo b'])
  await using t = await running([both], failing(names))
  const { id } = await t.workflows.start(both)
  await t.workflows.result(id)
  await t.workflows.rollBack(id, { by: 'ann' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'rollback failed' })
  const early = { by: 'ann', payloads: { a: { name: 'x' } } }
  await expect(t.workflows.resume(id, early)).rejects.toThrow(/"a", which does not begin yet/)
  names.delete('undo b')
  expect(await t.workflows.resume(id, { by: 'ann', payloads: { b: { name: 'b' } } })).toMatchObject({ status: 'done' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'rollback failed' })
  expect(await t.workflows.resume(id, early)).toMatchObject({ status: 'done' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back' })
})
