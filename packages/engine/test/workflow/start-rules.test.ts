import { defineWorkflow } from 'millrace'
import { describe, expect, test } from 'vitest'
import { setup } from '../support/setup.ts'
import { type Deeds, named, running, statuses, undo, work } from './running.ts'

const thrower = (): boolean => {
  throw new Error('no idea')
}

describe('a condition', () => {
  test('that is not met skips the step and what needs it, and goes on where the edge says so', async () => {
    const seen: unknown[] = []
    const flow = defineWorkflow('conditions')
      .step('a', work, named('a'))
      .step('no', work, {
        ...named('no'),
        after: 'a',
        when: (scope) => {
          seen.push(scope.results)
          return scope.results.a.did !== 'a'
        },
      })
      .each('list', work, {
        after: 'a',
        when: ({ results }) => results.a.did === 'b',
        over: () => [1],
        payload: () => ({ name: 'list' }),
      })
      .step('needs', work, { ...named('needs'), after: 'no' })
      .step('goes-on', work, {
        after: { no: 'continue', list: 'continue' },
        when: () => true,
        payload: ({ results }) => ({ name: `without ${results.no?.did ?? 'no'}, ${results.list.length}` }),
      })
    await using t = await running([flow], { done: [] })
    const { id } = await t.workflows.start(flow)
    expect(await t.workflows.result(id)).toMatchObject({
      status: 'completed',
      results: { 'goes-on': { did: 'without no, 0' } },
    })
    expect(await statuses(t.workflows, id)).toEqual({
      a: 'completed',
      no: 'skipped',
      list: 'skipped',
      needs: 'skipped',
      'goes-on': 'completed',
    })
    const { steps = [] } = (await t.workflows.get(id)) ?? {}
    const reasonOf = (name: string) => steps.find((step) => step.name === name)?.reason
    expect([reasonOf('no'), reasonOf('list')]).toEqual(['its condition was not met', 'its condition was not met'])
    expect(seen).toEqual([{ a: { did: 'a' } }])
  })

  test('of all first steps may end the workflow before a job of it was enqueued', async () => {
    const flow = defineWorkflow('nothing').step('a', work, { ...named('a'), when: () => false })
    await using t = await running([flow], { done: [] })
    const { id } = await t.workflows.start(flow)
    expect(await t.workflows.get(id)).toMatchObject({ status: 'completed', steps: [{ jobs: 0, status: 'skipped' }] })
  })

  test.each([
    ['throws', thrower, 'no idea'],
    ['is no boolean', (async () => true) as never, 'returned no boolean'],
  ])('that %s fails the step', async (_, when, message) => {
    const flow = defineWorkflow('thrower', { onFailure: 'stop' })
      .step('a', work, named('a'))
      .step('b', work, { ...named('b'), after: 'a', when })
    await using t = await running([flow], { done: [] })
    const { id } = await t.workflows.start(flow)
    const { status, reason } = await t.workflows.result(id)
    expect(status).toBe('failed')
    expect(reason).toContain('step "b" failed')
    expect(reason).toContain(message)
  })

  test('is not asked again of a step that has started, when it is resumed', async () => {
    let asked = 0
    const flow = defineWorkflow('again', { onFailure: 'stop' }).step('a', work, {
      ...named('a'),
      when: () => ++asked < 2,
    })
    const deeds: Deeds = {
      done: [],
      work: () => {
        throw new Error('not today')
      },
    }
    await using t = await running([flow], deeds)
    const { id } = await t.workflows.start(flow)
    expect((await t.workflows.result(id)).status).toBe('failed')
    deeds.work = ({ name }) => ({ did: name })
    await t.workflows.resume(id, { by: 'ann' })
    expect((await t.workflows.result(id)).status).toBe('completed')
    expect(asked).toBe(1)
  })
})

describe('a delay', () => {
  test('is how long after it could start a step does, or the time that a function says', async () => {
    const at = new Date('2050-01-01T00:00:00Z')
    const flow = defineWorkflow('delays')
      .step('soon', work, { ...named('soon'), delay: '1h' })
      .step('computed', work, { ...named('computed'), delay: ({ workflowId }) => `${Number(workflowId) * 0 + 2}h` })
      .each('at', work, { over: () => [1, 2], payload: () => ({ name: 'at' }), delay: () => at })
    await using t = await setup()
    const { workflows } = t.client([work, undo], { workflows: [flow] })
    const { id } = await workflows.start(flow)
    expect(
      await t.sql(
        'select round(extract(epoch from run_at - created_at) / 3600)::int as hours from millrace.job where run_at < $1 order by id',
        [at],
      ),
    ).toEqual([{ hours: 1 }, { hours: 2 }])
    expect(await t.sql('select run_at from millrace.job where run_at >= $1', [at])).toEqual([
      { run_at: at },
      { run_at: at },
    ])
    expect(await statuses(workflows, id)).toEqual({ soon: 'running', computed: 'running', at: 'running' })
  })

  test('that is none fails the step', async () => {
    const flow = defineWorkflow('misfit', { onFailure: 'stop' })
      .step('a', work, named('a'))
      .step('b', work, { ...named('b'), after: 'a', delay: () => 'soon' as never })
    await using t = await running([flow], { done: [] })
    const { id } = await t.workflows.start(flow)
    expect(await t.workflows.result(id)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/step "b" failed: delay is "soon"/),
    })
  })

  test('is not waited for again by a step that is resumed', async () => {
    const flow = defineWorkflow('again', { onFailure: 'stop' }).step('a', work, { ...named('a'), delay: '1d' })
    await using t = await running([flow], { done: [] })
    const { id } = await t.workflows.start(flow)
    const [job] = (await t.workflows.get(id))?.steps[0]?.jobIds ?? []
    await t.millrace.cancel(job as string, { by: 'ann' })
    expect((await t.workflows.result(id)).status).toBe('failed')
    await t.workflows.resume(id, { by: 'ann' })
    expect((await t.workflows.result(id)).status).toBe('completed')
  })
})
