// The end of a job that ends alone, and what follows in its workflow, are one transaction: unless that would take long, or
// cannot be done.
import { defineJob, defineWorkflow, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup, shortLease, signal } from '../support/setup.ts'
import { type Deeds, named, queues, running, statuses, undone, work } from './running.ts'

const two = defineWorkflow('two', { onFailure: 'stop' })
  .step('a', work, named('a'))
  .step('b', work, { after: 'a', payload: ({ results }) => ({ name: `${results.a.did}, then b` }) })

/** Whose `b` waits until it may end. */
async function held(made?: Awaited<ReturnType<typeof setup>>) {
  const isRunning = signal()
  const mayEnd = signal()
  const deeds: Deeds = {
    done: [],
    work: async ({ name }) => {
      if (name === 'a') return { did: name }
      isRunning.resolve()
      await mayEnd.promise
      return { did: name }
    },
  }
  const t = await running([two], deeds, made)
  return { ...t, deeds, isRunning, mayEnd }
}

test('the end of a job and the start of the next are one transaction, and the next one gets its result', async () => {
  await using t = await held()
  const { id } = await t.workflows.start(two)
  await t.isRunning.promise
  const written = await t.sql('select position, status, xmin::text from millrace.workflow_item order by position')
  expect(written).toMatchObject([{ status: 'completed' }, { status: 'running' }])
  expect(written[1]?.xmin).toBe(written[0]?.xmin)
  const [item] = await t.sql('select job_id from millrace.workflow_item where position = 2')
  expect(await t.sql('select id from millrace.job')).toEqual([{ id: item?.job_id }])
  t.mayEnd.resolve()
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(t.deeds.done).toEqual(['a', 'a, then b'])
})

test('whoever hears that the workflow has completed has heard it of its last job', async () => {
  await using t = await held()
  t.mayEnd.resolve()
  const heard: string[] = []
  const ended = t.millrace.events.next('workflow_completed')
  t.millrace.events.on('job_completed', () => heard.push('job'))
  t.millrace.events.on('workflow_completed', () => heard.push('workflow'))
  await t.workflows.start(two)
  await ended
  expect(heard).toEqual(['job', 'job', 'workflow'])
})

test('a result is written although somebody else has locked the workflow, which goes on afterwards', async () => {
  await using t = await held()
  const mayEndA = signal()
  t.deeds.work = async ({ name }) => {
    await mayEndA.promise
    return { did: name }
  }
  const started = t.millrace.events.next('job_started')
  const { id } = await t.workflows.start(two)
  await started
  const other = await t.pool.connect()
  await other.query('begin')
  await other.query('select from millrace.workflow for update')
  const completed = t.millrace.events.next('job_completed')
  mayEndA.resolve()
  await completed
  expect(await t.sql('select status from millrace.workflow_item')).toEqual([{ status: 'completed' }])
  await other.query('commit')
  other.release()
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
})

test('a result is written although it takes long to check what follows', async () => {
  const mayPass = signal()
  const slow = defineJob({
    type: 'slow',
    queue: queues.steps,
    payload: z.object({ name: z.string() }).refine(async () => {
      await mayPass.promise
      return true
    }),
  })
  const flow = defineWorkflow('slow')
    .step('a', work, named('a'))
    .step('b', slow, { ...named('b'), after: 'a' })
  await using t = await setup()
  const millrace = t.client([work, slow], { workflows: [flow] })
  const handlers = [implement(work, () => ({ did: 'a' })), implement(slow, () => {})]
  await millrace.work({ handlers, lease: shortLease, gracePeriod: '5s' })
  const completed = millrace.events.next('job_completed')
  const { id } = await millrace.workflows.start(flow)
  await completed
  expect(await t.sql('select status from millrace.workflow_item')).toEqual([{ status: 'completed' }])
  mayPass.resolve()
  expect(await millrace.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(await t.sql('select from millrace.job_archive')).toHaveLength(2)
})

test('a result is written although the function of what follows blocks the process for longer than that', async () => {
  const flow = defineWorkflow('blocking')
    .step('a', work, named('a'))
    .step('b', work, {
      after: 'a',
      payload: () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
        return { name: 'b' }
      },
    })
  const deeds: Deeds = { done: [] }
  await using t = await running([flow], deeds)
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(deeds.done).toEqual(['a', 'b'])
})

