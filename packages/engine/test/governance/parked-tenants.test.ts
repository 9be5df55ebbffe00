// Tenants that may not run must not be in the way of those that may, however many they are; and none of their jobs is left behind.
import { randomUUID } from 'node:crypto'
import { defineJob, defineLimit, defineQueues, implement, type JobContract } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Governor } from '#src/governance/governor'
import { tenantCount } from '#src/store/tenants'
import { hands } from '../support/hands.ts'
import { planOf } from '../support/plans.ts'

const queues = defineQueues({ q: {} })
const plain = defineJob({ type: 'plain', queue: queues.q, payload: z.object({}) })
const rated = defineJob({
  type: 'rated',
  queue: queues.q,
  payload: z.object({}),
  limits: [defineLimit('each', { rate: '1/hour', per: 'tenant' })],
})
const single = defineJob({
  type: 'single',
  queue: queues.q,
  payload: z.object({}),
  limits: [defineLimit('one', { running: 1, per: 'tenant' })],
})

async function queue() {
  const contracts = [plain, rated, single]
  const t = await hands(contracts)
  // What a claim reads is compared: new statistics in between would change its plans.
  await t.sql(`do $$ declare name text; begin
    for name in select relname from pg_class where relnamespace = 'millrace'::regnamespace and relkind = 'r' loop
      execute format('alter table millrace.%I set (autovacuum_enabled = false)', name);
    end loop;
  end $$`)
  const registry = new Registry(contracts)
  const governor = new Governor({ db: t.db, clock: t.clock, registry })
  const types = contracts.map(({ type }) => ({ type, stuckAfterMs: 60_000 }))

  function claimOnce(slots = 10, by = governor) {
    const ids = { runId: randomUUID(), workerId: randomUUID() }
    return by.claim({ ...ids, queue: 'q', slots, types, mayTakeSuspect: false, here: new Map() })
  }

  /** One after another, as a worker does, until there is nothing to do. Answers whose jobs were claimed. */
  async function claim(slots = 10, by = governor): Promise<string[]> {
    const claimed: string[] = []
    for (;;) {
      const { jobs, state } = await claimOnce(slots - claimed.length, by)
      claimed.push(...jobs.map(({ tenant }) => tenant as string))
      if (state !== 'more' || claimed.length >= slots) return claimed.sort()
    }
  }

  return {
    ...t,
    claim,
    claimOnce,
    anotherProcess: () => new Governor({ db: t.db, clock: t.clock, registry }),
    fill: (tenants: string, count: number, { type }: JobContract = plain) =>
      t.sql(
        `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload)
         select $1, 'q', ${tenants}, 5, 5, $2, $2, $2, '{}' from generate_series(1, $3::int) i`,
        [type, t.clock.now(), count],
      ),
    waiting: async (tenants: string) => {
      const rows = await t.sql<{ status: string; jobs: number }>(
        `select status, count(*)::int as jobs from millrace.job where tenant like $1 and status <> 'processing' group by status`,
        [tenants],
      )
      return Object.fromEntries(rows.map(({ status, jobs }) => [status, jobs]))
    },
    end: (tenant: string) => t.sql(`delete from millrace.job where status = 'processing' and tenant = $1`, [tenant]),
    rulesChange: () => t.sql('update millrace.rules_version set version = version + 1'),
    /** Of what a claim reads. */
    async buffers() {
      await t.sql('vacuum millrace.job')
      const client = new pg.Client({ connectionString: t.url })
      await client.connect()
      const look = [
        t.clock.now(),
        'q',
        ['plain', 'rated', 'single'],
        null,
        32,
        3,
        '{}',
        '{}',
        10,
        10,
        '{}',
        '{}',
        '{}',
        '{}',
        '{}',
        '{}',
      ]
      const plans = [
        await planOf(client, 'governedStanding', [t.clock.now(), 'q', '{each,one}', '{""}']),
        await planOf(client, 'governedLook', look),
        await planOf(client, 'jobNextDue', [t.clock.now(), '{q}', '{}', '{}', '{}', '{}']),
        await planOf(client, 'lookAround', ['{q}', '{}', '{}']),
      ]
      await client.end()
      return plans.reduce((sum, { buffers }) => sum + buffers, 0)
    },
  }
}

type Queue = Awaited<ReturnType<typeof queue>>

const suspend = (t: Queue, count: number) =>
  t.sql(
    `insert into millrace.tenant (name, status) select 'held ' || i, 'suspended' from generate_series(1, $1::int) i`,
    [count],
  )
const cap = (t: Queue, count: number) =>
  t.sql(`insert into millrace.tenant (name, max_slots) select 'held ' || i, 0 from generate_series(1, $1::int) i`, [
    count,
  ])
