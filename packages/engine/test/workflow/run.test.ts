import { defineJob, defineWorkflow, implement, Unrecoverable } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup, shortLease } from '../support/setup.ts'
import { type Deeds, named, queues, running, statuses, undo, work } from './running.ts'

const fail =
  (...names: string[]): NonNullable<Deeds['work']> =>
  ({ name }) => {
    if (names.includes(name)) throw new Unrecoverable(`${name} cannot be done`)
    return { did: name }
  }

describe('a chain', () => {
  const chain = defineWorkflow('chain', { input: z.object({ word: z.string() }) })
    .step('first', work, { payload: ({ input }) => ({ name: input.word }) })
    .step('second', work, { after: 'first', payload: ({ results }) => ({ name: `${results.first.did}!` }) })
    .step('third', work, { after: 'second', payload: ({ results }) => ({ name: `${results.second.did}!` }) })

  test('hands results on from step to step, under one correlation id', async () => {
    const deeds: Deeds = { done: [] }
    await using t = await running([chain], deeds)
    const { id } = await t.workflows.start(chain, { word: 'go' }, { createdBy: 'ann', priority: 7 })
    expect(await t.workflows.result(id)).toEqual({
      status: 'completed',
      reason: null,
      results: { third: { did: 'go!!' } },
    })
    expect(deeds.done).toEqual(['go', 'go!', 'go!!'])
    const details = await t.workflows.get(id)
    expect(details).toMatchObject({
      name: 'chain',
      status: 'completed',
      correlationId: `workflow-${id}`,
      createdBy: 'ann',
      input: { word: 'go' },
      steps: [{ name: 'first', jobs: 1, completed: 1, running: 0 }, { name: 'second' }, { name: 'third' }],
    })
    const { jobs } = await t.millrace.jobsByCorrelation(`workflow-${id}`)
    expect(jobs.map((job) => [job.id, job.priority, job.createdBy])).toEqual(
      details?.steps.map(({ jobIds: [jobId] }) => [jobId, 7, 'ann']),
    )
    expect(await t.workflows.list({ name: 'chain', status: 'completed' })).toMatchObject([{ id }])
  })

  test('refuses an input that does not fit, and starts nothing', async () => {
    await using t = await running([chain], { done: [] })
    await expect(t.workflows.start(chain, { word: 1 } as never)).rejects.toThrow(/workflow chain/)
    expect(await t.workflows.list()).toEqual([])
  })

  test('does not exist if the transaction it was started in rolls back', async () => {
    const deeds: Deeds = { done: [] }
    await using t = await running([chain], deeds)
    const client = await t.pool.connect()
    await client.query('begin')
    await t.workflows.start(chain, { word: 'never' }, { tx: client })
    await client.query('rollback')
    await client.query('begin')
    const { id } = await t.workflows.start(chain, { word: 'ever' }, { tx: client })
    await client.query('commit')
    client.release()
    expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
    expect(deeds.done).toEqual(['ever', 'ever!', 'ever!!'])
    expect(await t.sql('select from millrace.workflow')).toHaveLength(1)
  })
})

test('a step starts once when all steps before it are settled in one statement', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `parent-${i}`)
  const wide = names.reduce((flow, name) => flow.step(name, work, named(name)) as never, defineWorkflow('wide'))
  const fanIn = (wide as typeof wide & { step: (...args: unknown[]) => typeof wide }).step('last', work, {
    after: names,
    payload: ({ results }: { results: Record<string, { did: string }> }) => ({
      name: names.map((name) => results[name]?.did).join(),
    }),
  })
  const deeds: Deeds = { done: [] }
  await using t = await running([fanIn], deeds)
  const { id } = await t.workflows.start(fanIn)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed', results: { last: { did: names.join() } } })
  expect(deeds.done.filter((name) => name === names.join())).toHaveLength(1)
})

