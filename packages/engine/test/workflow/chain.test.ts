import { chain, defineBatch, InvalidDefinition, type JobContract, type WorkflowDefinition } from 'millrace'
import { describe, expect, test } from 'vitest'
import { fixedChain } from '#src/workflow/chain'
import { checkHasSteps } from '#src/workflow/check'
import { capture, compress, login, remind, report, sweep, syncOrg, thumbnail } from './contracts.js'

const scope = { workflowId: '1', input: undefined, results: {}, counts: {} }

function shapeOf({ steps }: WorkflowDefinition): unknown[] {
  return steps.map(({ name, contract, after }) => [name, contract?.type, after])
}

async function validated({ input }: WorkflowDefinition, value: unknown): Promise<unknown> {
  return input?.['~standard'].validate(value)
}

describe('a chain', () => {
  test('gives each job the result of the one before it', () => {
    const publish = chain('publish', [capture, compress, compress])
    expect(shapeOf(publish)).toEqual([
      ['capture', 'capture', {}],
      ['compress', 'compress', { capture: 'fail' }],
      ['compress-2', 'compress', { compress: 'fail' }],
    ])
    const [first, second] = publish.steps
    expect(first?.payload({ ...scope, input: { url: 'u' } }, undefined, 0)).toEqual({ url: 'u' })
    expect(second?.payload({ ...scope, results: { capture: { file: 'f' } } }, undefined, 0)).toEqual({ file: 'f' })
  })

  test('checks its input and hands it on as it was given', async () => {
    const later = chain('later', [remind])
    const given = { at: '2026-01-01T00:00:00Z' }
    expect(await validated(later, given)).toEqual({ value: given })
    expect(await validated(later, { at: 1 })).toMatchObject({ issues: [{ path: ['at'] }] })
  })

  test('is refused without jobs, and where its input would show what is sensitive', () => {
    expect(() => chain('x', [] as never)).toThrow('has no jobs')
    expect(() => chain('x', [login])).toThrow(InvalidDefinition)
    expect(() => chain('x', [login])).toThrow('"password" of it is sensitive')
  })
})

describe('a chain with fixed payloads', () => {
  const contracts = new Map<string, JobContract>([capture, sweep].map((contract) => [contract.type, contract]))
  const contractOf = (type: string) => contracts.get(type) as JobContract
  const input = [
    { type: 'capture', payload: { url: 'u' } },
    { type: 'sweep', payload: { deep: true } },
  ]

  test('runs the listed jobs one after another, each with its own payload', async () => {
    const fixed = fixedChain(input, contractOf)
    expect(shapeOf(fixed)).toEqual([
      ['capture', 'capture', {}],
      ['sweep', 'sweep', { capture: 'fail' }],
    ])
    expect(fixed.steps.map(({ payload }) => payload({ ...scope, input }, undefined, 0))).toEqual([
      { url: 'u' },
      { deep: true },
    ])
    expect(await validated(fixed, input)).toEqual({ value: input })
  })

  test('says which payload does not fit', async () => {
    const wrong = [input[0] as object, { type: 'sweep', payload: { deep: 'very' } }]
    expect(await validated(fixedChain(input, contractOf), wrong)).toMatchObject({
      issues: [{ path: [1, 'payload', 'deep'] }],
    })
    expect(await validated(fixedChain(input, contractOf), [...input, {}])).toMatchObject({ issues: [{ path: [2] }] })
  })

  test('of nothing is not a workflow', () => {
    expect(() => checkHasSteps(fixedChain([], contractOf))).toThrow('has no steps')
  })
})

describe('a batch', () => {
  const batch = defineBatch('thumbnails', { each: thumbnail, finally: report })

  test('has a job for each payload, and one when all have ended, also if some failed', () => {
    expect(shapeOf(batch)).toEqual([
      ['each', 'thumbnail', {}],
      ['finally', 'report', { each: 'continue' }],
    ])
    const [each, last] = batch.steps
    const input = [{ size: 1 }, { size: 2 }]
    expect(each?.over?.({ ...scope, input })).toEqual(input)
    expect(each?.payload({ ...scope, input }, input[1], 1)).toEqual({ size: 2 })
    const counts = { each: { total: 2, completed: 1, failed: 1 } }
    expect(last?.payload({ ...scope, input, counts }, undefined, 0)).toEqual(counts.each)
  })

  test('checks every payload', async () => {
    expect(await validated(batch, [])).toEqual({ value: [] })
    expect(await validated(batch, [{ size: 1 }, {}])).toMatchObject({ issues: [{ path: [1, 'size'] }] })
    expect(await validated(batch, { size: 1 })).toMatchObject({ issues: [{ message: 'expected a list' }] })
  })

  test('fails with one of its jobs if nothing comes after them', () => {
    const [each, ...others] = defineBatch('plain', { each: syncOrg, retention: 'none' }).steps
    expect(others).toEqual([])
    expect(each?.onFailure).toBe('fail')
    expect(defineBatch('plain', { each: syncOrg, retention: 'none' })).toMatchObject({
      requiresTenant: true,
      retention: 'none',
    })
  })
})
