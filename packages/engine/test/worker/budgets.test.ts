// Budgets as handlers and operators meet them: on a worker, in tests that run jobs inline, and in isolated processes.
import {
  BudgetExceeded,
  defineBudget,
  defineJob,
  defineQueues,
  type Handler,
  InvalidDefinition,
  implement,
  type MillraceEvents,
} from 'millrace'
import { drain, fakeClock, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

const { main } = defineQueues({ main: {} })
const ai = defineBudget('ai-tagging', { limit: 1_000, per: 'month', unit: 'cents' })
const tag = defineJob({ type: 'tag', queue: main, payload: z.looseObject({}), budget: ai })
const limited = defineJob({
  type: 'limited',
  queue: main,
  payload: z.object({}),
  budget: ai,
  keyLimit: { key: () => 'api', concurrency: 1 },
})
const plain = defineJob({ type: 'plain', queue: main, payload: z.object({}) })
const START = '2026-11-15T12:34:56.000Z'

const spent = (amount: number) =>
  `insert into millrace.budget_period (budget, period, spent, updated_at) values ('ai-tagging', '2026-11', ${amount}, now())`

/** A client at a fixed time, whose jobs are run inline. */
async function inline(handler: Handler<typeof tag>, spentBefore = 0) {
  const t = await setup()
  const clock = fakeClock(START)
  const millrace = t.client([tag, limited, plain], { clock })
  if (spentBefore > 0) await t.sql(spent(spentBefore))
  const heard: { [Name in 'budget_hold' | 'budget_hard_stop' | 'budget_threshold']: MillraceEvents[Name][] } = {
    budget_hold: [],
    budget_hard_stop: [],
    budget_threshold: [],
  }
  for (const name of ['budget_hold', 'budget_hard_stop', 'budget_threshold'] as const)
    millrace.events.on(name, (event) => heard[name].push(event as never))
  const implementation = implement(tag, handler)
  return { ...t, millrace, clock, heard, implementation, run: () => runJob(implementation, {}, { millrace }) }
}

test.each([
  [0, 'NORMAL', 1_000],
  [749, 'NORMAL', 251],
  [750, 'REDUCE', 250],
  [899, 'REDUCE', 101],
])('with %i cents spent the handler runs at %s and has %i left', async (before, level, remaining) => {
  await using t = await inline((_, { budget }) => {
    const { name, unit, period, used, limit } = budget
    return { name, unit, period, used, limit, level: budget.level, remaining: budget.remaining }
  }, before)
  expect(await t.run()).toMatchObject({
    outcome: 'completed',
    result: { name: 'ai-tagging', unit: 'cents', period: '2026-11', used: before, limit: 1_000, level, remaining },
  })
})

test('from 90 % on a job waits for the next full hour, loses no attempt, and its handler is not called', async () => {
  await using t = await inline(() => expect.unreachable(), 900)
  const run = await t.run()
  expect(run).toMatchObject({ outcome: 'snoozed', delayMs: 25 * 60_000 + 4_000 })
  expect(await t.millrace.job(run.job.id)).toMatchObject({ status: 'pending', attempt: 0, lastError: null })
  expect((await t.millrace.job(run.job.id))?.runAt).toEqual(new Date('2026-11-15T13:00:00.000Z'))
})

test('a job that waits looks again each hour, and runs at once when the limit is raised', async () => {
  await using t = await inline(() => 'ran', 950)
  await t.millrace.enqueue(tag, {})
  const runs = await drain(t.millrace, [t.implementation], { advance: '1h' })
  expect(runs.map(({ outcome }) => outcome)).toEqual(['snoozed', 'snoozed'])
  await t.millrace.budgets.adjust('ai-tagging', { limit: 2_000, by: 'ops' })
  const after = await drain(t.millrace, [t.implementation])
  expect(after.map(({ outcome }) => outcome)).toEqual(['completed'])
  expect(await t.sql('select from millrace.budget_hold')).toEqual([])
})

test('a job with a limited key runs at once, too, when the limit is raised', async () => {
  await using t = await inline(() => 'ran', 950)
  const implementations = [implement(limited, () => 'ran')]
  const { id } = await t.millrace.enqueue(limited, {})
  await drain(t.millrace, implementations)
  expect(await t.millrace.job(id)).toMatchObject({ status: 'blocked', runAt: new Date('2026-11-15T13:00:00.000Z') })
  await t.millrace.budgets.adjust('ai-tagging', { limit: 2_000, by: 'ops' })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'pending', runAt: new Date(START) })
  expect((await drain(t.millrace, implementations)).map(({ outcome }) => outcome)).toEqual(['completed'])
})

