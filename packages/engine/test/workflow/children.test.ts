import { chain, defineWorkflow, Unrecoverable } from 'millrace'
import { drain } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Millrace } from '#src/millrace'
import { workflowPrune } from '#src/store/workflows'
import { setup, signal } from '../support/setup.ts'
import { type Deeds, handlersOf, named, running, statuses, undo, undone, work } from './running.ts'

const onboarding = defineWorkflow('onboarding', { input: z.object({ user: z.string() }) })
  .step('account', work, { payload: ({ input }) => ({ name: `account ${input.user}` }), ...undone })
  .step('mail', work, { after: 'account', payload: ({ input }) => ({ name: `mail ${input.user}` }), ...undone })
  .each('lists', work, { after: 'account', over: () => [1, 2], payload: ({ item }) => ({ name: `list ${item}` }) })

const signup = defineWorkflow('signup')
  .step('user', work, { ...named('ann'), ...undone })
  .workflow('onboarding', onboarding, { after: 'user', input: ({ results }) => ({ user: results.user.did }) })
  .step('welcome', work, {
    after: 'onboarding',
    payload: ({ results: { onboarding: done } }) => ({
      name: `after ${done.mail?.did}, ${done.lists?.map((each) => each?.did).join()}`,
    }),
  })

const fail =
  (...names: string[]) =>
  ({ name }: { name: string }) => {
    if (names.includes(name)) throw new Unrecoverable(`${name} cannot be done`)
    return { did: name }
  }

