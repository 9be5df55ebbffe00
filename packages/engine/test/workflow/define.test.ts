import {
  defineWorkflow,
  InvalidDefinition,
  type StepDefinition,
  type StepScope,
  type WorkflowDefinition,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { capture, compress, ownOrg, removeUpload, sweep, syncOrg, thumbnail, upload } from './contracts.js'

const screenshot = defineWorkflow('screenshot', { input: z.object({ url: z.string(), folder: z.string() }) })
  .step('capture', capture, { payload: ({ input }) => ({ url: input.url }) })
  .step('compress', compress, { after: 'capture' })
  .each('thumbnails', thumbnail, {
    after: 'compress',
    over: ({ results }) => results.compress.sizes,
    payload: ({ item, index }) => ({ size: item * 100 + index }),
  })
  .step('upload', upload, {
    after: { compress: 'fail', thumbnails: 'continue' },
    payload: ({ input, results }) => ({
      file: `${input.folder}/${results.compress.file}`,
      thumbs: results.thumbnails.flatMap((done) => done?.thumb ?? []),
    }),
    undo: { job: removeUpload, payload: ({ result }) => ({ key: result.key }) },
  })

const input = { url: 'u', folder: 'f' }

function stepOf({ steps }: WorkflowDefinition, name: string): StepDefinition {
  return steps.find((step) => step.name === name) as StepDefinition
}

function scope(results: Record<string, unknown>, given: unknown = input): StepScope {
  return { workflowId: '1', input: given, results, counts: {} }
}

describe('a declared workflow', () => {
  test('is a definition: its steps in order, with their edges', () => {
    expect(screenshot).toMatchObject({
      name: 'screenshot',
      rollsBack: true,
      retention: 'standard',
      requiresTenant: false,
    })
    expect(screenshot.steps.map(({ name, contract, after }) => [name, contract?.type, after])).toEqual([
      ['capture', 'capture', {}],
      ['compress', 'compress', { capture: 'fail' }],
      ['thumbnails', 'thumbnail', { compress: 'fail' }],
      ['upload', 'upload', { compress: 'fail', thumbnails: 'continue' }],
    ])
    expect(stepOf(screenshot, 'upload').onFailure).toBe('fail')
  })

  test('leads the input and the results to the payloads', () => {
    expect(stepOf(screenshot, 'capture').payload(scope({}), undefined, 0)).toEqual({ url: 'u' })
    const thumbnails = stepOf(screenshot, 'thumbnails')
    const before = scope({ compress: { file: 'c', sizes: [3, 4] } })
    expect(thumbnails.over?.(before)).toEqual([3, 4])
    expect(thumbnails.payload(before, 4, 1)).toEqual({ size: 401 })
    const both = scope({ compress: { file: 'c', sizes: [] }, thumbnails: [{ thumb: 't' }, undefined] })
    expect(stepOf(screenshot, 'upload').payload(both, undefined, 0)).toEqual({ file: 'f/c', thumbs: ['t'] })
    const undo = stepOf(screenshot, 'upload').undo?.payload({ ...both, payload: {}, result: { key: 'k' } })
    expect(undo).toEqual({ key: 'k' })
  })

  test('gives a job what comes in where no payload is declared', () => {
    expect(stepOf(screenshot, 'compress').payload(scope({ capture: { file: 'c' } }), undefined, 0)).toEqual({
      file: 'c',
    })
    const [first] = defineWorkflow('x', { input: capture.payload }).step('a', capture, {}).steps
    expect(first?.payload(scope({}, { url: 'u' }), undefined, 0)).toEqual({ url: 'u' })
    const [nothing] = defineWorkflow('x').step('a', sweep, {}).steps
    expect(nothing?.payload(scope({}, null), undefined, 0)).toEqual({})
  })

  test('sees an empty list where a step with many jobs was skipped', () => {
    const skipped = scope({ compress: { file: 'c', sizes: [] }, thumbnails: undefined })
    expect(stepOf(screenshot, 'upload').payload(skipped, undefined, 0)).toEqual({ file: 'f/c', thumbs: [] })
  })

  test('is not changed by what continues it', () => {
    const start = defineWorkflow('x').step('a', sweep, {})
    const one = start.step('b', sweep, { payload: () => ({}) })
    const other = start.step('b', sweep, { payload: () => ({ deep: true }) })
    expect([start, one, other].map(({ steps }) => steps.length)).toEqual([1, 2, 2])
    expect(one.steps[1]).not.toBe(other.steps[1])
    expect(one.steps[0]).toBe(other.steps[0])
    const longer = start.step('c', sweep, {}).step('b', sweep, {})
    expect(longer.steps.map(({ name }) => name)).toEqual(['a', 'c', 'b'])
    expect(one.step('c', sweep, { after: 'b', payload: () => ({}) }).steps.map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
    ])
    expect(() => (start as never as Loose).step('d', sweep, { after: 'b' })).toThrow('not declared before it')
  })

  test('knows whether it must be started with a tenant', () => {
    const orgs = defineWorkflow('x', { input: z.object({ org: z.string() }) })
    expect(orgs.step('a', ownOrg, {}).requiresTenant).toBe(false)
    expect(orgs.step('a', ownOrg, {}).step('b', syncOrg, {}).requiresTenant).toBe(true)
    const undone = orgs.step('a', ownOrg, { undo: { job: syncOrg, payload: ({ payload }) => payload } })
    expect(undone.requiresTenant).toBe(true)
  })

  test('rolls back unless it says otherwise', () => {
    expect(defineWorkflow('x', { onFailure: 'stop', retention: 'long' })).toMatchObject({
      rollsBack: false,
      retention: 'long',
    })
  })

  test('may have thousands of steps', () => {
    let workflow = defineWorkflow('x') as never as Loose
    for (let i = 0; i < 10_000; i++) workflow = workflow.step(`s${i}`, sweep, i === 0 ? {} : { after: `s${i - 1}` })
    expect(workflow.steps).toHaveLength(10_000)
  })
})