describe('a step with many jobs', () => {
  const many = defineWorkflow('many', { input: z.object({ count: z.number() }) })
    .each('each', work, {
      over: ({ input }) => Array.from({ length: input.count }, (_, i) => i),
      payload: ({ item }) => ({ name: `item ${item}` }),
    })
    .step('sum', work, { after: 'each', payload: ({ results }) => ({ name: `${results.each.length} done` }) })

  test.each([0, 1, 2_000])('hands on the results of %i jobs', async (count) => {
    await using t = await running([many], { done: [] })
    const { id } = await t.workflows.start(many, { count })
    const ended = await t.workflows.result(id)
    expect(ended).toMatchObject({ status: 'completed', results: { sum: { did: `${count} done` } } })
    const [each] = (await t.workflows.get(id))?.steps ?? []
    expect(each).toMatchObject({ jobs: count, completed: count, running: 0, failed: 0 })
    expect(each?.jobIds).toHaveLength(Math.min(count, 100))
    expect(await t.sql(`select from millrace.workflow_item where kind = 'do'`)).toHaveLength(count + 1)
  })

  test('gives what comes after it a gap where a job failed, if that may continue', async () => {
    const gaps = defineWorkflow('gaps')
      .each('each', work, { over: () => ['a', 'b', 'c'], payload: ({ item }) => ({ name: item }) })
      .step('last', work, {
        after: { each: 'continue' },
        payload: ({ results }) => ({ name: results.each.map((result) => result?.did ?? '-').join() }),
      })
    await using t = await running([gaps], { done: [], work: fail('b') })
    const { id } = await t.workflows.start(gaps)
    expect(await t.workflows.result(id)).toMatchObject({ status: 'completed', results: { last: { did: 'a,-,c' } } })
    expect(await statuses(t.workflows, id)).toEqual({ each: 'failed', last: 'completed' })
  })
})

describe('a failure', () => {
  test('ends the workflow, skips what follows, or lets it continue, as the edge says', async () => {
    const edges = defineWorkflow('edges')
      .step('a', work, { ...named('a'), onFailure: 'continue' })
      .step('skipped', work, { ...named('skipped'), after: { a: 'skip' } })
      .step('goes-on', work, {
        after: { a: 'continue' },
        payload: ({ results }) => ({ name: results.a === undefined ? 'without a' : 'with a' }),
      })
    const strict = defineWorkflow('strict', { onFailure: 'stop' })
      .step('a', work, named('a'))
      .step('b', work, { ...named('b'), after: 'a' })
    const deeds: Deeds = { done: [], work: fail('a') }
    await using t = await running([edges, strict], deeds)
    const lenient = await t.workflows.start(edges)
    expect(await t.workflows.result(lenient.id)).toMatchObject({
      status: 'completed',
      results: { 'goes-on': { did: 'without a' } },
    })
    expect(await statuses(t.workflows, lenient.id)).toEqual({ a: 'failed', skipped: 'skipped', 'goes-on': 'completed' })
    const failing = t.millrace.events.next('workflow_failed')
    const { id } = await t.workflows.start(strict)
    expect(await t.workflows.result(id)).toEqual({
      status: 'failed',
      reason: 'step "a" failed: unrecoverable: a cannot be done',
      results: {},
    })
    expect(await failing).toMatchObject({ workflow: { id, name: 'strict' } })
    expect(await statuses(t.workflows, id)).toEqual({ a: 'failed', b: 'cancelled' })
    expect(deeds.done).toEqual(['without a'])
  })

  test('of a payload function fails the step, once', async () => {
    let calls = 0
    const thrower = defineWorkflow('thrower', { onFailure: 'stop' })
      .step('a', work, named('a'))
      .step('b', work, {
        after: 'a',
        payload: () => {
          calls++
          throw new Error('no payload today')
        },
      })
    await using t = await running([thrower], { done: [] })
    const { id } = await t.workflows.start(thrower)
    expect(await t.workflows.result(id)).toMatchObject({
      status: 'failed',
      reason: 'step "b" failed: no payload today',
    })
    expect(calls).toBe(1)
  })

  test('of a payload that does not fit fails the step; of a first step, the start', async () => {
    const misfit = defineWorkflow('misfit', { onFailure: 'stop' })
      .step('a', work, named('a'))
      .step('b', work, { after: 'a', payload: () => ({ name: 1 }) as never })
    const first = defineWorkflow('first').step('a', work, { payload: () => ({ name: 1 }) as never })
    await using t = await running([misfit, first], { done: [] })
    const { id } = await t.workflows.start(misfit)
    expect(await t.workflows.result(id)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/step "b" failed.*name/),
    })
    await expect(t.workflows.start(first)).rejects.toThrow(/name/)
    expect(await t.workflows.list()).toHaveLength(1)
  })
})