describe('a workflow that is a step', () => {
  test('runs with the tenant and correlation of its parent, and hands on the results of its last steps', async () => {
    await using t = await running([signup], { done: [] })
    const { id } = await t.workflows.start(signup, undefined, { tenant: 'acme', correlationId: 'c1' })
    expect(await t.workflows.result(id)).toMatchObject({
      status: 'completed',
      results: { welcome: { did: 'after mail ann, list 1,list 2' } },
    })
    const step = (await t.workflows.get(id))?.steps[1]
    expect(step).toMatchObject({ name: 'onboarding', kind: 'workflow', status: 'completed', jobIds: [] })
    expect(await t.workflows.get(step?.childId as string)).toMatchObject({
      name: 'onboarding',
      parentId: id,
      tenant: 'acme',
      correlationId: 'c1',
      status: 'completed',
      input: { user: 'ann' },
    })
  })

  test('may be last, nested, and short: its results are part of the results', async () => {
    const inner = defineWorkflow('inner').workflow('chain', chain('links', [work]), {
      input: () => ({ name: 'link' }),
    })
    const outer = defineWorkflow('outer').workflow('inner', inner, {})
    await using t = await setup()
    const millrace = t.client([work, undo], { workflows: [outer] })
    const { id } = await millrace.workflows.start(outer)
    await drain(millrace, handlersOf({ done: [] }))
    expect(await millrace.workflows.result(id)).toMatchObject({
      status: 'completed',
      results: { inner: { chain: { work: { did: 'link' } } } },
    })
  })

  test('that ends at once, or cannot start, is over at once', async () => {
    const empty = defineWorkflow('empty').step('a', work, { ...named('a'), when: () => false })
    const misfit = defineWorkflow('misfit', { onFailure: 'stop' })
      .step('first', work, named('first'))
      .workflow('onboarding', onboarding, { after: 'first', input: () => ({ user: 1 }) as never })
    const outer = defineWorkflow('outer').workflow('empty', empty, {})
    await using t = await running([outer, misfit], { done: [] })
    const ended = await t.workflows.start(outer)
    expect(await t.workflows.get(ended.id)).toMatchObject({ status: 'completed' })
    const { id } = await t.workflows.start(misfit)
    expect(await t.workflows.result(id)).toMatchObject({ status: 'failed', reason: expect.stringMatching(/user/) })
  })

  test('that fails fails its step, has undone what it did, and the parent undoes the rest', async () => {
    const deeds: Deeds = { done: [], work: fail('mail ann') }
    await using t = await running([signup], deeds)
    const { id } = await t.workflows.start(signup)
    expect(await t.workflows.result(id)).toMatchObject({
      status: 'rolled back',
      reason: 'step "onboarding" failed: step "mail" failed: unrecoverable: mail ann cannot be done',
    })
    expect(await statuses(t.workflows, id)).toEqual({ user: 'completed', onboarding: 'failed', welcome: 'cancelled' })
    expect(deeds.done.slice(-2)).toEqual(['undo account ann', 'undo ann'])
  })

  test('is rolled back, last step first, when its parent fails later', async () => {
    const deeds: Deeds = { done: [], work: fail('after mail ann, list 1,list 2') }
    await using t = await running([signup], deeds)
    const { id } = await t.workflows.start(signup)
    expect((await t.workflows.result(id)).status).toBe('rolled back')
    expect(deeds.done.slice(-3)).toEqual(['undo mail ann', 'undo account ann', 'undo ann'])
    const step = (await t.workflows.get(id))?.steps[1]
    expect(step).toMatchObject({ status: 'completed', undo: 'done' })
    expect(await t.workflows.get(step?.childId as string)).toMatchObject({
      status: 'rolled back',
      reason: 'the workflow of which it is a step is rolled back',
    })
  })

  test('whose undo fails is shown by its parent, and goes on when that is resumed', async () => {
    const deeds: Deeds = { done: [], work: fail('after mail ann, list 1,list 2'), undo: fail('mail ann') }
    await using t = await running([signup], deeds)
    const { id } = await t.workflows.start(signup)
    expect((await t.workflows.result(id)).status).toBe('rollback failed')
    delete deeds.undo
    expect(await t.workflows.resume(id, { by: 'bob' })).toMatchObject({ status: 'done', as: 'rolling back' })
    expect((await t.workflows.result(id)).status).toBe('rolled back')
    expect(deeds.done.filter((each) => each === 'undo mail ann')).toHaveLength(1)
  })

  test('is cancelled with its parent', async () => {
    const started = signal()
    const release = signal()
    const deeds: Deeds = {
      done: [],
      work: async ({ name }, ctx) => {
        if (!name.startsWith('mail')) return { did: name }
        started.resolve()
        ctx.signal.addEventListener('abort', () => release.resolve())
        await release.promise
        ctx.signal.throwIfAborted()
        return { did: name }
      },
    }
    await using t = await running([signup], deeds)
    const { id } = await t.workflows.start(signup)
    await started.promise
    await t.workflows.cancel(id, { by: 'bob', reason: 'not wanted' })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'rolled back', reason: 'not wanted' })
    const child = (await t.workflows.get(id))?.steps[1]?.childId as string
    expect(await t.workflows.get(child)).toMatchObject({ status: 'rolled back', reason: 'not wanted' })
    expect(deeds.done.slice(-2)).toEqual(['undo account ann', 'undo ann'])
  })

  test('that waits for a signal is cancelled at once', async () => {
    const waiting = defineWorkflow('waiting').signal('go', {})
    const outer = defineWorkflow('outer').workflow('waiting', waiting, {})
    await using t = await setup()
    const { workflows } = t.client([], { workflows: [outer] })
    const { id } = await workflows.start(outer)
    await workflows.cancel(id, { by: 'bob' })
    expect(await workflows.result(id)).toMatchObject({ status: 'cancelled' })
    expect(await statuses(workflows, id)).toEqual({ waiting: 'cancelled' })
  })

  test('is resumed with its parent, not alone, and does not repeat what it did', async () => {
    const child = defineWorkflow('child', { onFailure: 'stop' })
      .step('a', work, named('a'))
      .step('b', work, { ...named('b'), after: 'a' })
    const parent = defineWorkflow('parent', { onFailure: 'stop' }).workflow('child', child, {})
    const deeds: Deeds = { done: [], work: fail('b') }
    await using t = await running([parent], deeds)
    const { id } = await t.workflows.start(parent)
    expect((await t.workflows.result(id)).status).toBe('failed')
    const childId = (await t.workflows.get(id))?.steps[0]?.childId as string
    for (const change of ['resume', 'rollBack'] as const) {
      expect(await t.workflows[change](childId, { by: 'bob' })).toMatchObject({
        status: 'refused',
        message: expect.stringContaining(`a step of workflow ${id}`),
      })
    }
    delete deeds.work
    await t.workflows.resume(id, { by: 'bob' })
    expect((await t.workflows.result(id)).status).toBe('completed')
    expect(deeds.done).toEqual(['a', 'b'])
    expect((await t.workflows.get(id))?.steps[0]).toMatchObject({ childId, status: 'completed' })
  })

  test('is kept as long as its parent lives, and its end that nobody told of is found by a sweep', async () => {
    const child = defineWorkflow('child', { retention: 'none' }).signal('go', {})
    const parent = defineWorkflow('parent', { retention: 'none' })
      .workflow('child', child, {})
      .signal('last', { after: 'child' })
    await using t = await setup()
    const millrace = t.client([], { workflows: [parent] })
    const { workflows } = millrace
    const { db, advancer } = Millrace.servicesOf(millrace as never)
    const { id } = await workflows.start(parent)
    const childId = (await workflows.get(id))?.steps[0]?.childId as string
    const client = await t.pool.connect()
    await client.query('begin')
    await workflows.signal(childId, 'go', undefined, { by: 'bob', tx: client })
    await client.query('commit')
    client.release()
    expect(await statuses(workflows, id)).toEqual({ child: 'running', last: 'waiting' })
    await advancer.sweep()
    expect(await statuses(workflows, id)).toEqual({ child: 'completed', last: 'running' })
    expect(await workflowPrune(db, null, 100)).toBe(0)
    await workflows.signal(id, 'last', undefined, { by: 'bob' })
    await advancer.idle()
    expect(await workflowPrune(db, null, 100)).toBe(1)
    expect(await workflows.get(id)).toBeUndefined()
    expect(await workflowPrune(db, null, 100)).toBe(1)
  })

  test('ends with its parent, whenever somebody cancels that or itself, without anybody waiting for another', async () => {
    await using t = await running([signup], { done: [] })
    const errors: unknown[] = []
    t.millrace.events.on('database_error', (event) => errors.push(event))
    const ids = await Promise.all(Array.from({ length: 24 }, async () => (await t.workflows.start(signup)).id))
    const cancelled = ids.map(async (id, i) => {
      // At as many moments of its life as there are workflows.
      for (let looks = 0; looks < i; looks++) await t.workflows.get(id)
      const child = (await t.workflows.get(id))?.steps[1]?.childId ?? id
      await t.workflows.cancel(i % 2 === 0 ? id : child, { by: 'bob' })
    })
    await Promise.all(cancelled)
    const ends = await Promise.all(ids.map((id) => t.workflows.result(id)))
    expect(ends.filter(({ status }) => !['completed', 'rolled back', 'cancelled'].includes(status))).toEqual([])
    expect(await t.sql('select id, name, status, held from millrace.workflow where finished_at is null')).toEqual([])
    expect(errors).toEqual([])
  })
})
