import { cron, defineJob, defineQueues, defineSchedule, skip } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { by, scheduling } from '../support/schedules.ts'
import { silent } from '../support/setup.ts'

const queues = defineQueues({ tenants: { tenant: 'required' } })
const sync = defineJob({ type: 'sync', queue: queues.tenants, payload: z.object({ of: z.string() }) })
const daily = { name: 'sync', job: sync, when: cron('0 3 * * *'), perTenant: true as const }

async function withTenants(count: number) {
  const t = await scheduling()
  await t.sql(
    `insert into millrace.tenant (name) select 'tenant-' || lpad(n::text, 4, '0') from generate_series(1, $1::int) as n`,
    [count],
  )
  return t
}

test('a tick has one job for each of 1,200 tenants, also if the process is cut off in the middle and others go on', async () => {
  await using t = await withTenants(1_200)
  const schedule = defineSchedule({ ...daily, payload: ({ tenant }) => ({ of: tenant }) })
  const pods = await Promise.all([1, 2, 3].map(() => t.pod([schedule], { jobs: [sync] })))
  t.clock.moveTo('2030-01-01T03:00:00Z')
  // The second page of the first process never commits.
  await t.sql(`create function die() returns trigger language plpgsql as $$ begin
      if (select count(*) from millrace.job) >= 500 then raise exception 'the server goes away' using errcode = '57P01'; end if;
      return new; end $$`)
  await t.sql('create trigger die before insert on millrace.job for each statement execute function die()')
  await expect((pods[0] as (typeof pods)[number]).fire()).rejects.toThrow('the server goes away')
  expect(await t.jobs()).toHaveLength(500)
  expect(await t.ticks()).toMatchObject([{ outcome: 'running', jobs: 500, tenant_cursor: 'tenant-0500' }])
  await t.sql('drop trigger die on millrace.job')

  // The first one still has the lease, as far as the others know.
  await Promise.all(pods.slice(1).map((pod) => pod.fire()))
  expect(await t.jobs()).toHaveLength(500)
  t.clock.advance('1m')
  await Promise.all(pods.slice(1).map((pod) => pod.fire()))
  const jobs = await t.jobs()
  expect(new Set(jobs.map(({ tenant }) => tenant)).size).toBe(1_200)
  expect(jobs).toHaveLength(1_200)
  expect(jobs.every(({ tenant, payload }) => (payload as { of: string }).of === tenant)).toBe(true)
  expect(await t.ticks()).toMatchObject([{ outcome: 'enqueued', jobs: 1_200, refused: 0 }])
  expect(pods.flatMap(({ ticked }) => ticked)).toMatchObject([{ schedule: 'sync', jobs: 1_200, jobId: null }])
})

test('pages that several processes write at once come to one job for each tenant', async () => {
  await using t = await withTenants(1_100)
  const schedule = defineSchedule({ ...daily, payload: ({ tenant }) => ({ of: tenant }) })
  const pods = await Promise.all([1, 2, 3].map(() => t.pod([schedule], { jobs: [sync] })))
  t.clock.moveTo('2030-01-01T03:00:00Z')
  const first = Promise.all(pods.map((pod) => pod.fire()))
  // As if every lease were over at once.
  await t.sql(`update millrace.schedule_tick set busy_until = '2029-01-01'`)
  await first
  t.clock.advance('2m')
  await Promise.all(pods.map((pod) => pod.fire()))
  expect(await t.jobs()).toHaveLength(1_100)
  expect(await t.ticks()).toMatchObject([{ outcome: 'enqueued', jobs: 1_100 }])
})

test('suspended and deleted tenants get none, and one that is refused does not keep the others from theirs', async () => {
  await using t = await withTenants(6)
  const by = { by: 'the test', reason: 'unpaid' }
  const pod = await t.pod(
    [
      defineSchedule({
        ...daily,
        payload: ({ tenant }) => {
          if (tenant === 'tenant-0004') throw new Error('its source is down')
          return tenant === 'tenant-0005' ? skip('it has no data') : { of: tenant }
        },
      }),
    ],
    { jobs: [sync] },
  )
  await pod.millrace.tenants.suspend('tenant-0002', by)
  await pod.millrace.tenants.delete('tenant-0003', by)
  // The enqueue refuses this one: it may have no jobs at all.
  await pod.millrace.tenants.limit('tenant-0006', 'tenants', { jobs: 0, over: 'reject' }, by)
  t.clock.moveTo('2030-01-01T03:00:00Z')
  await pod.fire()
  expect((await t.jobs()).map(({ tenant }) => tenant)).toEqual(['tenant-0001'])
  // The payload skips one of them on purpose: it is not counted.
  expect(await t.ticks()).toMatchObject([{ outcome: 'enqueued', jobs: 1, refused: 2 }])
})