const capIn = (t: Queue, name: string, count: number) =>
  t.sql(
    `insert into millrace.tenant_slots (tenant, queue, max_slots, sets_max, updated_by)
     select 'held ' || i, $2, 0, true, 'a' from generate_series(1, $1::int) i`,
    [count, name],
  )
const pause = (t: Queue, count: number) =>
  t.sql(
    `insert into millrace.pause (tenant, reason, author, expires_at)
     select 'held ' || i, 'r', 'a', $2::timestamptz + interval '1 hour' from generate_series(1, $1::int) i`,
    [count, t.clock.now()],
  )
const spend = (t: Queue, count: number) =>
  t.sql(
    `insert into millrace.limit_rate (name, tenant, starts, updated_at, period_ms)
     select 'each', 'held ' || i, jsonb_build_array(jsonb_build_array(extract(epoch from $2::timestamptz) * 1000, 1)), $2, 3600000
     from generate_series(1, $1::int) i`,
    [count, t.clock.now()],
  )

describe('tenants that may not run', () => {
  test.each([
    ['suspended', plain, suspend, 10_000],
    ['capped', plain, cap, 10_000],
    ['paused', plain, pause, 1_000],
    ['without a rate left', rated, spend, 1_000],
  ] as const)(
    'change hardly what a claim reads, and keep no other tenant waiting: %s',
    async (_, contract, holdBack, count) => {
      await using t = await queue()
      // Enough that the index is as deep as it will be.
      await t.fill(`'active ' || i % 20`, 5_000)
      const before = await t.buffers()
      await holdBack(t, count)
      await t.fill(`'held ' || i`, count, contract)
      await t.rulesChange()
      for (let i = 0; i < 100 && ((await t.waiting('held %')).pending ?? 0) >= 8; i++) {
        expect(await t.claim(20)).toHaveLength(20)
        await t.sql(`delete from millrace.job where status = 'processing'`)
      }
      expect((await t.waiting('held %')).pending ?? 0).toBeLessThan(8)
      expect(await t.buffers()).toBeLessThan(1.1 * before)
      await t.fill(`'held 5x'`, 1)
      expect(await t.claim(200)).toContain('held 5x')
    },
  )
})

test('tenants that are capped in another queue are not parked in this one', async () => {
  await using t = await queue()
  await capIn(t, 'another', 20)
  await t.fill(`'held ' || i`, 20)
  await t.rulesChange()
  expect(await t.claim(20)).toHaveLength(20)
})

