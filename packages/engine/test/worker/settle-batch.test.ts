// Runs that end together are settled together. Whatever the others of the batch are, each must end as itself.
import fc from 'fast-check'
import { cancel, defineJob, defineQueues, discard, implement, type JobContext, type Millrace, snooze } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { asJson, awkwardText, storableJson } from '../support/arbitraries.ts'
import { latinDatabases } from '../support/database.ts'
import { setup as base, shortLease, signal } from '../support/setup.ts'

const queue = defineQueues({ default: { concurrency: 100 } }).default
const retentions = ['none', 'short', 'standard', 'long'] as const
type Retention = (typeof retentions)[number]
const contracts = retentions.map((retention) =>
  defineJob({ type: `kept-${retention}`, queue, payload: z.number(), retention }),
)
const contractOf = (retention: Retention) => contracts[retentions.indexOf(retention)] as (typeof contracts)[number]
const kept = contractOf('standard')
const ENDINGS = ['job_completed', 'job_cancelled', 'job_snoozed', 'job_retry_scheduled', 'job_died'] as const

type Ending = (n: number, ctx: JobContext) => unknown

/** A worker whose handlers all wait, and then end in one turn of the event loop, each as `ending` says. */
async function setup(database?: Parameters<typeof base>[0]) {
  const t = await base(database)
  let gate = signal()
  let ending: Ending = () => {}
  const millrace = t.client(contracts)
  const handlers = contracts.map((contract) =>
    implement(contract, async (n, ctx) => {
      await gate.promise
      return ending(n, ctx)
    }),
  )
  await millrace.work({ handlers, lease: shortLease, gracePeriod: '5s' })
  return {
    ...t,
    millrace,
    /** Enqueues each and waits until it runs: what is enqueued by another call is claimed by another claim. */
    async start(jobs: readonly { n: number; retention?: Retention }[]): Promise<string[]> {
      const running = times(millrace, ['job_started'], jobs.length)
      const results = await Promise.all(
        jobs.map(({ n, retention = 'standard' }) => millrace.enqueue(contractOf(retention), n)),
      )
      await running
      return results.map(({ id }) => id)
    },
    /** Lets all of them end. */
    release(how: Ending): void {
      ending = how
      gate.resolve()
      gate = signal()
    },
  }
}

function times(
  millrace: Millrace,
  names: readonly ((typeof ENDINGS)[number] | 'job_started' | 'job_fence_lost')[],
  count: number,
) {
  const done = signal()
  let seen = 0
  const offs = names.map((name) =>
    millrace.events.on(name, () => {
      if (++seen === count) done.resolve()
    }),
  )
  return done.promise.then(() => offs.forEach((off) => void off()))
}

const text = fc.oneof({ weight: 9, arbitrary: awkwardText }, { weight: 1, arbitrary: fc.constant('x'.repeat(60_000)) })
const value = fc.oneof(fc.constantFrom(undefined, null, '', 'null'), text, storableJson(4))
const outcome = fc.oneof(
  { weight: 6, arbitrary: value.map((result) => ({ kind: 'value' as const, result })) },
  { weight: 2, arbitrary: text.map((reason) => ({ kind: 'cancel' as const, reason })) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 3_600_000, max: 90_000_000 }).map((ms) => ({ kind: 'snooze' as const, ms })),
  },
  { weight: 1, arbitrary: text.map((reason) => ({ kind: 'throw' as const, reason })) },
  { weight: 1, arbitrary: text.map((reason) => ({ kind: 'discard' as const, reason })) },
)
type Outcome = typeof outcome extends fc.Arbitrary<infer Value> ? Value : never

function endAs(wanted: Outcome): unknown {
  switch (wanted.kind) {
    case 'value':
      return wanted.result
    case 'cancel':
      return cancel(wanted.reason)
    case 'snooze':
      return snooze(wanted.ms)
    case 'throw':
      throw new Error(wanted.reason)
    case 'discard':
      return discard(wanted.reason)
  }
}

const shortened = (message: string) => expect.stringContaining(message.slice(0, 500))

/** What the tables say of a job that ended so. */
function traceOf(wanted: Outcome, retention: Retention): object {
  const archived = (row: object) => ({ live: null, archive: retention === 'none' ? null : { retention, ...row } })
  switch (wanted.kind) {
    case 'value':
      return archived({
        status: 'completed',
        result: wanted.result === undefined ? undefined : asJson(wanted.result),
        reason: null,
      })
    case 'cancel':
      return archived({ status: 'cancelled', result: undefined, reason: wanted.reason })
    case 'snooze':
      return { archive: null, live: { status: 'pending', attempt: 0, wait_ms: wanted.ms, last_error: null } }
    case 'throw':
      return { archive: null, live: { status: 'pending', attempt: 1, last_error: shortened(wanted.reason) } }
    case 'discard':
      return archived({ status: 'dead', reason: 'discarded', result: undefined })
  }
}

