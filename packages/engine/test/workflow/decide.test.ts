import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, fatalStep } from '#src/workflow/decide'
import type { FailurePolicy, Step, WorkflowState } from '#src/workflow/graph'
import { plans } from './plan.js'
import { predict } from './predict.js'
import { Simulation } from './simulate.js'

function step(name: string, given: Partial<Step> = {}): Step {
  const fresh = {
    hasJobs: true,
    status: 'waiting',
    undo: 'none',
    completedJobs: 0,
    completedAs: null,
    isAskedToStop: false,
  } as const
  return { name, after: {}, onFailure: 'fail', canBeUndone: false, ...fresh, ...given }
}

function running(steps: Step[], given: Partial<WorkflowState> = {}): WorkflowState {
  return { status: 'running', stopping: null, rollsBack: true, resumes: false, isOpenElsewhere: false, steps, ...given }
}

const completed = (place: number): Partial<Step> => ({
  status: 'completed',
  completedJobs: 1,
  completedAs: place,
  canBeUndone: true,
})

describe('a workflow', () => {
  test('ends as the model says, whatever fails and whenever somebody cancels', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(new Simulation(plan).run()).toEqual(predict(plan))
      }),
      { numRuns: 1000 },
    )
  })

  test('that is resumed while it rolls back completes, and does anew what was undone and nothing else', () => {
    let resumed = 0
    const resumes = fc.integer({ min: 1, max: 3 })
    const property = fc.property(plans, resumes, (plan, after) => {
      const simulation = new Simulation({ ...plan, rollsBack: true }, after)
      const { status } = simulation.run()
      if (!simulation.isResumed) return
      resumed++
      expect(status).toBe('completed')
    })
    fc.assert(property, { numRuns: 1000 })
    expect(resumed).toBeGreaterThan(100)
  })

  test('starts all steps that wait for nothing, and is over at once if there are none', () => {
    expect(decide(running([step('a'), step('b', { after: { a: 'fail' } }), step('c')])).start).toEqual(['a', 'c'])
    expect(decide(running([])).status).toBe('completed')
  })

  test.each<[FailurePolicy, object]>([
    ['fail', { drop: ['b', 'c'], stopping: 'failed', status: 'failed' }],
    ['skip', { skip: ['b', 'c'], status: 'completed' }],
    ['continue', { start: ['b'], status: 'running' }],
  ])('whose step failed obeys "%s" of the edge behind it', (policy, expected) => {
    for (const status of ['failed', 'cancelled'] as const) {
      const steps = [step('a', { status }), step('b', { after: { a: policy } }), step('c', { after: { b: 'fail' } })]
      expect(decide(running(steps))).toMatchObject(expected)
    }
  })

  test('goes on behind a skipped step where the edge says so', () => {
    const steps = [
      step('a', { status: 'failed' }),
      step('b', { after: { a: 'skip' } }),
      step('c', { after: { b: 'continue' } }),
    ]
    expect(decide(running(steps))).toMatchObject({ skip: ['b'], start: ['c'], status: 'running' })
  })

  test('waits for all steps before one, even when it is clear that it will be skipped', () => {
    const steps = [
      step('a', { status: 'failed' }),
      step('b', { status: 'running' }),
      step('c', { after: { a: 'skip', b: 'fail' } }),
    ]
    expect(decide(running(steps))).toMatchObject({ start: [], skip: [], status: 'running' })
  })

  test('fails when a step without successors does, unless that is tolerated', () => {
    expect(decide(running([step('a', { status: 'failed' })])).status).toBe('failed')
    expect(decide(running([step('a', { status: 'failed', onFailure: 'continue' })])).status).toBe('completed')
  })

  test('names the step it failed by, not one before it whose failure was tolerated', () => {
    const steps = [
      step('a', { status: 'failed' }),
      step('b', { status: 'completed', after: { a: 'continue' } }),
      step('c', { status: 'cancelled', after: { b: 'fail' } }),
    ]
    expect(fatalStep(steps)?.name).toBe('c')
    expect(fatalStep(steps.slice(0, 2))).toBeUndefined()
  })

  test('cancels the jobs of running steps once, when it fails or a person cancels it', () => {
    const steps = [step('a', completed(1)), step('b', { status: 'running' }), step('c', { after: { b: 'fail' } })]
    const stop = { drop: ['c'], undo: null, status: 'stopping' }
    const asked = [steps[0] as Step, step('b', { status: 'running', isAskedToStop: true })]
    for (const stopping of ['failed', 'cancelled'] as const) {
      expect(decide(running(steps, { stopping }))).toMatchObject({ ...stop, cancel: ['b'] })
      expect(decide(running(asked, { stopping })).cancel).toEqual([])
    }
  })

  test('does not wait for a signal or a time when it stops', () => {
    const steps = [
      step('a', { status: 'running' }),
      step('b', { status: 'running', hasJobs: false }),
      step('c', { after: { b: 'fail' } }),
    ]
    expect(decide(running(steps, { stopping: 'failed' }))).toMatchObject({ drop: ['b', 'c'], status: 'stopping' })
    expect(decide(running(steps.slice(1), { stopping: 'cancelled' }))).toMatchObject({
      drop: ['b', 'c'],
      cancel: [],
      status: 'cancelled',
    })
  })

  test('undoes the completed jobs of a step of which others failed', () => {
    const steps = [step('a', completed(1)), step('b', { ...completed(2), status: 'failed', completedJobs: 3 })]
    expect(decide(running(steps))).toMatchObject({ undo: 'b', stopping: 'failed', status: 'rolling back' })
  })

  test('goes on to undo the others when one could not be undone, and shows it in the end', () => {
    const steps = [step('a', completed(1)), step('b', { ...completed(2), undo: 'failed' })]
    const state = running(steps, { stopping: 'failed', status: 'rolling back' })
    expect(decide(state).undo).toBe('a')
    const last = [step('a', { ...completed(1), undo: 'done' }), steps[1] as Step]
    expect(decide({ ...state, steps: last })).toMatchObject({ undo: null, status: 'rollback failed' })
  })

  test('that does not roll back stays as it is after a failure, until somebody has it undone', () => {
    const steps = [step('a', completed(1)), step('b', { status: 'failed' })]
    expect(decide(running(steps, { rollsBack: false }))).toMatchObject({ undo: null, status: 'failed' })
    const resumed = running(steps, { status: 'rolling back', stopping: 'failed', rollsBack: true })
    expect(decide(resumed)).toMatchObject({ undo: 'a', status: 'rolling back' })
  })

  test('that has ended does nothing by itself', () => {
    const steps = [step('a', completed(1)), step('b')]
    for (const status of ['completed', 'failed', 'cancelled', 'rolled back', 'rollback failed'] as const) {
      expect(decide(running(steps, { status }))).toMatchObject({ start: [], drop: [], undo: null, status })
    }
  })

  test.each([
    ['a fan-out and fan-in', (i: number) => (i === 0 ? {} : { s0: 'fail' as const })],
    ['a chain', (i: number) => (i === 0 ? {} : { [`s${i - 1}`]: 'skip' as const })],
  ])('of 10 000 steps is decided in a moment: %s', (_, afterOf) => {
    const steps = Array.from({ length: 10_000 }, (_, i) => step(`s${i}`, { after: afterOf(i) }))
    const all = Object.fromEntries(steps.map(({ name }) => [name, 'continue' as const]))
    const state = running([
      { ...(steps[0] as Step), status: 'failed' },
      ...steps.slice(1),
      step('last', { after: all }),
    ])
    const begin = performance.now()
    for (let i = 0; i < 10; i++) decide(state)
    // About 5 ms each; a pass for each step would take minutes.
    expect((performance.now() - begin) / 10).toBeLessThan(200)
  })
})
