// What people decide about workflows, and what is undone.
import { defineWorkflow, Unrecoverable } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, signal } from '../support/setup.ts'
import { type Deeds, named, running, statuses, undone, work } from './running.ts'

const trip = defineWorkflow('trip')
  .step('flight', work, { ...named('flight'), ...undone })
  .step('hotel', work, { ...named('hotel'), ...undone, after: 'flight' })
  .step('car', work, { ...named('car'), after: 'hotel' })

const carless = (name: string) => {
  if (name === 'car') throw new Unrecoverable('no cars')
}

describe('a failure of a workflow that rolls back', () => {
  test('undoes what was completed, the last one first', async () => {
    const deeds: Deeds = { done: [], work: ({ name }) => carless(name) as never }
    await using t = await running([trip], deeds)
    const rolledBack = t.millrace.events.next('workflow_rolled_back')
    const { id } = await t.workflows.start(trip)
    expect(await t.workflows.result(id)).toMatchObject({
      status: 'rolled back',
      reason: expect.stringMatching(/no cars/),
    })
    expect(deeds.done).toEqual(['flight', 'hotel', 'undo hotel', 'undo flight'])
    expect(await rolledBack).toMatchObject({ workflow: { id } })
    expect((await t.workflows.get(id))?.steps).toMatchObject([
      { name: 'flight', status: 'completed', undo: 'done' },
      { name: 'hotel', status: 'completed', undo: 'done' },
      { name: 'car', status: 'failed', undo: 'none' },
    ])
    expect(await t.workflows.resume(id, { by: 'ann' })).toMatchObject({ status: 'refused', as: 'rolled back' })
  })

  test('shows an undo that failed, and goes on with it when somebody resumes', async () => {
    let isBroken = true
    const deeds: Deeds = {
      done: [],
      work: ({ name }) => carless(name) as never,
      undo: ({ name }) => {
        if (name === 'hotel' && isBroken) throw new Unrecoverable('the hotel does not answer')
      },
    }
    await using t = await running([trip], deeds)
    const { id } = await t.workflows.start(trip)
    expect(await t.workflows.result(id)).toMatchObject({ status: 'rollback failed' })
    const failed = await t.workflows.get(id)
    expect(failed?.steps).toMatchObject([
      { name: 'flight', undo: 'done' },
      { name: 'hotel', undo: 'failed', reason: 'unrecoverable: the hotel does not answer' },
      { name: 'car' },
    ])
    isBroken = false
    expect(await t.workflows.resume(id, { by: 'ann', payloads: { hotel: { name: 'hotel by phone' } } })).toEqual({
      status: 'done',
      as: 'rolling back',
    })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back' })
    expect(deeds.done).toEqual(['flight', 'hotel', 'undo flight', 'undo hotel by phone'])
  })

  test('undoes the jobs that completed of a step in which others failed', async () => {
    const many = defineWorkflow('many').each('rooms', work, {
      over: () => ['a', 'b', 'c'],
      payload: ({ item }) => ({ name: item }),
      ...undone,
    })
    const deeds: Deeds = {
      done: [],
      work: ({ name }) => {
        if (name === 'b') throw new Unrecoverable('taken')
        return { did: name }
      },
    }
    await using t = await running([many], deeds)
    const { id } = await t.workflows.start(many)
    expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back' })
    expect(deeds.done.toSorted()).toEqual(['a', 'c', 'undo a', 'undo c'])
  })
})