test('a result is written although what follows waits for a lock that somebody else keeps', async () => {
  const limited = defineJob({ type: 'limited', queue: queues.tenants, payload: z.object({ name: z.string() }) })
  const flow = defineWorkflow('limited')
    .step('a', work, named('a'))
    .step('b', limited, { ...named('b'), after: 'a' })
  await using t = await setup()
  const millrace = t.client([work, limited], { workflows: [flow] })
  await millrace.tenants.limit('acme', 'tenants', { jobs: 1_000, over: 'reject' }, { by: 'ann' })
  const isDone = signal()
  const mayEnd = signal()
  const handlers = [
    implement(work, async () => {
      await mayEnd.promise
      return { did: 'a' }
    }),
    implement(limited, () => isDone.resolve()),
  ]
  await millrace.work({ handlers, lease: shortLease, gracePeriod: '5s' })
  const started = millrace.events.next('job_started')
  await millrace.workflows.start(flow, undefined, { tenant: 'acme' })
  await started
  const other = await t.pool.connect()
  await other.query('begin')
  await millrace.enqueue(limited, { name: 'other' }, { tenant: 'acme', tx: other })
  const completed = millrace.events.next('job_completed')
  mayEnd.resolve()
  await completed
  expect(await t.sql('select status from millrace.workflow_item')).toEqual([{ status: 'completed' }])
  await other.query('rollback')
  other.release()
  await isDone.promise
  // A statement that waits for a lock would be given up after 15 s.
}, 12_000)

test('a result is written although Postgres will not store what follows, and that step fails', async () => {
  const flow = defineWorkflow('refused', { onFailure: 'stop' })
    .step('a', work, { ...named('a'), ...undone })
    .step('b', work, { ...named('b'), after: 'a', onFailure: 'continue' })
    .step('c', work, { ...named('c'), after: { b: 'continue' } })
  const deeds: Deeds = { done: [] }
  await using t = await running([flow], deeds)
  await t.sql(`alter table millrace.job add constraint no_b check (payload->>'name' <> 'b') not valid`)
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(await statuses(t.workflows, id)).toEqual({ a: 'completed', b: 'failed', c: 'completed' })
  expect(deeds.done).toEqual(['a', 'c'])
})

test('a result is written although what follows has to wait for its tenant, and the workflow says so', async () => {
  const tenants = defineJob({ type: 'tenants', queue: queues.tenants, payload: z.object({ name: z.string() }) })
  const mayEnd = signal()
  const flow = defineWorkflow('tenants')
    .step('a', work, named('a'))
    .step('b', tenants, { ...named('b'), after: 'a' })
  await using t = await setup()
  const millrace = t.client([work, tenants], { workflows: [flow] })
  const handlers = [
    implement(work, async () => {
      await mayEnd.promise
      return { did: 'a' }
    }),
    implement(tenants, () => {}),
  ]
  await millrace.work({ handlers, lease: shortLease, gracePeriod: '5s' })
  const started = millrace.events.next('job_started')
  const { id } = await millrace.workflows.start(flow, undefined, { tenant: 'acme' })
  await started
  await millrace.tenants.suspend('acme', { by: 'ann', reason: 'unpaid' })
  const completed = millrace.events.next('job_completed')
  mayEnd.resolve()
  await completed
  await expect.poll(async () => (await millrace.workflows.get(id))?.held).toMatch(/suspended/)
})

test('a step that is a workflow fails if Postgres will not store its only first job, and what is around it goes on', async () => {
  const child = defineWorkflow('child').step('inner', work, named('inner'))
  const flow = defineWorkflow('parent', { onFailure: 'stop' })
    .step('a', work, named('a'))
    .workflow('b', child, { after: 'a', onFailure: 'continue' })
    .step('c', work, { ...named('c'), after: { b: 'continue' } })
  const deeds: Deeds = { done: [] }
  await using t = await running([flow, child], deeds)
  await t.sql(`alter table millrace.job add constraint no_inner check (payload->>'name' <> 'inner') not valid`)
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  expect(await statuses(t.workflows, id)).toEqual({ a: 'completed', b: 'failed', c: 'completed' })
})

test('workflows that start at once in one transaction have their own jobs each', async () => {
  const deeds: Deeds = { done: [] }
  const one = defineWorkflow('one', { input: z.object({ name: z.string() }) }).step('only', work, {
    payload: ({ input }) => input,
  })
  await using t = await running([one], deeds)
  const tx = await t.pool.connect()
  await tx.query('begin')
  const names = ['x', 'y', 'z']
  const starting = names.map((name) => t.workflows.start(one, { name }, { tx }))
  await Promise.all([...starting, t.millrace.enqueue(work, { name: 'plain' }, { tx })])
  await tx.query('commit')
  tx.release()
  const ids = (await Promise.all(starting)).map(({ id }) => id)
  for (const id of ids) expect(await t.workflows.result(id)).toMatchObject({ status: 'completed' })
  const wrong = await t.sql(
    `select from millrace.workflow_item as item join millrace.job_archive as job on job.id = item.job_id
     where job.workflow_id is distinct from item.workflow_id`,
  )
  expect(wrong).toEqual([])
})