describe('a parked job runs', () => {
  /** With twenty tenants in the way, all of them are parked. */
  async function parked(holdBack: (t: Queue, count: number) => Promise<unknown>, contract: JobContract = plain) {
    const t = await queue()
    await holdBack(t, 20)
    await t.fill(`'held ' || i`, 20, contract)
    await t.rulesChange()
    expect(await t.claim()).toEqual([])
    expect(await t.waiting('held %')).toEqual({ blocked: 20 })
    return t
  }

  test('when its tenant is resumed', async () => {
    await using t = await parked(suspend)
    await t.millrace.tenants.resume('held 7', { by: 'ann' })
    expect(await t.claim()).toEqual(['held 7'])
  })

  test('when its tenant is resumed by hand in SQL, after half a minute', async () => {
    await using t = await parked(suspend)
    await t.sql(`update millrace.tenant set status = 'active' where name = 'held 7'`)
    t.clock.advance('31s')
    expect(await t.claim(10, t.anotherProcess())).toEqual(['held 7'])
  })

  test('half a minute after the last look at all parked tenants, at the latest', async () => {
    await using t = await parked(suspend)
    expect((await t.claimOnce()).waitMs).toBeLessThanOrEqual(30_000)
    t.clock.advance('20s')
    expect((await t.claimOnce(10, t.anotherProcess())).waitMs).toBeLessThanOrEqual(10_000)
    await t.sql(`update millrace.tenant set status = 'active' where name = 'held 7'`)
    t.clock.advance('10s')
    const { jobs, waitMs } = await t.claimOnce(1, t.anotherProcess())
    expect(jobs.map(({ tenant }) => tenant)).toEqual(['held 7'])
    expect(waitMs).toBeLessThanOrEqual(30_000)
  })

  test('when its tenant is resumed, however many of them there are', async () => {
    await using t = await parked(suspend)
    await t.fill(`'held 7'`, 5_000)
    await t.sql(`update millrace.job set status = 'blocked', parked_until = 'infinity' where tenant = 'held 7'`)
    await t.millrace.tenants.resume('held 7', { by: 'ann' })
    expect(await t.claim(5_010)).toHaveLength(5_001)
    expect(await t.waiting('held %')).toEqual({ blocked: 19 })
  })

  test('when its tenant may hold more slots', async () => {
    await using t = await parked(cap)
    await t.millrace.tenants.set('held 7', { maxSlots: 1 }, { by: 'ann' })
    expect(await t.claim()).toEqual(['held 7'])
  })

  test('when its tenant may hold more slots in this queue, or as many as elsewhere', async () => {
    await using t = await parked((held, count) => capIn(held, 'q', count))
    await t.millrace.tenants.setSlots('held 7', 'q', { maxSlots: 1 }, { by: 'ann' })
    expect(await t.claim()).toEqual(['held 7'])
    await t.millrace.tenants.unsetSlots('held 8', 'q', { by: 'ann' })
    expect(await t.claim()).toEqual(['held 8'])
  })

  test('when the pause of its tenant ends, by itself or by a person', async () => {
    await using t = await parked(pause)
    await t.millrace.pauses.resume({ tenant: 'held 7' }, { by: 'ann', all: true })
    expect(await t.claim()).toEqual(['held 7'])
    t.clock.advance('61m')
    expect(await t.claim(20)).toHaveLength(19)
  })

  test('when the rate of its tenant has room again, or is raised', async () => {
    await using t = await parked(spend, rated)
    t.clock.advance('30m')
    expect(await t.claim()).toEqual([])
    t.clock.advance('33m')
    expect(await t.claim(20)).toHaveLength(20)
    await t.fill(`'held ' || i`, 20, rated)
    expect(await t.claim()).toEqual([])
    expect(await t.waiting('held %')).toEqual({ blocked: 20 })
    await t.millrace.limits.set('each', { rate: '2/hour' }, { by: 'ann' })
    expect(await t.claim(20)).toHaveLength(20)
  })

  test.each([
    ['its tenant', plain, `max_slots = 1`],
    ['a limit for each tenant', single, 'weight = 1'],
  ] as const)('when a slot of %s gets free, in whichever process', async (_, contract, rule) => {
    await using t = await queue()
    await suspend(t, 20)
    await t.sql(`update millrace.tenant set status = 'active', ${rule}`)
    await t.rulesChange()
    await t.fill(`'held ' || 1 + i % 20`, 60, contract)
    expect(await t.claim(100)).toHaveLength(20)
    expect(await t.claim()).toEqual([])
    expect(await t.waiting('held %')).toEqual({ blocked: 40 })
    await t.end('held 7')
    expect(await t.claim()).toEqual(['held 7'])
    expect(await t.claim()).toEqual([])
    await t.end('held 8')
    const successor = t.anotherProcess()
    t.clock.advance('31s')
    expect(await t.claim(10, successor)).toEqual(['held 8'])
    expect(await t.waiting('held %')).toEqual({ blocked: 38 })
  })

  /** Of each of twenty tenants one job runs, and two are parked. */
  async function full() {
    const t = await queue()
    await suspend(t, 20)
    await t.sql(`update millrace.tenant set status = 'active', max_slots = 1`)
    await t.rulesChange()
    await t.fill(`'held ' || 1 + i % 20`, 60)
    expect(await t.claim(100)).toHaveLength(20)
    expect(await t.claim()).toEqual([])
    expect(await t.waiting('held %')).toEqual({ blocked: 40 })
    return t
  }

  test('when the run before it began and ended between two claims', async () => {
    await using t = await full()
    await t.end('held 7')
    expect(await t.claim(1)).toEqual(['held 7'])
    await t.end('held 7')
    expect(await t.claim(1)).toEqual(['held 7'])
  })

  test('when the claim that saw a slot get free could not commit', async () => {
    await using t = await full()
    await t.end('held 7')
    await t.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no commit'; end $$;
       create constraint trigger refuse after update on millrace.job
       deferrable initially deferred for each row execute function refuse()`,
    )
    await expect(t.claim(1)).rejects.toThrow('no commit')
    await t.sql('drop trigger refuse on millrace.job')
    expect(await t.claim(1)).toEqual(['held 7'])
  })

  test('in a worker that finds nothing else in its queue', async () => {
    await using t = await parked(suspend)
    const ran = new Promise((resolve) => t.millrace.events.on('job_completed', ({ job }) => resolve(job.tenant)))
    await t.millrace.work({ handlers: [implement(plain, () => {})] })
    await t.millrace.tenants.resume('held 7', { by: 'ann' })
    expect(await ran).toBe('held 7')
  })

  test('and counts as a job of its tenant meanwhile', async () => {
    await using t = await parked(cap)
    expect(await tenantCount(t.db, 'q', 'held 7', 10)).toBe(1)
    const [job] = await t.millrace.jobs({ tenant: 'held 7' })
    const { reasons } = await t.millrace.explain(job?.id as string)
    expect(reasons.map(({ mechanism }) => mechanism).sort()).toEqual(['share', 'worker'])
    expect(await t.millrace.cancel(job?.id as string, { by: 'ann' })).toBe('cancelled')
  })
})