async function traces(t: Awaited<ReturnType<typeof setup>>, ids: readonly string[]) {
  const live = await t.sql<{ id: string }>(
    `select id, status, attempt, last_error, (extract(epoch from run_at - updated_at) * 1000)::float8 as wait_ms
     from millrace.job where id = any($1)`,
    [ids],
  )
  const archive = await t.sql<{ id: string; result: string | null }>(
    `select id, status, retention, reason, result::text as result from millrace.job_archive where id = any($1)`,
    [ids],
  )
  expect(new Set(archive.map(({ id }) => id)).size, 'archived twice').toBe(archive.length)
  return ids.map((id) => {
    const ended = archive.find((row) => row.id === id)
    return {
      live: live.find((row) => row.id === id) ?? null,
      archive:
        ended === undefined ? null : { ...ended, result: ended.result === null ? undefined : JSON.parse(ended.result) },
    }
  })
}

describe('runs of several claims that end at once', () => {
  test('each end with their own status, result, reason and retention', async () => {
    await using t = await setup()
    const jobs = fc.array(fc.record({ outcome, retention: fc.constantFrom(...retentions) }), {
      minLength: 1,
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(jobs, async (wanted) => {
        const waves = [wanted.filter((_, n) => n % 3 === 0), wanted.filter((_, n) => n % 3 !== 0)]
        const order = waves.flat()
        const ids: string[] = []
        for (const wave of waves)
          if (wave.length > 0) ids.push(...(await t.start(wave.map((each) => ({ ...each, n: order.indexOf(each) })))))
        const ended = times(t.millrace, ENDINGS, order.length)
        t.release((n) => endAs((order[n] as (typeof order)[number]).outcome))
        await ended
        const seen = await traces(t, ids)
        order.forEach(({ outcome: { ...how }, retention }, i) => {
          expect(seen[i]).toMatchObject(traceOf(how, retention))
        })
        const letters = await t.sql<{ job_id: string; error_message: string }>(
          'select job_id, error_message from millrace.dead_letter_jobs where job_id = any($1)',
          [ids],
        )
        const discarded = order.flatMap(({ outcome: how }, i) => (how.kind === 'discard' ? [[ids[i], how.reason]] : []))
        expect(letters).toHaveLength(discarded.length)
        for (const [id, reason] of discarded)
          expect(letters.find(({ job_id }) => job_id === id)?.error_message).toEqual(shortened(reason as string))
        await t.sql('delete from millrace.job')
      }),
      { numRuns: 25 },
    )
  })

  test('of which some have lost their fence, lose those only', async () => {
    await using t = await setup()
    const ids = [
      ...(await t.start([0, 1, 2, 3, 4].map((n) => ({ n })))),
      ...(await t.start([5, 6, 7].map((n) => ({ n })))),
    ]
    const taken = [ids[1], ids[4], ids[6]] as string[]
    // Another worker, alive and well, runs them now.
    await t.sql(
      `with other as (
         insert into millrace.worker values (gen_random_uuid(), 'h', 1, '0', '{}', now(), now(), now() + interval '1 hour')
         returning id
       )
       update millrace.job set run_id = gen_random_uuid(), worker_id = other.id from other where job.id = any($1)`,
      [taken],
    )
    const lost: string[] = []
    t.millrace.events.on('job_fence_lost', ({ job }) => lost.push(job.id))
    const ended = times(t.millrace, ['job_completed', 'job_fence_lost'], ids.length)
    t.release((n) => ({ n }))
    await ended
    expect(lost.sort()).toEqual([...taken].sort())
    const seen = await traces(t, ids)
    ids.forEach((id, n) => {
      const isTaken = taken.includes(id)
      expect(seen[n]).toMatchObject(
        isTaken ? { live: { status: 'processing' }, archive: null } : { live: null, archive: { result: { n } } },
      )
    })
  })

  test('two of them of one job: the old one is told that its fence is lost, the new one completes', async () => {
    await using t = await setup()
    const first = t.millrace.events.next('job_started')
    const { id } = await t.millrace.enqueue(kept, 0)
    const old = (await first).job.runId
    // The worker itself rescues what it ran under its former id, and runs it again while the old handler still holds on.
    const second = t.millrace.events.next('job_started', ({ job }) => job.id === id)
    await t.sql('update millrace.worker set ended_at = now()')
    const { job } = await second
    const completed: string[] = []
    const lost: string[] = []
    t.millrace.events.on('job_completed', (event) => event.job.id === id && completed.push(event.job.runId))
    t.millrace.events.on('job_fence_lost', (event) => event.job.id === id && lost.push(event.job.runId))
    const neighbours = await t.start([{ n: 1 }, { n: 2 }])
    const all = times(t.millrace, ['job_completed', 'job_fence_lost'], 4)
    t.release((_, ctx) => ctx.runId)
    await all
    const rows = await t.sql('select id, run_id, result from millrace.job_archive where id = $1', [id])
    expect(rows).toEqual([{ id, run_id: job.runId, result: job.runId }])
    expect((await traces(t, neighbours)).map(({ archive }) => archive)).toMatchObject([
      { status: 'completed' },
      { status: 'completed' },
    ])
    expect({ completed, lost }).toEqual({ completed: [job.runId], lost: [old] })
  })

  test('more than one statement takes are all settled, once', async () => {
    await using t = await base()
    const gate = signal()
    const { millrace } = await t.working([implement(kept, (n) => gate.promise.then(() => ({ n })))], {
      concurrency: { default: 2_300 },
    })
    const started = times(millrace, ['job_started'], 2_300)
    const completed = times(millrace, ['job_completed'], 2_300)
    const results = await millrace.enqueueMany(
      kept,
      Array.from({ length: 2_300 }, (_, n) => n),
    )
    await started
    gate.resolve()
    await completed
    const rows = await t.sql<{ id: string; n: number }>(
      `select id, (result->>'n')::int as n from millrace.job_archive order by n`,
    )
    expect(rows).toEqual(results.map(({ id }, n) => ({ id, n })))
    expect(await t.sql('select from millrace.job')).toEqual([])
  })
})

describe('an outcome in the batch that Postgres refuses', () => {
  const FOREIGN = 'snow ☃ 日本'

  test('is written with less, and its neighbours as they are', async () => {
    await using latin = await latinDatabases()
    await using t = await setup(latin.fresh())
    const outcomes: Record<number, Outcome> = {
      3: { kind: 'value', result: FOREIGN },
      7: { kind: 'cancel', reason: FOREIGN },
      11: { kind: 'throw', reason: FOREIGN },
      12: { kind: 'discard', reason: FOREIGN },
    }
    const wanted = Array.from({ length: 30 }, (_, n): Outcome => {
      if (n % 5 === 4) return { kind: 'cancel', reason: `réason ${n}` }
      return outcomes[n] ?? { kind: n % 6 === 5 ? 'throw' : 'value', result: { é: n }, reason: `fäult ${n}` }
    })
    const ids = await t.start(wanted.map((_, n) => ({ n })))
    const ended = times(t.millrace, ENDINGS, ids.length)
    t.release((n) => endAs(wanted[n] as Outcome))
    await ended
    const seen = await traces(t, ids)
    wanted.forEach((how, n) => {
      if (!(n in outcomes)) expect(seen[n]).toMatchObject(traceOf(how, 'standard'))
    })
    const reason = 'result could not be stored'
    expect(seen[3]?.archive).toMatchObject({ status: 'completed', result: undefined, reason })
    expect(seen[7]?.archive).toMatchObject({ status: 'cancelled', reason })
    const refused = expect.stringContaining('Postgres refused to store the outcome')
    expect(seen[11]?.live).toMatchObject({ status: 'pending', attempt: 1, last_error: refused })
    expect(seen[12]?.archive).toMatchObject({ status: 'dead', reason: 'discarded' })
    expect(await t.sql('select job_id, error_message from millrace.dead_letter_jobs')).toEqual([
      { job_id: ids[12], error_message: refused },
    ])
  })

  test('with a NUL in the reason of a cancellation is written without it', async () => {
    await using t = await setup()
    const ids = await t.start([0, 1, 2].map((n) => ({ n })))
    const ended = times(t.millrace, ENDINGS, 3)
    t.release((n) => (n === 1 ? cancel('a\u0000b') : { n }))
    await ended
    const seen = await traces(t, ids)
    expect(seen.map(({ archive }) => archive?.result)).toEqual([{ n: 0 }, undefined, { n: 2 }])
    expect(seen[1]?.archive).toMatchObject({ status: 'cancelled', reason: 'result could not be stored' })
  })
})
