// Workflows that are resumed while they roll back.
import { defineWorkflow, Unrecoverable } from 'millrace'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/setup.ts'
import { type Deeds, named, running, statuses, undo, undone, work } from './running.ts'

const flow = defineWorkflow('flow')
  .step('a', work, { ...named('a'), ...undone })
  .step('b', work, { ...named('b'), ...undone, after: 'a' })
  .step('c', work, { ...named('c'), ...undone, after: 'b' })
  .step('d', work, { ...named('d'), after: 'c' })

/** A gate that undos wait at, and steps that fail until they are mended. */
function scene() {
  const held = new Map<string, () => void>()
  const broken = new Set(['d'])
  const unfixable = new Set<string>()
  const deeds: Deeds = {
    done: [],
    work: ({ name }) => {
      if (broken.has(name)) throw new Unrecoverable('broken')
      return { did: name }
    },
    undo: async ({ name }) => {
      await new Promise<void>((resolve) => held.set(name, resolve))
      held.delete(name)
      if (unfixable.has(name)) throw new Unrecoverable('it is gone')
    },
  }
  const undoing = (name: string) => eventually(async () => held.has(name))
  return { held, broken, unfixable, deeds, undoing, release: (name: string) => held.get(name)?.() }
}

/** It rolls back, and the undo of its last completed step is under way. */
async function rollingBack() {
  const { held, broken, unfixable, deeds, undoing, release } = scene()
  const t = await running([flow], deeds)
  const { id } = await t.workflows.start(flow)
  await undoing('c')
  broken.clear()
  return { ...t, id, held, broken, unfixable, deeds, undoing, release, workflows: t.millrace.workflows }
}

const by = { by: 'ann' }

describe('a workflow that is resumed while it rolls back', () => {
  test('lets the undo under way finish, keeps what was not undone, and does the rest anew', async () => {
    await using t = await rollingBack()
    t.release('c')
    await t.undoing('b')
    expect(await t.workflows.resume(t.id, by)).toEqual({ status: 'done', as: 'rolling back' })
    const waiting = await t.workflows.get(t.id)
    expect(waiting).toMatchObject({ status: 'rolling back', resumes: true, finishedAt: null })
    expect(waiting?.steps.map(({ undo: each, completedAs }) => [each, completedAs])).toEqual([
      ['none', 1],
      ['running', 2],
      ['done', 3],
      ['none', null],
    ])
    t.release('b')
    expect(await t.workflows.result(t.id)).toMatchObject({ status: 'completed', reason: null })
    expect(t.deeds.done).toEqual(['a', 'b', 'c', 'undo c', 'undo b', 'b', 'c', 'd'])
    const ended = await t.workflows.get(t.id)
    expect(ended).toMatchObject({ resumes: false, stopping: null })
    expect(ended?.steps.every(({ undo: each, jobs, completed }) => each === 'none' && jobs === completed)).toBe(true)
    expect(await t.millrace.audit.list({ action: 'workflow.resume' })).toMatchObject([{ by: 'ann', target: t.id }])
  })

  test('is resumed once, takes no payload, and is told of when it is over', async () => {
    await using t = await rollingBack()
    const payloads = { d: { name: 'd' } }
    await expect(t.workflows.resume(t.id, { ...by, payloads })).rejects.toThrow(/a payload cannot be given before/)
    const other = t.client([work, undo], { workflows: [flow] })
    const answers = await Promise.all([t.millrace, other].map((each) => each.workflows.resume(t.id, by)))
    expect(answers.map(({ status }) => status).sort()).toEqual(['done', 'refused'])
    expect(answers.find(({ status }) => status === 'refused')).toMatchObject({
      as: 'rolling back',
      message: expect.stringContaining('was resumed before'),
    })
    t.release('c')
    expect(await t.workflows.result(t.id)).toMatchObject({ status: 'completed' })
    expect(await t.workflows.resume(t.id, by)).toMatchObject({ status: 'refused', as: 'completed' })
  })

  test('rolls back after all if somebody cancels it before the undo has ended', async () => {
    await using t = await rollingBack()
    await t.workflows.resume(t.id, by)
    expect(await t.workflows.cancel(t.id, { by: 'bob' })).toEqual({ status: 'done', as: 'rolling back' })
    expect(await t.workflows.get(t.id)).toMatchObject({ resumes: false, stopping: 'cancelled' })
    for (const name of ['c', 'b', 'a']) {
      await t.undoing(name)
      t.release(name)
    }
    expect(await t.workflows.result(t.id)).toMatchObject({ status: 'rolled back' })
    expect(await t.workflows.resume(t.id, by)).toMatchObject({ status: 'refused', as: 'rolled back' })
  })

  test('keeps a step whose undo failed, and can roll back again, undoing it then', async () => {
    await using t = await rollingBack()
    t.unfixable.add('c')
    await t.workflows.resume(t.id, by)
    t.broken.add('d')
    t.release('c')
    await eventually(async () => t.deeds.done.length === 3 && (await t.workflows.get(t.id))?.resumes === false)
    t.unfixable.clear()
    for (const name of ['c', 'b', 'a']) {
      await t.undoing(name)
      t.release(name)
    }
    expect(await t.workflows.result(t.id)).toMatchObject({ status: 'rolled back' })
    expect(t.deeds.done).toEqual(['a', 'b', 'c', 'undo c', 'undo b', 'undo a'])
  })

  test('is rolled back or completed, and nothing is done twice, if the undo ends at the same moment', async () => {
    for (let round = 0; round < 3; round++) {
      await using t = await rollingBack()
      const other = t.client([work, undo], { workflows: [flow] })
      for (const name of ['c', 'b']) {
        t.release(name)
        await t.undoing(name === 'c' ? 'b' : 'a')
      }
      t.release('a')
      await new Promise((resolve) => setTimeout(resolve, round * 4))
      const { status } = await other.workflows.resume(t.id, by)
      const ended = await t.workflows.result(t.id)
      const forward = ['a', 'b', 'c']
      const back = ['undo c', 'undo b', 'undo a']
      expect(ended.status).toBe(status === 'done' ? 'completed' : 'rolled back')
      expect(t.deeds.done).toEqual([...forward, ...back, ...(status === 'done' ? [...forward, 'd'] : [])])
    }
  })
})