test('a raise that cannot free the waiting jobs is set all the same, and listeners hear of the failure', async () => {
  await using t = await inline(() => 'ran', 950)
  const failed: MillraceEvents['database_error'][] = []
  t.millrace.events.on('database_error', (event) => failed.push(event))
  await t.run()
  await t.sql(`create function public.refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`)
  await t.sql(
    'create trigger refuse before delete on millrace.budget_hold for each row execute function public.refuse()',
  )
  expect(await t.millrace.budgets.adjust('ai-tagging', { limit: 2_000, by: 'ops' })).toMatchObject({ limit: 2_000 })
  expect(failed).toMatchObject([{ during: 'make jobs due that wait for a budget', error: { message: 'not now' } }])
})

test('a raise locks the waiting jobs in the order of their ids, as other changes of waiting jobs do', async () => {
  await using t = await inline(() => 'ran', 950)
  const { id: first } = (await t.run()).job
  const { id: second } = (await t.run()).job
  // The rows of the first job are now the last ones in their tables.
  await t.sql(`update millrace.job set updated_at = updated_at where id = ${first}`)
  await t.sql(`with moved as (delete from millrace.budget_hold where job_id = ${first} returning *)
    insert into millrace.budget_hold select * from moved`)
  const other = await t.pool.connect()
  await other.query('begin')
  await other.query('select from millrace.job where id = $1 for no key update', [first])
  const raised = t.millrace.budgets.adjust('ai-tagging', { limit: 2_000, by: 'ops' })
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  await eventually(async () => (await t.sql(waiting)).length > 0)
  const locked = await other.query('select from millrace.job where id = $1 for no key update skip locked', [second])
  await other.query('rollback')
  other.release()
  await raised
  expect(locked.rowCount).toBe(1)
  expect((await drain(t.millrace, [t.implementation])).map(({ outcome }) => outcome)).toEqual([
    'completed',
    'completed',
  ])
})

test('a raise that is too small, or one of another period, leaves jobs waiting, and so are jobs that wait for something else', async () => {
  await using t = await inline(() => 'ran', 950)
  const { id: held } = await t.millrace.enqueue(tag, {})
  const { id: delayed } = await t.millrace.enqueue(tag, {}, { delay: '30m' })
  await drain(t.millrace, [t.implementation])
  const dueAt = async (id: string) => (await t.millrace.job(id))?.runAt.toISOString().slice(11, 19)
  await t.millrace.budgets.adjust('ai-tagging', { limit: 1_001, by: 'ops' })
  await t.millrace.budgets.adjust('ai-tagging', { limit: 9_000, by: 'ops', period: '2026-12' })
  expect(await dueAt(held)).toBe('13:00:00')
  await t.millrace.budgets.adjust('ai-tagging', { limit: 2_000, by: 'ops' })
  expect([await dueAt(held), await dueAt(delayed)]).toEqual(['12:34:56', '13:04:56'])
})

test('listeners hear of every job that its budget holds', async () => {
  await using t = await inline(() => expect.unreachable(), 900)
  const { id } = (await t.run()).job
  expect(t.heard.budget_hold).toMatchObject([
    { job: { id }, budget: { budget: 'ai-tagging', unit: 'cents', used: 900, limit: 1_000, level: 'QUEUE' } },
  ])
  expect(t.heard.budget_hard_stop).toEqual([])
})

test('a reservation that does not fit now holds the job until the limit is raised', async () => {
  await using t = await inline(async (_, { budget }) => void (await budget.reserve(600)), 500)
  await t.millrace.enqueue(tag, {})
  expect((await drain(t.millrace, [t.implementation])).map(({ outcome }) => outcome)).toEqual(['snoozed'])
  expect(t.heard.budget_hold).toMatchObject([{ budget: { amount: 600 } }])
  await t.millrace.budgets.adjust('ai-tagging', { limit: 2_000, by: 'ops' })
  expect((await drain(t.millrace, [t.implementation])).map(({ outcome }) => outcome)).toEqual(['completed'])
})

