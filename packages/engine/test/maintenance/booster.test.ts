import { type BoostOptions, defineJob, defineQueues } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Events } from '#src/events'
import { Booster } from '#src/maintenance/booster'
import { Database } from '#src/store/db'
import { setup as base } from '../support/setup.ts'

/** A queue on a clock of the test's own, and a booster that believes in its backlog. */
async function setup(boost?: BoostOptions | false) {
  const t = await base()
  const { work: queue } = defineQueues({ work: boost === undefined ? {} : { boost } })
  const task = defineJob({ type: 'task', queue, payload: z.object({}) })
  const clock = fakeClock(new Date())
  const millrace = t.client([task], { clock })
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const events = new Events()
  const booster = (backlogged = ['work']) =>
    new Booster({ db, clock, events, registry: new Registry([task]), backloggedQueues: () => backlogged })
  return {
    ...t,
    clock,
    db,
    events,
    booster,
    tick: () => booster().tick(),
    async add(count: number, priority: number, tenant?: string) {
      const options = { priority, ...(tenant !== undefined && { tenant }) }
      await millrace.enqueueMany(
        task,
        Array.from({ length: count }, () => ({})),
        options,
      )
    },
    /** How many jobs wait, by priority. */
    async levels(tenant: string | null = null) {
      const rows = await t.sql<{ priority: number; jobs: number }>(
        `select priority, count(*)::int as jobs from millrace.job
         where tenant is not distinct from $1 group by priority order by priority`,
        [tenant],
      )
      return Object.fromEntries(rows.map(({ priority, jobs }) => [priority, jobs]))
    },
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

describe('the booster', () => {
  test('lets a job come up step by step while others stand before it', async () => {
    await using t = await setup()
    await t.add(1, 9)
    const seen = []
    for (const minutes of [9, 1, 5, 5, 10, 10, 10, 60]) {
      t.clock.advance(`${minutes}m`)
      await t.sql('delete from millrace.job where priority = 0')
      await t.add(1, 0)
      await t.tick()
      seen.push(Object.keys(await t.levels()).map(Number))
    }
    expect(seen).toEqual([[0, 9], [0, 4], [0, 4], [0, 3], [0, 2], [0, 1], [0], [0]])
  })

  test('leaves alone what nobody stands before, and what is not due', async () => {
    await using t = await setup()
    await t.add(3, 9)
    await t.sql(
      `update millrace.job set run_at = run_at + interval '1 day' where id = (select min(id) from millrace.job)`,
    )
    t.clock.advance('1h')
    expect(await t.tick()).toEqual([])
    // What is due tomorrow stands before nobody.
    await t.add(1, 1)
    await t.sql(`update millrace.job set run_at = run_at + interval '1 day' where priority = 1`)
    expect(await t.tick()).toEqual([])
    await t.add(1, 1)
    expect(await t.tick()).toEqual([{ queue: 'work', jobs: 2 }])
    expect(await t.levels()).toEqual({ 0: 2, 1: 2, 9: 1 })
  })

  test('lets a hundred come up at a time, oldest first, and the next when they have gone', async () => {
    await using t = await setup()
    await t.add(120, 9)
    t.clock.advance('1s')
    await t.add(130, 8)
    t.clock.advance('10m')
    await t.add(1, 1)
    const raised = t.events.next('queue_boosted')
    expect(await t.tick()).toEqual([{ queue: 'work', jobs: 100 }])
    expect(await raised).toEqual({ queue: 'work', jobs: 100 })
    expect(await t.tick()).toEqual([])
    await t.sql(`delete from millrace.job where id in (select id from millrace.job where priority = 4 limit 60)`)
    expect(await t.tick()).toEqual([{ queue: 'work', jobs: 60 }])
    expect((await t.levels())[4]).toBe(100)
  })

  test('compares jobs of a tenant with one another, not with those of others', async () => {
    await using t = await setup()
    await t.add(20, 9, 'behind')
    await t.add(20, 9, 'alone')
    t.clock.advance('20m')
    await t.add(1, 1, 'behind')
    await t.add(1, 1)
    expect(await t.tick()).toEqual([{ queue: 'work', jobs: 10 }])
    expect(await t.levels('behind')).toEqual({ 1: 1, 3: 10, 9: 10 })
    expect(await t.levels('alone')).toEqual({ 9: 20 })
  })

  test('comes to every tenant, however many there are', async () => {
    await using t = await setup()
    await t.sql(
      `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload)
       select 'task', 'work', 'tenant ' || n, priority, 5, $1, $1, $1, '{}'
       from generate_series(1, 450) n cross join unnest(array[1, 9]) priority`,
      [t.clock.now()],
    )
    t.clock.advance('10m')
    const booster = t.booster()
    const boosted = []
    for (let i = 0; i < 4; i++) boosted.push(await booster.tick())
    expect(boosted.flat().map(({ jobs }) => jobs)).toEqual([200, 200, 50])
  })

  test('does nothing while another process is at it', async () => {
    await using t = await setup()
    await t.add(1, 9)
    t.clock.advance('10m')
    await t.add(1, 1)
    const results = await Promise.all(Array.from({ length: 8 }, () => t.tick()))
    expect(results.flat()).toEqual([{ queue: 'work', jobs: 1 }])
  })

  test('asks nothing about queues without a backlog, nor where boosting is switched off', async () => {
    await using t = await setup(false)
    await using off = await setup()
    for (const each of [t, off]) {
      await each.add(1, 9)
      each.clock.advance('1h')
      await each.add(1, 1)
    }
    // A statement would fail.
    await Promise.all([t.db.close(), off.db.close()])
    expect(await t.tick()).toEqual([])
    expect(await off.booster([]).tick()).toEqual([])
  })
})