/** What somebody without a compiler can write. */
interface Loose extends WorkflowDefinition {
  step(name: string, job: unknown, options?: object): Loose
  each(name: string, job: unknown, options?: object): Loose
  signal(name: string, options?: object): Loose
  workflow(name: string, child: unknown, options?: object): Loose
  sleep(name: string, options?: object): Loose
}

describe('refused is', () => {
  const loose = defineWorkflow('w').step('first', sweep, {}) as never as Loose
  const payload = () => ({})
  test.each<[string, () => unknown, string]>([
    ['a bad workflow name', () => defineWorkflow('no spaces'), 'Workflow name "no spaces" is not usable'],
    ['an input that is no schema', () => defineWorkflow('w', { input: {} as never }), 'an input that is no schema'],
    ['an unknown reaction', () => defineWorkflow('w', { onFailure: 'x' as never }), `expected 'roll back' or 'stop'`],
    ['an unknown retention', () => defineWorkflow('w', { retention: 'x' as never }), `retention "x"`],
    ['a bad step name', () => loose.step('__proto__', sweep), 'has a name that is not usable'],
    ['a name that is taken', () => loose.step('first', sweep), 'Step "first" of workflow "w" is declared twice'],
    ['an unknown step', () => loose.step('b', sweep, { after: 'fist' }), 'Did you mean "first"?'],
    ['a later step', () => loose.step('b', sweep, { after: ['first', 'c'], payload }), 'that would allow cycles'],
    ['a step that waits for itself', () => loose.step('b', sweep, { after: 'b' }), 'waits for itself'],
    ['an unknown policy', () => loose.step('b', sweep, { after: { first: 'x' } }), `"x" as what a failure means`],
    ['an unknown onFailure', () => loose.step('b', sweep, { onFailure: 'x' }), 'in onFailure'],
    ['no job', () => loose.step('b', undefined), 'has no job'],
    ['a fixed payload', () => loose.step('b', sweep, { payload: {} }), 'a payload that is no function'],
    [
      'a condition that is no function',
      () => loose.step('b', sweep, { when: true }),
      'a condition that is no function',
    ],
    ['a delay that is none', () => loose.step('b', sweep, { delay: 'soon' }), 'not a duration'],
    ['a sleep without end', () => loose.sleep('b', {}), 'does not say how long it sleeps'],
    ['a sleep that is none', () => loose.sleep('b', { for: 'long' }), 'not a duration'],
    ['a signal whose payload is no schema', () => loose.signal('b', { payload: {} }), 'a payload that is no schema'],
    ['a signal after an unknown step', () => loose.signal('b', { after: 'fist' }), 'Did you mean "first"?'],
    ['a job as a workflow', () => loose.workflow('b', sweep), 'has no workflow'],
    ['an empty workflow', () => loose.workflow('b', defineWorkflow('e')), 'a workflow without steps'],
    ['no input', () => loose.workflow('b', screenshot), 'has no input function'],
    ['no list', () => loose.each('b', sweep, { payload }), 'has no list'],
    ['no payload for elements', () => loose.each('b', sweep, { over: () => [] }), 'a payload that is no function'],
    ['an undo without a job', () => loose.step('b', sweep, { undo: { payload } }), 'an undo without a job'],
    ['an undo without a payload', () => loose.step('b', sweep, { undo: { job: sweep } }), 'an undo without a payload'],
    [
      'no payload after several steps',
      () => loose.step('b', sweep).step('c', sweep, { after: ['first', 'b'] }),
      'has several steps before it and no payload',
    ],
  ])('%s', (_, declare, message) => {
    expect(declare).toThrow(InvalidDefinition)
    expect(declare).toThrow(message)
  })
})