test('at 100 % a job is cancelled with the reason, once and for all, and listeners hear of it', async () => {
  await using t = await inline(() => expect.unreachable(), 1_000)
  const run = await t.run()
  expect(run).toMatchObject({
    outcome: 'cancelled',
    reason: expect.stringMatching(
      /Budget "ai-tagging" has used 1000 of 1000 cents in 2026-11 \(HARD_STOP\).*not retried/,
    ),
  })
  expect(await t.millrace.job(run.job.id)).toMatchObject({
    status: 'cancelled',
    reason: expect.stringMatching(/HARD_STOP/),
  })
  expect(await t.millrace.deadLetters.list()).toEqual([])
  expect(t.heard.budget_hard_stop).toMatchObject([
    { job: { id: run.job.id }, budget: { budget: 'ai-tagging', used: 1_000, limit: 1_000, level: 'HARD_STOP' } },
  ])
})

test('only types that are charged to the budget are held, not their queue', async () => {
  await using t = await inline(() => expect.unreachable(), 1_000)
  expect(
    await runJob(
      implement(plain, () => 'ran'),
      {},
      { millrace: t.millrace },
    ),
  ).toMatchObject({ result: 'ran' })
})

test('the next month nothing is spent', async () => {
  await using t = await inline((_, { budget }) => budget.period, 1_000)
  t.clock.moveTo('2026-12-01T00:00:00Z')
  expect(await t.run()).toMatchObject({ outcome: 'completed', result: '2026-12' })
})

test('what a handler reserves is kept until it is spent or released, and the rest is free again', async () => {
  await using t = await inline(async (_, { budget }) => {
    const stands = () => [budget.used, budget.remaining, budget.level]
    const seen: unknown[] = [stands()]
    const first = await budget.reserve(800)
    seen.push(stands())
    await first.spend(300, { calls: 20 })
    seen.push(stands())
    const second = await budget.reserve(100)
    await second.release()
    await second.release()
    await budget.spend(10)
    seen.push(stands())
    await expect(second.spend(1)).rejects.toThrow(/spent or released before/)
    await expect(budget.spend(0.5)).rejects.toThrow(InvalidDefinition)
    seen.push((await budget.refresh()).spent)
    await budget.reserve(50)
    return seen
  })
  expect(await t.run()).toMatchObject({
    result: [[0, 1_000, 'NORMAL'], [800, 200, 'REDUCE'], [300, 700, 'NORMAL'], [310, 690, 'NORMAL'], 310],
  })
  // The last reservation was forgotten by its handler; it ended with the run.
  expect(await t.sql('select from millrace.budget_reservation')).toEqual([])
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({ spent: 310, reserved: 0 })
})

test.each([
  ['waits, if it might fit later', 500, 501, 'snoozed'],
  ['is cancelled, if it never can', 500, 1_001, 'cancelled'],
])('a job whose reservation does not fit %s', async (_, before, amount, outcome) => {
  await using t = await inline(async (_, { budget }) => void (await budget.reserve(amount)), before)
  const run = await t.run()
  expect(run.outcome).toBe(outcome)
  expect(t.heard.budget_hard_stop.length).toBe(outcome === 'cancelled' ? 1 : 0)
})

test('a handler that catches the refusal goes on', async () => {
  await using t = await inline(async (_, { budget }) => {
    try {
      await budget.reserve(600)
      return 'reserved'
    } catch (error) {
      return error instanceof BudgetExceeded ? { level: error.level, amount: error.amount } : 'other'
    }
  }, 500)
  expect(await t.run()).toMatchObject({ outcome: 'completed', result: { level: 'QUEUE', amount: 600 } })
})

test('what was spent counts although the attempt failed', async () => {
  await using t = await inline(async (_, { budget }) => {
    await budget.spend(40)
    throw new Error('later')
  })
  expect(await t.run()).toMatchObject({ outcome: 'retry' })
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({ spent: 40 })
})

test('what is spent in ctx.transaction counts exactly if that commits, and its thresholds are told then', async () => {
  let isFirst = true
  await using t = await inline((_, ctx) =>
    ctx.transaction(async (tx) => {
      await ctx.budget.spend(800, { tx })
      if (!isFirst) return 'done'
      isFirst = false
      throw new Error('rolled back')
    }),
  )
  expect(await t.run()).toMatchObject({ outcome: 'retry' })
  expect([await t.millrace.budgets.get('ai-tagging'), t.heard.budget_threshold]).toMatchObject([{ spent: 0 }, []])
  expect(await t.run()).toMatchObject({ outcome: 'completed' })
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({ spent: 800 })
  expect(t.heard.budget_threshold.map(({ threshold }) => threshold)).toEqual([75, 80])
})