describe('resume', () => {
  const stop = defineWorkflow('stop', { onFailure: 'stop', input: z.object({ n: z.number() }) })
    .step('first', work, { ...named('first'), ...undone })
    .each('many', work, {
      after: 'first',
      over: ({ input }) => Array(input.n).fill(0),
      payload: ({ index }) => ({ name: `job ${index}` }),
    })
    .step('last', work, { ...named('last'), after: 'many' })

  test('does anew what failed, with new jobs and an edited payload, and nothing else', async () => {
    const deeds: Deeds = {
      done: [],
      work: ({ name }) => {
        if (name === 'job 2' || name === 'job 4') throw new Unrecoverable('broken')
        return { did: name }
      },
    }
    await using t = await running([stop], deeds)
    const { id } = await t.workflows.start(stop, { n: 6 })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
    expect(await statuses(t.workflows, id)).toEqual({ first: 'completed', many: 'failed', last: 'cancelled' })
    const [, before] = (await t.workflows.get(id))?.steps ?? []
    expect(before).toMatchObject({ jobs: 6, completed: 4, failed: 2 })
    const letters = await t.millrace.deadLetters.list({ status: 'pending' })
    expect(letters.map(({ workflowId }) => workflowId)).toEqual([id, id])
    const letter = letters[0] as { id: string; jobId: string }
    const refused = { status: 'refused', reason: 'workflow', message: expect.stringMatching(/Resume the workflow/) }
    expect(await t.millrace.deadLetters.redrive(letter.id, { by: 'ann' })).toMatchObject([refused])
    expect(await t.millrace.retry(letter.jobId, { by: 'ann' })).toMatchObject(refused)

    await expect(t.workflows.resume(id, { by: 'ann', payloads: { first: { name: 'x' } } })).rejects.toThrow(/"first"/)
    await expect(t.workflows.resume(id, { by: 'ann', payloads: { many: { 2: { name: 2 } } } })).rejects.toThrow(/name/)
    deeds.done.length = 0
    const payloads = { many: { 2: { name: 'two' }, 4: { name: 'four' } }, last: { name: 'at last' } }
    expect(await t.workflows.resume(id, { by: 'ann', payloads: { many: payloads.many } })).toEqual({
      status: 'done',
      as: 'running',
    })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
    expect(deeds.done.toSorted()).toEqual(['four', 'last', 'two'])
    const [, after] = (await t.workflows.get(id))?.steps ?? []
    expect(after).toMatchObject({ jobs: 6, completed: 6, failed: 0 })
    expect(after?.jobIds).not.toContain(letter.jobId)
    expect(await t.millrace.deadLetters.list({ status: 'pending' })).toEqual([])
    expect(await t.sql(`select actor as by, action from millrace.audit_log where target = $1`, [id])).toEqual([
      { by: 'ann', action: 'workflow.resume' },
    ])
  })

  test('begins anew with a step whose payload function threw', async () => {
    let isBroken = true
    const flow = defineWorkflow('flow', { onFailure: 'stop' })
      .step('a', work, named('a'))
      .step('b', work, {
        after: 'a',
        payload: () => {
          if (isBroken) throw new Error('not configured')
          return { name: 'b' }
        },
      })
    await using t = await running([flow], { done: [] })
    const { id } = await t.workflows.start(flow)
    expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
    await expect(t.workflows.resume(id, { by: 'ann' })).rejects.toThrow('not configured')
    expect(await t.workflows.get(id)).toMatchObject({ status: 'failed' })
    isBroken = false
    await t.workflows.resume(id, { by: 'ann' })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  })

  test('rollBack undoes what a failed workflow had done, if nobody resumes it', async () => {
    const deeds: Deeds = {
      done: [],
      work: ({ name }) => {
        if (name === 'job 0') throw new Unrecoverable('broken')
        return { did: name }
      },
    }
    await using t = await running([stop], deeds)
    const { id } = await t.workflows.start(stop, { n: 1 })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
    expect(await t.workflows.rollBack(id, { by: 'ann' })).toEqual({ status: 'done', as: 'rolling back' })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back' })
    expect(deeds.done).toEqual(['first', 'undo first'])
    expect(await t.workflows.rollBack('999', { by: 'ann' })).toEqual({ status: 'not_found' })
  })
})

test('cancel stops what runs, cancels what waits, starts nothing more, and undoes what was done', async () => {
  const started = signal()
  const wide = defineWorkflow('wide')
    .step('first', work, { ...named('first'), ...undone })
    .each('many', work, {
      after: 'first',
      over: () => Array.from({ length: 30 }, (_, i) => i),
      payload: ({ item }) => ({ name: `job ${item}` }),
    })
    .step('last', work, { ...named('last'), after: 'many' })
  const deeds: Deeds = {
    done: [],
    work: async ({ name }, ctx) => {
      if (name === 'first') return { did: name }
      started.resolve()
      return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    },
  }
  await using t = await running([wide], deeds)
  const { id } = await t.workflows.start(wide)
  await started.promise
  expect(await t.workflows.cancel(id, { by: 'ann', reason: 'not needed' })).toEqual({ status: 'done', as: 'stopping' })
  expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back', reason: 'not needed' })
  expect(deeds.done).toEqual(['first', 'undo first'])
  expect((await t.workflows.get(id))?.steps).toMatchObject([
    { undo: 'done' },
    { name: 'many', status: 'cancelled', jobs: 30, cancelled: 30, running: 0 },
    { name: 'last', status: 'cancelled', jobs: 0 },
  ])
  expect(await t.workflows.cancel(id, { by: 'ann' })).toMatchObject({ status: 'refused', as: 'rolled back' })
  expect(
    await t.sql(`select status, count(*)::int from millrace.job_archive where type = 'work' group by 1 order by 1`),
  ).toEqual([
    { status: 'cancelled', count: 30 },
    { status: 'completed', count: 1 },
  ])
})

test('a job that somebody cancels by itself fails its workflow', async () => {
  const slow = defineWorkflow('slow', { onFailure: 'stop' })
    .step('a', work, named('a'))
    .step('b', work, { ...named('b'), after: 'a' })
  await using t = await running([slow], { done: [] })
  await t.millrace.pauses.pause({ queue: 'steps' }, { by: 'ann', reason: 'test' })
  const { id } = await t.workflows.start(slow)
  const [jobId] = (await t.workflows.get(id))?.steps[0]?.jobIds ?? []
  expect(await t.millrace.explain(jobId as string)).toMatchObject({ reasons: [{ mechanism: 'pause' }] })
  expect(await t.millrace.cancel(jobId as string, { by: 'ann' })).toBe('cancelled')
  expect(await t.workflows.result(id)).toMatchObject({
    status: 'failed',
    reason: 'step "a" was cancelled: cancelled by ann',
  })
  expect(await statuses(t.workflows, id)).toEqual({ a: 'cancelled', b: 'cancelled' })
  await eventually(async () => (await t.workflows.list({ status: 'failed' })).length === 1)
})