describe('a step', () => {
  test('is an ordinary job: retried, told of its workflow, completed in a transaction of its own', async () => {
    const booked = defineJob({
      type: 'book',
      queue: queues.steps,
      payload: z.object({ cents: z.number() }),
      retry: { attempts: 3, backoff: () => 0 },
    })
    const flow = defineWorkflow('booking')
      .step('book', booked, { payload: () => ({ cents: 5 }) })
      .step('after', work, { ...named('after'), after: 'book' })
    await using t = await setup()
    await t.sql('create table ledger (workflow text, attempt int)')
    const millrace = t.client([work, undo], { workflows: [flow] })
    let runs = 0
    const handlers = [
      implement(booked, (_, ctx) =>
        ctx.transaction(async (tx) => {
          await tx.query('insert into ledger values ($1, $2)', [ctx.workflowId, ctx.attempt])
          if (++runs < 3) throw new Error('not yet')
          return 'booked'
        }),
      ),
      implement(work, ({ name }) => ({ did: name })),
    ]
    await millrace.work({ handlers, lease: shortLease })
    const { id } = await millrace.workflows.start(flow)
    expect(await millrace.workflows.result(id)).toMatchObject({ status: 'completed' })
    expect(await t.sql('select * from ledger')).toEqual([{ workflow: id, attempt: 3 }])
  })

  test('ignores the dedup key of its contract: the step is what it is', async () => {
    const keyed = defineJob({
      type: 'keyed',
      queue: queues.steps,
      payload: z.object({ name: z.string() }),
      dedupe: { key: ({ name }) => name },
    })
    const twins = defineWorkflow('twins').each('twins', keyed, {
      over: () => [1, 2, 3],
      payload: () => ({ name: 'the same' }),
    })
    await using t = await setup()
    const millrace = t.client([keyed], { workflows: [twins] })
    const { id } = await millrace.workflows.start(twins)
    expect(await t.sql('select dedup_key from millrace.job')).toEqual([1, 2, 3].map(() => ({ dedup_key: null })))
    await millrace.work({ handlers: [implement(keyed, () => 'done')], lease: shortLease })
    expect(await millrace.workflows.result(id)).toMatchObject({ results: { twins: ['done', 'done', 'done'] } })
  })

  test('is for the tenant of its workflow, or for the one that its payload names', async () => {
    const own = defineJob({
      type: 'own',
      queue: queues.tenants,
      payload: z.object({ org: z.string() }),
      tenant: ({ org }) => org,
    })
    const plain = defineJob({ type: 'plain', queue: queues.tenants, payload: z.object({}) })
    const flow = defineWorkflow('orgs')
      .step('plain', plain, { payload: () => ({}) })
      .step('own', own, { after: 'plain', payload: () => ({ org: 'other' }) })
    await using t = await setup()
    const millrace = t.client([own, plain], { workflows: [flow] })
    const tenants: (string | null)[] = []
    const note = (_: unknown, ctx: { tenant: string | null }) => void tenants.push(ctx.tenant)
    await millrace.work({ handlers: [implement(own, note), implement(plain, note)], lease: shortLease })
    await expect(millrace.workflows.start(flow, undefined, {} as never)).rejects.toThrow(/requires a tenant/)
    const { id } = await millrace.workflows.start(flow, undefined, { tenant: 'acme' })
    expect(await millrace.workflows.result(id)).toMatchObject({ status: 'completed' })
    expect(tenants).toEqual(['acme', 'other'])
  })
})