test('of a step with many jobs those that were undone are done anew, and those whose undo failed are kept', async () => {
  const { deeds, broken, unfixable, undoing, release } = scene()
  const many = defineWorkflow('many')
    .each('all', work, { ...undone, over: () => ['x', 'y', 'z'], payload: ({ item }) => ({ name: item }) })
    .step('d', work, { ...named('d'), after: 'all' })
  await using t = await running([many], deeds)
  const { id } = await t.workflows.start(many)
  unfixable.add('y')
  for (const name of ['x', 'y', 'z']) await undoing(name)
  await t.workflows.resume(id, by)
  broken.clear()
  for (const name of ['x', 'y', 'z']) release(name)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(deeds.done.slice(0, 3).sort()).toEqual(['x', 'y', 'z'])
  expect(deeds.done.slice(3, 5).sort()).toEqual(['undo x', 'undo z'])
  expect(deeds.done.slice(5, 7).sort()).toEqual(['x', 'z'])
  expect(deeds.done.slice(7)).toEqual(['d'])
  expect((await t.workflows.get(id))?.steps[0]).toMatchObject({ jobs: 3, completed: 3, cancelled: 0, undo: 'none' })
})

test('a step that is a workflow is undone to its end, and a new one takes its place', async () => {
  const { deeds, broken, undoing, release } = scene()
  const inner = defineWorkflow('inner').step('i', work, { ...named('i'), ...undone })
  const outer = defineWorkflow('outer')
    .workflow('part', inner)
    .step('d', work, { ...named('d'), after: 'part' })
  await using t = await running([inner, outer], deeds)
  const { id } = await t.workflows.start(outer)
  await undoing('i')
  const before = (await t.workflows.get(id))?.steps[0]?.childId ?? ''
  expect(await t.workflows.resume(before, by)).toMatchObject({
    status: 'refused',
    message: expect.stringContaining(`step of workflow ${id}`),
  })
  expect(await t.workflows.resume(id, by)).toMatchObject({ as: 'rolling back' })
  broken.clear()
  release('i')
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(deeds.done).toEqual(['i', 'undo i', 'i', 'd'])
  expect((await t.workflows.get(id))?.steps[0]?.childId).not.toBe(before)
  expect(await statuses(t.workflows, id)).toEqual({ part: 'completed', d: 'completed' })
})
