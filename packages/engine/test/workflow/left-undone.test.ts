// Workflows cannot be left standing: whatever dies, and whoever does not know of them.
import { createMillrace, defineJob, defineWorkflow, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { WorkflowSweep } from '#src/maintenance/workflow-sweep'
import { Millrace } from '#src/millrace'
import { Database } from '#src/store/db'
import { jobClaim } from '#src/store/job-claims'
import { endsStep, settle } from '#src/store/settlements'
import { workflowSettle } from '#src/store/workflow-items'
import { eventually, jobEvent, setup, shortLease, silent } from '../support/setup.ts'
import { handlersOf, named, queues, running, undo, undone, work } from './running.ts'

const pair = defineWorkflow('pair')
  .step('a', work, { ...named('a'), ...undone })
  .step('b', work, { ...named('b'), after: 'a' })

/** A database, a client that knows the workflow, and nobody who works. */
async function standing(workflows = [pair]) {
  const t = await setup()
  const millrace = t.client([work, undo], { workflows })
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 4 })
  const { advancer } = Millrace.servicesOf(millrace as never)
  return {
    ...t,
    db,
    millrace,
    advancer,
    sweep: new WorkflowSweep(advancer),
    /** Claims what is due, as a worker does. */
    async claim(limit = 100) {
      const runId = '00000000-0000-4000-8000-000000000001'
      const jobs = await jobClaim(db, null, {
        queues: [{ queue: 'steps', limit }],
        types: [work, undo].map(({ type }) => ({ type, stuckAfterMs: 60_000 })),
        runId,
        workerId: '00000000-0000-4000-8000-000000000002',
        suspectQueues: [],
        byType: false,
      })
      return jobs.map(({ id, workflowId }) => ({
        kind: 'finish' as const,
        id,
        runId,
        workflowId,
        status: 'completed' as const,
        result: '{"did":"a"}',
        reason: null,
        retention: 'standard' as const,
      }))
    },
    aMinuteLater: () => t.sql(`update millrace.workflow set advance_at = advance_at - interval '1 minute'`),
    jobs: () => t.sql<{ id: string; status: string }>('select id, status from millrace.job order by id'),
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

describe('the sweep', () => {
  test('advances a workflow whose process died between the end of a job and what follows', async () => {
    await using t = await standing()
    const { id } = await t.millrace.workflows.start(pair)
    const ends = await t.claim()
    expect(ends.every(endsStep)).toBe(true)
    await t.db.transaction((tx) => settle(tx, null, ends))
    expect(await t.jobs()).toEqual([])
    expect(await t.millrace.workflows.get(id)).toMatchObject({ status: 'running' })
    const result = await t.sweep.tick()
    expect(result).toEqual({ advanced: 1, found: 0, isMore: false, dueInMs: null })
    expect(t.sweep.delayAfter(result)).toBe(60_000)
    expect(await t.jobs()).toMatchObject([{ status: 'pending' }])
    expect(await t.sweep.tick()).toMatchObject({ advanced: 0 })
    expect(await t.jobs()).toHaveLength(1)
  })

  test('ends a sleep whose time has come also where a job has ended', async () => {
    const flow = defineWorkflow('flow')
      .step('a', work, named('a'))
      .sleep('nap', { for: '1d' })
      .step('b', work, { ...named('b'), after: 'a' })
      .step('c', work, { ...named('c'), after: 'nap' })
    await using t = await standing([flow as never])
    const { id } = await t.millrace.workflows.start(flow)
    const ends = await t.claim()
    await t.db.transaction((tx) => settle(tx, null, ends))
    await t.sql(`update millrace.workflow_step set due_at = now() - interval '1 second' where name = 'nap'`)
    expect(await t.sweep.tick()).toMatchObject({ advanced: 1, dueInMs: null })
    const steps = (await t.millrace.workflows.get(id))?.steps.map(({ name, status }) => [name, status])
    expect(Object.fromEntries(steps ?? [])).toEqual({ a: 'completed', nap: 'completed', b: 'running', c: 'running' })
  })

  test('finds jobs that ended without a word to their workflow, by what the archive says', async () => {
    await using t = await standing()
    const { id } = await t.millrace.workflows.start(pair)
    // As a worker of an earlier version does it.
    await settle(
      t.db,
      null,
      (await t.claim()).map((end) => ({ ...end, workflowId: null })),
    )
    expect(await t.sweep.tick()).toMatchObject({ advanced: 0, found: 1 })
    expect((await t.millrace.workflows.get(id))?.steps).toMatchObject([{ status: 'completed' }, { status: 'running' }])
    const gone = (await t.claim()).map((end) => ({ ...end, workflowId: null, retention: 'none' as const }))
    await settle(t.db, null, gone)
    expect(await t.sweep.tick()).toMatchObject({ found: 1 })
    expect((await t.millrace.workflows.get(id))?.steps).toMatchObject([
      { undo: 'running' },
      { status: 'failed', reason: 'the job is gone, and how it ended is not recorded' },
    ])
  })

  test('of a process that does not know the workflow leaves it to others', async () => {
    await using t = await standing()
    const { id } = await t.millrace.workflows.start(pair)
    const warnings: unknown[] = []
    const logger = { ...silent, warn: (...args: unknown[]) => void warnings.push(args) }
    const other = t.client([work, undo], { logger })
    await other.work({ handlers: handlersOf({ done: [] }), lease: shortLease })
    const [jobId] = (await t.millrace.workflows.get(id))?.steps[0]?.jobIds ?? []
    await jobEvent(other, 'job_completed', jobId as string)
    await other.close()
    expect(warnings).toContainEqual([expect.objectContaining({ name: 'pair' }), expect.stringMatching(/does not know/)])
    expect(await t.jobs()).toEqual([])
    const single = defineWorkflow('single').step('a', work, named('a'))
    const stranger = Millrace.servicesOf(t.client([work], { workflows: [single] }) as never).advancer
    await stranger.sweep()
    expect(await t.millrace.workflows.get(id)).toMatchObject({ held: null })
    await stranger.sweep()
    expect(await t.millrace.workflows.get(id)).toMatchObject({
      held: expect.stringMatching(/Nobody has carried it on/),
    })
    expect(await t.sweep.tick()).toMatchObject({ advanced: 1 })
    expect(await t.millrace.workflows.get(id)).toMatchObject({ held: null })
    expect(await t.jobs()).toHaveLength(1)
    await expect(other.workflows.start(pair)).rejects.toThrow(/no workflow "pair" in this program/)
  })

  test('tries again where a tenant was suspended, and the workflow says why it waits', async () => {
    await using t = await standing()
    const { id } = await t.millrace.workflows.start(pair, undefined, { tenant: 'acme' })
    await t.sql(`update millrace.job set tenant = null`)
    const claimed = await t.claim()
    await t.db.transaction((tx) => settle(tx, null, claimed))
    await t.millrace.tenants.suspend('acme', { by: 'ann', reason: 'unpaid' })
    await t.sweep.tick()
    expect(await t.millrace.workflows.get(id)).toMatchObject({
      status: 'running',
      held: expect.stringMatching(/unpaid/),
    })
    expect(await t.jobs()).toEqual([])
    await t.millrace.tenants.resume('acme', { by: 'ann' })
    // Not at once: others come first.
    expect(await t.sweep.tick()).toMatchObject({ advanced: 0 })
    await t.aMinuteLater()
    await t.sweep.tick()
    expect(await t.millrace.workflows.get(id)).toMatchObject({ held: null })
    expect(await t.jobs()).toHaveLength(1)
  })

  test('of a program whose workflow lost a step says so, and another one goes on', async () => {
    await using t = await standing()
    const { id } = await t.millrace.workflows.start(pair)
    const claimed = await t.claim()
    await t.db.transaction((tx) => settle(tx, null, claimed))
    const shorter = defineWorkflow('pair').step('a', work, named('a'))
    const newer = Millrace.servicesOf(t.client([work, undo], { workflows: [shorter] }) as never)
    await newer.advancer.sweep()
    expect(await t.millrace.workflows.get(id)).toMatchObject({ held: expect.stringMatching(/step "b"/) })
    await t.aMinuteLater()
    await t.sweep.tick()
    expect(await t.jobs()).toHaveLength(1)
  })
})

test('what is said twice is counted once, and many who advance at once start a step once', async () => {
  const wide = defineWorkflow('wide')
    .each('many', work, { over: () => Array(50).fill(0), payload: ({ index }) => ({ name: `${index}` }) })
    .step('last', work, { ...named('last'), after: 'many' })
  await using t = await standing([wide as never])
  const { id } = await t.millrace.workflows.start(wide)
  const ends = await t.claim()
  const told = ends.map((end) => ({ jobId: end.id, status: 'completed' as const, result: end.result, reason: null }))
  // From several sides at once, in other orders, and again.
  const parts = [told.slice(0, 25), told.slice(25), told.toReversed(), told.slice(10, 40)]
  const tell = () =>
    Promise.all(parts.map((part) => t.db.transaction((tx) => workflowSettle(tx, part, { isOwn: true }))))
  // Of those that live on nothing is believed: their fences did not hold.
  expect(await tell()).toEqual([[], [], [], []])
  await t.sql('delete from millrace.job')
  const due = await tell()
  expect(due.flat()).toEqual([{ id, name: 'wide' }])
  expect(await t.sql('select items_left, needs_advance from millrace.workflow_step where position = 1')).toEqual([
    { items_left: 0, needs_advance: true },
  ])
  const others = [1, 2, 3].map(() => Millrace.servicesOf(t.client([work, undo], { workflows: [wide] }) as never))
  // Nobody gets further than to the items until all of them are under way.
  const gate = await t.pool.connect()
  await gate.query('begin')
  await gate.query('lock table millrace.workflow_item in share mode')
  const advanced = [t.advancer, ...others.map(({ advancer }) => advancer)].map((each) => each.heard([id]))
  await eventually(async () => {
    const waiting = await t.sql(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return waiting.length === 4
  })
  await gate.query('commit')
  gate.release()
  await Promise.all(advanced)
  expect((await t.jobs()).filter(({ status }) => status === 'pending')).toHaveLength(1)
})

test('a workflow is forgotten as a whole when its retention is over, and erased with its jobs', async () => {
  const brief = defineWorkflow('brief', { retention: 'short', input: z.object({ who: z.string() }) }).step('a', work, {
    payload: ({ input }) => ({ name: input.who }),
    ...undone,
  })
  await using t = await running([brief, pair], { done: [] })
  const { id } = await t.workflows.start(brief, { who: 'bob' }, { tenant: 'acme' })
  const kept = await t.workflows.start(pair)
  await t.workflows.result(id)
  await t.workflows.result(kept.id)
  await t.millrace.erase({ tenant: 'acme', by: 'ann', reason: 'asked for it' })
  const rest = await t.sql(
    `select to_jsonb(w) || to_jsonb(i) as row from millrace.workflow w join millrace.workflow_item i on workflow_id = w.id where w.id = $1`,
    [id],
  )
  expect(JSON.stringify(rest)).not.toContain('bob')
  expect(await t.workflows.get(id)).toMatchObject({ input: { erased: true }, status: 'completed' })
  await t.sql(`update millrace.workflow set finished_at = finished_at - interval '25 hours'`)
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const keeper = new Housekeeper({ db, clock: systemClock, registry: new Registry([]) })
  expect(await keeper.tick()).toMatchObject({ workflowsForgotten: 1 })
  await db.close()
  expect(await t.workflows.get(id)).toBeUndefined()
  expect(await t.sql('select distinct workflow_id from millrace.workflow_item')).toEqual([{ workflow_id: kept.id }])
  expect(await t.sql('select distinct workflow_id from millrace.workflow_step')).toEqual([{ workflow_id: kept.id }])
})

test('results of sensitive types are stored encrypted and opened for the next step, and payloads for the undo', async () => {
  const secret = defineJob({
    type: 'secret',
    queue: queues.steps,
    payload: z.object({ token: z.string() }),
    result: z.object({ token: z.string() }),
    sensitive: ['token'],
  })
  const seen: string[] = []
  const flow = defineWorkflow('secrets')
    .step('a', secret, {
      payload: () => ({ token: 'tick' }),
      undo: { job: secret, payload: ({ payload, result }) => ({ token: `${payload.token} ${result.token}` }) },
    })
    .step('b', work, {
      after: 'a',
      payload: ({ results }) => {
        seen.push(results.a.token)
        throw new Error('that will do')
      },
    })
  await using t = await setup()
  const encryption = { keys: [{ id: 'k1', key: Buffer.alloc(32, 1) }] }
  const millrace = createMillrace({ database: t.url, jobs: [], workflows: [flow], encryption, logger: silent })
  const handlers = [
    implement(secret, ({ token }) => {
      seen.push(token)
      return { token: `${token}-tock` }
    }),
  ]
  await millrace.work({ handlers, lease: shortLease })
  const { id } = await millrace.workflows.start(flow)
  expect(await millrace.workflows.result(id)).toMatchObject({ status: 'rolled back' })
  expect(seen).toEqual(['tick', 'tick-tock', 'tick tick-tock'])
  const items = await t.sql('select payload, result from millrace.workflow_item')
  expect(JSON.stringify(items)).not.toContain('tick')
  await millrace.close()
})