test('usage is by type and by who had the job enqueued', async () => {
  await using t = await inline((_, { budget }) => budget.spend(30, { calls: 3 }))
  for (const createdBy of ['ann', 'ann', 'bob']) await runJob(t.implementation, {}, { millrace: t.millrace, createdBy })
  await t.run()
  expect(await t.millrace.budgets.usage('ai-tagging')).toMatchObject([
    { type: 'tag', createdBy: 'ann', amount: 60, calls: 6 },
    { type: 'tag', createdBy: 'bob', amount: 30, calls: 3 },
    { type: 'tag', createdBy: null, amount: 30, calls: 3 },
  ])
  expect(await t.millrace.budgets.usage('ai-tagging', { period: '2026-10' })).toEqual([])
})

test('a run without a database refuses ctx.budget, and a type without a budget has none', async () => {
  await expect(
    runJob(
      implement(tag, (_, { budget }) => budget.used),
      {},
    ),
  ).rejects.toThrow(/used ctx.budget, and this run has no database.*\{ millrace \}/)
  await using t = await inline(() => {})
  const report = await runJob(
    implement(plain, (_, ctx) => ctx.budget.used),
    {},
    { millrace: t.millrace },
  )
  expect(report).toMatchObject({ failure: { message: expect.stringMatching(/"plain" is charged to no budget/) } })
})

test('a worker holds, lets run and cancels as an inline run does, and its dead runs keep nothing', async () => {
  await using t = await setup()
  const inHandler = signal()
  const { millrace, worker } = await t.working(
    [
      implement(tag, async (_, { budget, signal }) => {
        await budget.reserve(950)
        inHandler.resolve()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    ],
    { gracePeriod: 0 },
  )
  const first = await millrace.enqueue(tag, {})
  await inHandler.promise
  expect(await millrace.budgets.get('ai-tagging')).toMatchObject({ reserved: 950, level: 'QUEUE' })
  const second = await millrace.enqueue(tag, {})
  expect((await jobEvent(millrace, 'job_snoozed', second.id)).delayMs).toBeLessThanOrEqual(3_600_000)
  await millrace.budgets.adjust('ai-tagging', { limit: 0, by: 'ops' })
  const third = await millrace.enqueue(tag, {})
  expect((await jobEvent(millrace, 'job_cancelled', third.id)).reason).toMatch(/HARD_STOP/)
  await worker.stop()
  expect(await millrace.job(first.id)).toMatchObject({ status: 'pending', attempt: 0 })
  expect(await millrace.budgets.get('ai-tagging')).toMatchObject({ reserved: 0 })
})

test('an isolated handler has the same budget, and cannot put it into a transaction', async () => {
  await using t = await setup()
  const module = new URL('./fixtures/spends.js', import.meta.url)
  const { millrace } = await t.working([implement(tag, { isolation: 'process', module })])
  const done = async (does: string) => {
    const { id } = await millrace.enqueue(tag, { does }, { createdBy: 'ann' })
    return eventually(async () => {
      const job = await millrace.job(id)
      return (job?.attempt === 0 && job.runAt > new Date() && job.runId !== null) || job?.finishedAt ? job : undefined
    })
  }
  expect(await done('spends')).toMatchObject({
    status: 'completed',
    result: { before: [0, 'NORMAL'], reserved: [800, 200], after: 150, refused: 'BudgetExceeded' },
  })
  expect(await millrace.budgets.usage('ai-tagging')).toMatchObject([{ createdBy: 'ann', amount: 150, calls: 2 }])
  expect(await done('in-tx')).toMatchObject({ result: expect.stringMatching(/isolated.*cannot be part of \{ tx \}/) })
  expect(await done('exceeds')).toMatchObject({ status: 'pending', attempt: 0, lastError: null })
  await millrace.budgets.adjust('ai-tagging', { limit: 150, by: 'ops' })
  expect(await done('spends')).toMatchObject({ status: 'cancelled', reason: expect.stringMatching(/HARD_STOP/) })
  // What was reserved before the process died is free again.
  await millrace.budgets.adjust('ai-tagging', { limit: 1_000, by: 'ops' })
  const { id } = await millrace.enqueue(tag, { does: 'dies' }, { maxAttempts: 1 })
  await jobEvent(millrace, 'job_died', id)
  expect(await millrace.budgets.get('ai-tagging')).toMatchObject({ spent: 150, reserved: 0 })
})
