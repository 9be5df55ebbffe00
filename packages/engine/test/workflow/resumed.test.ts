// What a resumed workflow does anew, and what it leaves as it is.
import { defineWorkflow, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import type { StepRow } from '#src/store/workflows'
import type { FailurePolicy, StepStatus } from '#src/workflow/graph'
import { toRedo } from '#src/workflow/standing'
import { type Deeds, named, running, statuses, undone, work } from './running.ts'

type Edges = Record<string, FailurePolicy>

test.each<[string, Record<string, [StepStatus, Edges?]>, string[]]>([
  [
    'not a failure that a completed step went on without',
    {
      a: ['failed'],
      b: ['completed', { a: 'continue' }],
      c: ['failed', { b: 'fail' }],
      d: ['cancelled', { c: 'fail' }],
    },
    ['c', 'd'],
  ],
  [
    'a tolerated failure that nothing has followed yet, with what was skipped for it',
    { a: ['failed'], b: ['skipped', { a: 'skip' }], c: ['skipped', { b: 'fail' }], d: ['failed'] },
    ['a', 'b', 'c', 'd'],
  ],
  [
    'not what was skipped for a failure that stays',
    { a: ['failed'], b: ['skipped', { a: 'skip' }], c: ['completed', { a: 'continue' }], d: ['failed'] },
    ['d'],
  ],
  [
    'not a failure, nor what was skipped for it, that a completed step came after at last',
    { a: ['failed'], b: ['skipped', { a: 'skip' }], c: ['completed', { b: 'continue' }], d: ['cancelled'] },
    ['d'],
  ],
  ['a failure whose follower failed, too', { a: ['failed'], b: ['failed', { a: 'continue' }] }, ['a', 'b']],
])('resume does anew: %s', (_, given, expected) => {
  const steps = Object.entries(given).map(([name, [status, after = {}]]) => ({ name, status, after }) as StepRow)
  expect(toRedo(steps).map(({ name }) => name)).toEqual(expected)
})

test('resume leaves a failure as it is that the workflow has lived with', async () => {
  const flow = defineWorkflow('flow', { onFailure: 'stop' })
    .step('a', work, named('a'))
    .step('b', work, { ...named('b'), after: { a: 'continue' } })
    .step('c', work, { ...named('c'), after: 'b' })
  const broken = new Set(['a', 'c'])
  const deeds: Deeds = {
    done: [],
    work: ({ name }) => {
      if (broken.has(name)) throw new Unrecoverable('broken')
      return { did: name }
    },
  }
  await using t = await running([flow], deeds)
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({
    status: 'failed',
    reason: 'step "c" failed: unrecoverable: broken',
  })
  broken.clear()
  const edit = { by: 'ann', payloads: { a: { name: 'x' } } }
  await expect(t.workflows.resume(id, edit)).rejects.toThrow(/"a", which is no step that begins anew: those are "c"/)
  await t.workflows.resume(id, { by: 'ann' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(deeds.done).toEqual(['b', 'c'])
  expect(await statuses(t.workflows, id)).toEqual({ a: 'failed', b: 'completed', c: 'completed' })
  const [letter] = await t.millrace.deadLetters.list({ status: 'pending' })
  expect(await t.millrace.deadLetters.redrive((letter as { id: string }).id, { by: 'ann' })).toMatchObject([
    { status: 'refused', reason: 'workflow', message: expect.stringMatching(/It is completed: .* enqueue it anew/) },
  ])
})

test('what a step did before it was resumed is undone in its turn, also if it cannot begin anew', async () => {
  let isBroken = false
  const flow = defineWorkflow('flow', { onFailure: 'stop' })
    .step('first', work, { ...named('first'), ...undone })
    .step('gate', work, { ...named('gate'), after: 'first' })
    .each('many', work, {
      ...undone,
      after: { gate: 'continue' },
      over: () => ['one', 'two'],
      payload: ({ item }) => {
        if (isBroken) throw new Error('not configured')
        return { name: item }
      },
    })
  const failing = new Set(['gate', 'two'])
  const deeds: Deeds = {
    done: [],
    work: ({ name }) => {
      if (failing.has(name)) throw new Unrecoverable('broken')
      return { did: name }
    },
  }
  await using t = await running([flow], deeds)
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
  isBroken = true
  // The gate begins anew, so `many` starts later: nobody is there to be told that it cannot.
  failing.clear()
  await t.workflows.resume(id, { by: 'ann' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'failed', reason: 'step "many" failed: not configured' })
  await t.workflows.rollBack(id, { by: 'ann' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back' })
  expect(deeds.done).toEqual(['first', 'one', 'gate', 'undo one', 'undo first'])
})