test('a tick whose payload skips tenants on purpose warns of nothing', async () => {
  await using t = await withTenants(3)
  const warnings: unknown[] = []
  const logger = { ...silent, warn: (...line: unknown[]) => void warnings.push(line) }
  const schedule = defineSchedule({
    ...daily,
    payload: ({ tenant }) => (tenant === 'tenant-0002' ? { of: tenant } : skip('it has no data')),
  })
  const pod = await t.pod([schedule], { jobs: [sync], logger })
  t.clock.moveTo('2030-01-01T03:00:00Z')
  await pod.fire()
  expect(await t.ticks()).toMatchObject([{ outcome: 'enqueued', jobs: 1, refused: 0, reason: null }])
  expect(warnings).toEqual([])
})

test('the jobs of all tenants of a tick share a correlation id', async () => {
  await using t = await withTenants(2)
  const pod = await t.pod([defineSchedule({ ...daily, payload: { of: 'all' } })], { jobs: [sync] })
  t.clock.moveTo('2030-01-01T03:00:00Z')
  await pod.fire()
  const { jobs } = await pod.millrace.jobsByCorrelation('schedule-sync-2030-01-01T03:00:00.000Z')
  expect(jobs.map(({ tenant }) => tenant)).toEqual(['tenant-0001', 'tenant-0002'])
})

test('overlap counts by tenant', async () => {
  await using t = await withTenants(3)
  const schedule = defineSchedule({ ...daily, overlap: 'skip', payload: ({ tenant }) => ({ of: tenant }) })
  const pod = await t.pod([schedule], { jobs: [sync] })
  t.clock.moveTo('2030-01-01T03:00:00Z')
  await pod.fire()
  await t.sql(`delete from millrace.job where tenant = 'tenant-0002'`)
  t.clock.moveTo('2030-01-02T03:00:00Z')
  await pod.fire()
  expect((await t.ticks()).map(({ jobs, refused }) => [jobs, refused])).toEqual([
    [3, 0],
    [1, 2],
  ])
})

test('run now and backfill page through the tenants before they return', async () => {
  await using t = await withTenants(600)
  const schedule = defineSchedule({ ...daily, payload: ({ tenant }) => ({ of: tenant }) })
  const { millrace } = await t.pod([schedule], { jobs: [sync] })
  expect(await millrace.schedules.run('sync', by)).toMatchObject({ outcome: 'enqueued', jobs: 600 })
  t.clock.moveTo('2030-01-01T02:00:00Z')
  const range = { from: new Date('2029-12-30T00:00:00Z'), to: new Date('2030-01-01T00:00:00Z'), ...by }
  expect(await millrace.schedules.backfill('sync', range)).toMatchObject({ fires: 2, enqueued: 2 })
  expect(await t.jobs()).toHaveLength(1_800)
})

test('without any tenant there is nothing to do, and it is said so', async () => {
  await using t = await withTenants(0)
  const pod = await t.pod([defineSchedule({ ...daily, payload: { of: 'all' } })], { jobs: [sync] })
  t.clock.moveTo('2030-01-01T03:00:00Z')
  await pod.fire()
  expect(await t.ticks()).toMatchObject([{ outcome: 'skipped', reason: 'no active tenant got a job' }])
})

test('a tick that failed for every tenant is done again by a backfill, from the first tenant on', async () => {
  await using t = await withTenants(3)
  let isDown = true
  const schedule = defineSchedule({
    ...daily,
    payload: ({ tenant }) => {
      if (isDown) throw new Error('down')
      return { of: tenant }
    },
  })
  const pod = await t.pod([schedule], { jobs: [sync] })
  t.clock.moveTo('2030-01-01T03:00:00Z')
  await pod.fire()
  expect(await t.ticks()).toMatchObject([{ outcome: 'failed', refused: 3, reason: 'tenant tenant-0001: down' }])
  isDown = false
  const range = { from: new Date('2030-01-01T00:00:00Z'), to: t.clock.now(), ...by }
  expect(await pod.millrace.schedules.backfill('sync', range)).toMatchObject({ enqueued: 1 })
  expect(await t.ticks()).toMatchObject([{ outcome: 'enqueued', jobs: 3, refused: 0, origin: 'backfill' }])
})
