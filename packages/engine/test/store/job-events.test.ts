// What is kept of each transition, statement by statement.

import fc from 'fast-check'
import { cancel, defineJob, defineQueues, fixed, implement, type JobContext, snooze, Unrecoverable } from 'millrace'
import { drain, fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Database } from '#src/store/db'
import { jobReleaseRun } from '#src/store/job-claims'
import { giveBack, settle } from '#src/store/settlements'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ watched: { history: 'full' }, plain: {} })
const payload = z.looseObject({})
const retry = { attempts: 2, backoff: fixed('1m') }
const watched = defineJob({ type: 'watched', queue: queues.watched, payload, retry })
const ordered = defineJob({ type: 'ordered', queue: queues.watched, payload, order: { key: () => 'k' } })
const debounced = defineJob({
  type: 'debounced',
  queue: queues.watched,
  payload,
  dedupe: { key: () => 'k', mode: 'debounce', wait: '1m' },
})
const latest = defineJob({ type: 'latest', queue: queues.watched, payload, dedupe: { key: () => 'k', mode: 'latest' } })
const plain = defineJob({ type: 'plain', queue: queues.plain, payload })
const contracts = [watched, ordered, debounced, latest, plain]

type Handling = (payload: object, ctx: JobContext) => unknown

async function watching() {
  const t = await setup()
  const clock = fakeClock('2026-01-01T00:00:00Z')
  const millrace = t.client(contracts, { clock })
  for (const { type } of contracts.slice(0, -1)) await millrace.historySettings.on(type, { by: 'test' })
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  return {
    ...t,
    clock,
    db,
    millrace,
    run: (handler: Handling = () => {}) =>
      drain(
        millrace,
        contracts.map((contract) => implement(contract, handler)),
      ),
    /** "event from → to" of each. */
    told: async (id: string) =>
      (await millrace.history(id)).map(({ event, fromStatus, toStatus }) => `${event}: ${fromStatus} → ${toStatus}`),
    /** Jobs whose events do not begin with their enqueue, do not follow each other, or do not end where the job stands. */
    broken: () =>
      t.sql(`
        select job_id, array_agg(event order by id) as events
        from (
          select job_event.*, lag(to_status) over jobs as before, lead(id) over jobs is null as is_last,
            coalesce((select status from millrace.job where job.id = job_id),
              (select status from millrace.job_archive where job_archive.id = job_id)) as stands
          from millrace.job_event
          window jobs as (partition by job_id order by id)
        ) as event
        group by job_id
        having bool_or((before is null) <> (event = 'enqueued') or from_status <> before or is_last and to_status <> stands)`),
    /** As a claim leaves it. */
    claim: async (id: string) => {
      const [row] = await t.sql<{ run: string; worker: string }>(
        `update millrace.job set status = 'processing', attempt = attempt + 1, run_id = gen_random_uuid(),
           worker_id = gen_random_uuid() where id = $1 returning run_id as run, worker_id as worker`,
        [id],
      )
      return row as { run: string; worker: string }
    },
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

describe('the history of a job', () => {
  test('tells of its enqueue, its runs, its retry and its end', async () => {
    await using t = await watching()
    const { id } = await t.millrace.enqueue(watched, {}, { createdBy: 'web' })
    const failing: Handling = (_, ctx) => {
      if (ctx.attempt === 1) throw new Error('no')
    }
    await t.run(failing)
    t.clock.advance('1m')
    await t.run(failing)
    expect(await t.told(id)).toEqual([
      'enqueued: null → pending',
      'claimed: pending → processing',
      'retried: processing → pending',
      'claimed: pending → processing',
      'completed: processing → completed',
    ])
    const [enqueued, claimed, retried, again, completed] = await t.millrace.history(id)
    expect(enqueued).toMatchObject({ at: new Date('2026-01-01T00:00:00Z'), by: 'web', attempt: 0, runId: null })
    expect(claimed).toMatchObject({ attempt: 1, runId: expect.any(String), workerId: expect.any(String) })
    expect(retried).toMatchObject({ attempt: 1, runId: claimed?.runId, dueAt: new Date('2026-01-01T00:01:00Z') })
    expect(again?.runId).not.toBe(claimed?.runId)
    expect(completed).toMatchObject({ attempt: 2, runId: again?.runId, at: new Date('2026-01-01T00:01:00Z') })
  })

  test('tells of a snooze, a cancellation from inside, a death, and of a redrive as of a new job', async () => {
    await using t = await watching()
    const [snoozed, cancelled, dead] = (await t.millrace.enqueueMany(watched, [{ n: 1 }, { n: 2 }, { n: 3 }])).map(
      ({ id }) => id,
    ) as [string, string, string]
    await t.run((job) => {
      const { n } = job as { n: number }
      if (n === 3) throw new Unrecoverable('hopeless')
      return n === 1 ? snooze('1h') : cancel('not needed')
    })
    expect((await t.told(snoozed)).at(-1)).toBe('snoozed: processing → pending')
    expect((await t.millrace.history(cancelled)).at(-1)).toMatchObject({
      event: 'cancelled',
      fromStatus: 'processing',
      detail: 'not needed',
    })
    expect((await t.millrace.history(dead)).at(-1)).toMatchObject({ event: 'dead', detail: 'unrecoverable' })
    const redriven = (await t.millrace.retry(dead, { by: 'ops' })) as { jobId: string }
    expect(await t.millrace.history(redriven.jobId)).toMatchObject([{ event: 'enqueued', by: 'ops' }])
  })

  test('tells of what people did: made due, prioritised, cancelled while it waited', async () => {
    await using t = await watching()
    const { id } = await t.millrace.enqueue(watched, {}, { delay: '1h' })
    await t.millrace.prioritise(id, 1, { by: 'ann' })
    await t.sql('update millrace.job set priority = 0 where id = $1', [id])
    await t.millrace.runNow(id, { by: 'ann' })
    await t.millrace.runNow(id, { by: 'ann' })
    await t.millrace.cancel(id, { by: 'ann', reason: 'changed my mind' })
    expect(await t.millrace.history(id)).toMatchObject([
      { event: 'enqueued' },
      { event: 'prioritised', by: 'ann', detail: '5 to 1', fromStatus: 'pending', toStatus: 'pending' },
      { event: 'boosted', by: null, detail: '1 to 0' },
      { event: 'made_due', by: 'ann', dueAt: new Date('2026-01-01T00:00:00Z') },
      { event: 'cancelled', by: 'ann', fromStatus: 'pending', detail: 'changed my mind', runId: null },
    ])
  })

  test('tells of an order key that blocks and admits, and what became of a blocked job', async () => {
    await using t = await watching()
    const { id: first } = await t.millrace.enqueue(ordered, {})
    const { id: second } = await t.millrace.enqueue(ordered, {})
    await t.millrace.cancel(second, { by: 'ann', reason: 'no' })
    expect(await t.told(first)).toEqual(['enqueued: null → blocked', 'admitted: blocked → pending'])
    expect(await t.told(second)).toEqual(['enqueued: null → blocked', 'cancelled: blocked → cancelled'])
  })

  test('tells of a job that a newer enqueue replaced, put off or superseded', async () => {
    await using t = await watching()
    const { id } = await t.millrace.enqueue(debounced, { n: 1 })
    t.clock.advance('10s')
    await t.millrace.enqueue(debounced, { n: 2 }, { createdBy: 'web' })
    t.clock.advance('10s')
    await t.millrace.enqueue(debounced, { n: 2 })
    expect((await t.millrace.history(id)).map(({ event, by }) => [event, by])).toEqual([
      ['enqueued', null],
      ['replaced', 'web'],
      ['put_off', null],
    ])
    const { id: older } = await t.millrace.enqueue(latest, {})
    await t.claim(older)
    await t.sql('update millrace.job set started_at = now() where id = $1', [older])
    await t.millrace.enqueue(latest, {})
    expect((await t.millrace.history(older)).at(-1)).toMatchObject({ event: 'cancel_requested', detail: 'superseded' })
  })

  test('tells a give-back and a lost claim from a rescue, and a request to stop', async () => {
    await using t = await watching()
    const { id } = await t.millrace.enqueue(watched, {})
    const first = await t.claim(id)
    await settle(t.db, null, [giveBack({ id, runId: first.run })])
    const second = await t.claim(id)
    await jobReleaseRun(t.db, null, { workerId: second.worker, runId: second.run })
    const third = await t.claim(id)
    await settle(t.db, null, [{ ...giveBack({ id, runId: third.run }), crash: 'count' }])
    await t.claim(id)
    await t.millrace.cancel(id, { by: 'ann', reason: 'please' })
    const events = await t.millrace.history(id)
    expect(events.filter(({ event }) => event !== 'claimed')).toMatchObject([
      { event: 'enqueued' },
      { event: 'given_back', runId: first.run, workerId: first.worker, attempt: 1 },
      { event: 'given_back', runId: second.run },
      { event: 'rescued', runId: third.run, workerId: third.worker },
      { event: 'cancel_requested', detail: 'please', fromStatus: 'processing', toStatus: 'processing' },
    ])
  })

  test('is a chain from nothing to where the job stands, whatever is done to it', async () => {
    await using t = await watching()
    const fates = fc.constantFrom('ok', 'fail', 'snooze', 'cancel', 'die', 'never claimed')
    const acts = fc.constantFrom('prioritise', 'runNow', 'cancel', 'advance', 'drain', 'nothing')
    const job = fc.record({ isOrdered: fc.boolean(), fate: fates, acts: fc.array(acts, { maxLength: 4 }) })
    const outcome: Handling = (job, ctx) => {
      const { fate } = job as { fate: string }
      if (fate === 'fail' && ctx.attempt === 1) throw new Error('no')
      if (fate === 'die') throw new Unrecoverable('no')
      if (fate === 'snooze' && Math.random() < 0.5) return snooze('1m')
      return fate === 'cancel' ? cancel('no') : undefined
    }
    await fc.assert(
      fc.asyncProperty(fc.array(job, { minLength: 1, maxLength: 4 }), async (jobs) => {
        for (const { isOrdered, fate, acts } of jobs) {
          const options = fate === 'never claimed' ? { delay: '10m' as const } : {}
          const { id } = await t.millrace.enqueue(isOrdered ? ordered : watched, { fate }, options)
          for (const act of acts) {
            if (act === 'prioritise') await t.millrace.prioritise(id, 2, { by: 'ann' })
            if (act === 'runNow') await t.millrace.runNow(id, { by: 'ann' })
            if (act === 'cancel') await t.millrace.cancel(id, { by: 'ann' })
            if (act === 'advance') t.clock.advance('1m')
            if (act === 'drain') await t.run(outcome)
          }
        }
        await t.run(outcome)
        expect(await t.broken()).toEqual([])
      }),
      { numRuns: 15 },
    )
  })

  test('is that of its type alone, for statements that write several', async () => {
    await using t = await watching()
    const { id } = await t.millrace.enqueue(plain, {})
    await t.run()
    expect(await t.millrace.history(id)).toEqual([])
    expect(await t.millrace.history('nonsense')).toEqual([])
  })

  test('loses people’s words with what its job carried', async () => {
    await using t = await watching()
    const { id } = await t.millrace.enqueue(watched, {})
    await t.millrace.cancel(id, { by: 'ann', reason: 'Ann asked' })
    await t.millrace.erase({ ids: [id], by: 'ops', reason: 'asked' })
    expect((await t.millrace.history(id)).map(({ detail }) => detail)).toEqual([null, '[erased]'])
  })

  test('is kept for thirty days, and never in the way of an enqueue for which nobody has made a partition', async () => {
    await using t = await watching()
    const { id } = await t.millrace.enqueue(watched, {})
    t.clock.advance('20d')
    const { id: later } = await t.millrace.enqueue(watched, {})
    expect(await t.millrace.history(later)).toMatchObject([{ at: new Date('2026-01-21T00:00:00Z') }])
    const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry(contracts) })
    await housekeeper.tick()
    expect(await t.told(id)).toHaveLength(1)
    t.clock.advance('15d')
    await housekeeper.tick()
    expect(await t.told(id)).toEqual([])
    await t.millrace.enqueue(watched, {})
  })
})
