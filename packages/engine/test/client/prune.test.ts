import { chain, defineJob, defineQueues, InvalidDefinition, type PruneOptions } from 'millrace'
import { jobInState } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { statementsFor } from '#src/store/statements'
import { graveyard } from '../support/dead-letters.ts'

const queues = defineQueues({ work: {}, mail: {} })
const task = defineJob({ type: 'task', queue: queues.work, payload: z.object({}) })
const letter = defineJob({ type: 'letter', queue: queues.mail, payload: z.object({}) })
const by = 'ann'

async function setup() {
  const t = await graveyard()
  let nowMs = Date.now()
  const clock = { databaseNow: () => new Date(nowMs) }
  const millrace = t.client([task, letter], { clock })
  return Object.assign(t, {
    clock,
    millrace,
    ended: async (state: 'completed' | 'cancelled' | 'dead', contract: typeof task | typeof letter) =>
      (await jobInState(millrace, state, { contract, payload: {} })).id,
    left: async () => (await millrace.jobs()).map(({ id }) => id).reverse(),
    pass: (days: number) => {
      nowMs += days * 86_400_000
    },
  })
}

interface Plan {
  'Parent Relationship'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

/** Those that the statement read to choose its rows. */
function pagesOfChoice(plan: Plan): number {
  if (
    plan['Parent Relationship'] === 'InitPlan' &&
    plan.Plans?.every((each) => each['Parent Relationship'] !== 'InitPlan')
  )
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  return Math.max(0, ...(plan.Plans ?? []).map(pagesOfChoice))
}

describe('pruning archived jobs', () => {
  test('forgets those that ended long enough ago, of the types and statuses that were named', async () => {
    await using t = await setup()
    const old = await t.ended('completed', task)
    const cancelled = await t.ended('cancelled', task)
    const other = await t.ended('completed', letter)
    t.pass(2)
    const young = await t.ended('completed', task)
    const { id: live } = await t.millrace.enqueue(task, {})
    expect(await t.millrace.prune({ olderThan: '1d', types: ['task'], statuses: ['completed'], by })).toEqual({
      pruned: 1,
      isComplete: true,
    })
    expect(await t.left()).toEqual([cancelled, other, young, live])
    expect(await t.millrace.job(old)).toBeUndefined()
    expect(await t.millrace.prune({ olderThan: '1d', by })).toEqual({ pruned: 2, isComplete: true })
    expect(await t.left()).toEqual([young, live])
    expect(await t.millrace.audit.list({ action: 'job.prune' })).toMatchObject([
      { by, details: { pruned: 2, types: null } },
      { by, details: { pruned: 1, types: ['task'], statuses: ['completed'], olderThan: '1d' } },
    ])
  })

  test('leaves the letter of a dead one, and what can be redriven stays so', async () => {
    await using t = await setup()
    const dead = await t.ended('dead', task)
    t.pass(1)
    expect(await t.millrace.prune({ olderThan: 0, by })).toMatchObject({ pruned: 1 })
    const found = await t.millrace.deadLetters.ofJob(dead)
    expect(await t.millrace.deadLetters.redrive(found?.id as string, { by })).toMatchObject([{ status: 'redriven' }])
  })

  test('leaves the jobs of workflows, which go with their workflow', async () => {
    await using t = await setup()
    const flow = chain('flow', [task])
    const millrace = t.client([task], { workflows: [flow], clock: t.clock })
    const { id } = await millrace.workflows.start(flow, {})
    await millrace.workflows.cancel(id, { by })
    const [job] = await millrace.jobs({ status: 'cancelled' })
    t.pass(1)
    expect(job?.workflowId).toBe(id)
    expect(await millrace.prune({ olderThan: 0, by })).toEqual({ pruned: 0, isComplete: true })
  })

  test('reads as little with each batch as with the first, not what earlier ones have deleted', async () => {
    await using t = await setup()
    await t.sql(
      `insert into millrace.job_archive (id, status, type, queue, priority, attempt, max_attempts, crashes, payload_version,
         run_at, created_at, started_at, finished_at, retention, payload)
       select g, 'completed', 'task', 'work', 5, 1, 5, 0, 1, now(), now(), now(), now(), 'standard', '{}'
       from generate_series(1, 20500) as g`,
    )
    await t.sql('analyze millrace.job_archive')
    const batch = async (n: number) => {
      const statement = statementsFor('millrace').jobArchivePrune
      const [row] = await t.sql<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, buffers, format json) ${statement}`,
        [t.clock.databaseNow(), 0, null, ['completed'], 500, n * 500],
      )
      return pagesOfChoice(row?.['QUERY PLAN'][0].Plan as Plan)
    }
    t.pass(1)
    const first = await batch(0)
    for (let n = 1; n < 19; n++) await batch(n)
    expect(await batch(19)).toBeLessThan(3 * first)
    expect(await t.millrace.prune({ olderThan: 0, by })).toEqual({ pruned: 10_500, isComplete: true })
    expect(await t.left()).toEqual([])
  })

  test('stops when it is asked to, and refuses what it does not understand', async () => {
    await using t = await setup()
    await t.ended('completed', task)
    t.pass(2)
    expect(await t.millrace.prune({ olderThan: '1d', by, signal: AbortSignal.abort() })).toEqual({
      pruned: 0,
      isComplete: false,
    })
    const wrong = { olderThan: '1d', by, statuses: ['pending'] } as unknown as PruneOptions
    await expect(t.millrace.prune(wrong)).rejects.toThrow('statuses names "pending": expected some of completed')
    await expect(t.millrace.prune({ olderThan: '1d', by: '' })).rejects.toThrow(InvalidDefinition)
    expect(await t.left()).toHaveLength(1)
  })
})

describe('dead letters', () => {
  test('are pruned by the age of their decision or of the death, if they were resolved or ignored', async () => {
    await using t = await setup()
    const ids = await t.letters(t.millrace, task, [{}, {}, {}])
    const [resolved, ignored, pending] = ids as [string, string, string]
    await t.millrace.deadLetters.resolve(resolved, { by })
    await t.millrace.deadLetters.ignore(ignored, { by })
    await t.sql(`update millrace.dead_letter_jobs set died_at = died_at - interval '10 days'`)
    await t.sql(
      `update millrace.dead_letter_jobs set acknowledged_at = acknowledged_at - interval '9 days' where id = $1`,
      [resolved],
    )
    const { deadLetters } = t.millrace
    expect(await deadLetters.prune({ olderThan: '7d', by })).toEqual({ pruned: 1, isComplete: true })
    expect(await deadLetters.prune({ olderThan: '7d', since: 'death', by })).toEqual({ pruned: 1, isComplete: true })
    expect((await deadLetters.list()).map(({ id }) => id)).toEqual([pending])
    expect(await t.millrace.audit.list({ action: 'dead_letter.prune' })).toMatchObject([
      { by, details: { pruned: 1, since: 'death' } },
      { by, details: { pruned: 1, since: 'decision' } },
    ])
  })

  test('are counted by queue and tenant, and grouped within one', async () => {
    await using t = await setup()
    for (const tenant of ['a', 'a', 'b']) await jobInState(t.millrace, 'dead', { contract: task, payload: {}, tenant })
    await jobInState(t.millrace, 'dead', { contract: letter, payload: {} })
    const { deadLetters } = t.millrace
    const [newest] = await deadLetters.list({ tenant: 'a' })
    await deadLetters.resolve(newest?.id as string, { by })
    const some = expect.any(Date)
    const none = { retried: 0, resolved: 0, ignored: 0 }
    const counts = await deadLetters.counts()
    expect(counts).toHaveLength(3)
    expect(counts).toEqual(
      expect.arrayContaining([
        { ...none, queue: 'mail', tenant: null, pending: 1, oldestPendingAt: some },
        { ...none, queue: 'work', tenant: 'a', pending: 1, resolved: 1, oldestPendingAt: some },
        { ...none, queue: 'work', tenant: 'b', pending: 1, oldestPendingAt: some },
      ]),
    )
    expect(await deadLetters.groups({ tenant: 'b' })).toMatchObject([{ type: 'task', pending: 1 }])
    expect(await deadLetters.groups({ queue: 'mail' })).toMatchObject([{ type: 'letter', pending: 1 }])
    expect(await deadLetters.groups({ queue: 'mail', tenant: 'b' })).toEqual([])
  })
})
