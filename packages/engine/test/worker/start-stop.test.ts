import { readFileSync } from 'node:fs'
import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AlertEvaluator } from '#src/alerts/evaluator'
import { alertRules } from '#src/alerts/options'
import { ScheduleTicks } from '#src/client/schedule-ticks'
import type { ClientServices } from '#src/client-services'
import type { Clock } from '#src/clock'
import { Governor } from '#src/governance/governor'
import { AdmissionSweep } from '#src/maintenance/admission-sweep'
import { AlertWatch } from '#src/maintenance/alert-watch'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Loop, type Ticker } from '#src/maintenance/loop'
import { Redriver } from '#src/maintenance/redriver'
import { Rescuer } from '#src/maintenance/rescuer'
import { Scheduler } from '#src/maintenance/scheduler'
import { TableKeeper } from '#src/maintenance/table-keeper'
import { Millrace } from '#src/millrace'
import { giveBack } from '#src/store/settlements'
import { InlineClaims } from '#src/testing/inline-claims'
import { VERSION } from '#src/version'
import { Acker } from '#src/worker/acker'
import { Fetcher } from '#src/worker/fetcher'
import { planLanes } from '#src/worker/lane-plan'
import { Lease } from '#src/worker/lease'
import { MemoryGuard } from '#src/worker/memory-guard'
import { watchLeftovers } from '../support/leftovers.ts'
import { eventually, type Setup, setup, shortLease, signal } from '../support/setup.ts'

const task = defineJob({
  type: 'task',
  queue: defineQueues({ default: {} }).default,
  payload: z.object({ n: z.number() }),
})

test('workers started and stopped under load lose nothing and leave nothing behind', async () => {
  await using t = await setup()
  const counts = new Map<number, number>()
  const handlers = [implement(task, ({ n }) => void counts.set(n, (counts.get(n) ?? 0) + 1))]
  const millrace = t.client([task])
  for (let round = 0; round < 6; round++) {
    const ran = millrace.events.next('job_completed')
    await millrace.enqueueMany(
      task,
      Array.from({ length: 500 }, (_, n) => ({ n: round * 500 + n })),
    )
    const workers = await Promise.all(
      [1, 2].map(() => millrace.work({ handlers, lease: shortLease, gracePeriod: '2s' })),
    )
    await ran
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(await t.sql(`select from millrace.job where status = 'processing'`)).toEqual([])
  }
  await millrace.work({ handlers, lease: shortLease })
  await eventually(async () => (await t.sql('select from millrace.job limit 1')).length === 0)
  expect(counts.size).toBe(3_000)
  expect([...counts.values()].every((count) => count === 1)).toBe(true)
  expect(await t.sql('select distinct attempt from millrace.job_archive')).toEqual([{ attempt: 1 }])
  expect(await t.sql('select count(*)::int from millrace.worker where ended_at is null')).toEqual([{ count: 1 }])
})

test('the version that workers register is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(VERSION).toBe(version)
})

test('an isolation level on which the guarantees do not hold is refused', async () => {
  await using t = await setup()
  const [row] = await t.sql<{ name: string }>('select current_database() as name')
  await t.sql(`alter database ${row?.name} set default_transaction_isolation = 'repeatable read'`)
  const starting = t.client([task]).work({ handlers: [implement(task, () => {})] })
  await expect(starting).rejects.toThrow(/"repeatable read".*needs "read committed"/)
})

/** A background service as this suite sees it. Both may be called at any time, any number of times. */
interface Service {
  start(): Promise<void>
  stop(): Promise<void>
}

const onError = () => {}
const looping = (ticker: Ticker<unknown>): Service => {
  const loop = new Loop(ticker, { onError })
  return { start: async () => loop.start(), stop: () => loop.stop() }
}

const makers: Record<string, (services: ClientServices, t: Setup) => Service | Promise<Service>> = {
  'the rescuer': ({ db, clock, registry, events }) =>
    looping(
      new Rescuer({
        db,
        clock,
        registry,
        events,
        intervalMs: 5,
        mayJudge: () => true,
        wake: () => {},
        onBlocked: () => {},
        onStepsEnded: () => {},
      }),
    ),

  'the housekeeper': (services) => looping(new Housekeeper(services)),

  'the redriver': ({ db, clock, registry, admitter }) =>
    looping(new Redriver({ db, clock, registry, admitter, wake: () => {} })),

  'the admission sweep': ({ admitter }) => looping(new AdmissionSweep(admitter)),

  'the table keeper': (services) => looping(new TableKeeper(services)),

  'the scheduler': (services) =>
    looping(
      new Scheduler({
        ...services,
        ...{ types: [], ticks: new ScheduleTicks(services), onError, isTold: () => true, onLate: () => {} },
      }),
    ),

  'the alert watch': (services) =>
    looping(
      new AlertWatch({
        ...{ db: services.db, rules: alertRules() },
        evaluator: new AlertEvaluator({ ...services, onError }),
      }),
    ),

  'the memory guard': () =>
    looping(new MemoryGuard({ thresholdPercent: 85, checkIntervalMs: 10 }, { onChange: () => {} })),

  'the fetcher': ({ db, clock, registry }) => {
    const idleOrStopped = signal()
    const fetcher = new Fetcher({
      db,
      clock,
      governor: new Governor({ db, clock, registry }),
      lanes: planLanes({}, [task]),
      workerId: () => '00000000-0000-4000-8000-000000000000',
      mayClaim: () => true,
      isListenTrusted: () => true,
      prefetchFor: () => 0,
      mayTakeSuspect: () => true,
      onClaimed: () => {},
      onIdle: () => idleOrStopped.resolve(),
      onError,
    })
    return {
      start: () => {
        fetcher.start()
        return idleOrStopped.promise
      },
      stop: () => {
        idleOrStopped.resolve()
        return fetcher.stop()
      },
    }
  },

  async 'the acker'(services) {
    const { db, clock } = services
    const claims = new InlineClaims(services, [task])
    await claims.begin()
    const settleStep = () => Promise.reject(new Error('no workflow is here'))
    const settled = {
      settleStep,
      onSettled: () => {},
      onDue: () => {},
      onStepsEnded: () => {},
      onFlushed: () => {},
      onError,
    }
    const acker = new Acker({ db, clock, isTrusted: () => true, ensurePartitions: async () => {}, ...settled })
    return {
      async start() {
        for (const run of await claims.next('default')) acker.add(run, giveBack(run.fence))
      },
      async stop() {
        await acker.drain()
        await claims.end()
      },
    }
  },

  'the lease and its pulse': (_, t) => {
    const knows = { lanes: {}, types: [], schedules: [], program: null }
    const worker = { host: 'h', pid: 1, version: VERSION, ...knows, ttlMs: 1_500 }
    const times = { heartbeatMs: 150, ttlMs: 1_500 }
    const nothing = () => {}
    const pulse = { connection: { connectionString: t.url }, schema: 'millrace', times }
    const report = {
      state: 'working' as const,
      ...{ lanes: [], running: 0, runs: [], suspectJobId: null, isListening: false, permits: [] },
      memory: { percent: 1, isHigh: false },
    }
    const lease = new Lease(pulse, worker, 10, {
      report: () => report,
      onAsked: nothing,
      onLost: nothing,
      onDoubt: nothing,
      onTrusted: nothing,
      onRunning: nothing,
      onHeard: nothing,
      onIgnored: nothing,
      onListening: nothing,
      onBlocked: nothing,
      onError: nothing,
      onWatch: nothing,
    })
    let taken: Promise<void> | undefined
    return {
      start: () => {
        taken ??= lease.take()
        return taken
      },
      stop: () => lease.end('a test'),
    }
  },

  async 'the worker'({ clock }, t) {
    const millrace = t.client([task], { clock })
    const worker = await millrace.work({ handlers: [implement(task, () => {})], lease: shortLease, gracePeriod: 0 })
    return {
      start: () => worker.start(),
      async stop() {
        await worker.stop()
        await millrace.close()
      },
    }
  },

  'a client whose worker is stopped while it starts': (_, t) => {
    const millrace = t.client([task])
    return {
      start: async () => void (await millrace.work({ handlers: [implement(task, () => {})], lease: shortLease })),
      stop: () => millrace.close(),
    }
  },
}

/** Each round ends stopped, whatever came before. */
const rounds: Record<string, (service: Service) => Promise<unknown>> = {
  'started and stopped': (service) => service.start().then(() => service.stop()),
  'stopped while it starts': (service) => settledAll([service.start(), service.stop()]),
  'stopped before it starts': (service) => settledAll([service.stop(), service.start(), service.stop()]),
  'started after it was stopped': (service) => service.stop().then(() => settledAll([service.start()])),
  'started twice and stopped twice': async (service) => {
    await settledAll([service.start(), service.start()])
    await settledAll([service.stop(), service.stop()])
  },
  'started and stopped all at once': (service) =>
    settledAll(Array.from({ length: 10 }, (_, i) => (i % 3 === 0 ? service.stop() : service.start()))),
}

const settledAll = (work: Promise<unknown>[]) => Promise.allSettled(work)

const connections = async (t: Setup) => {
  const sql =
    'select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  return (await t.sql<{ count: number }>(sql))[0]?.count
}

describe.each(Object.entries(makers))('%s', (_, make) => {
  test('leaves no timer, thread, connection or listener behind, however it is started and stopped', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    await millrace.enqueueMany(task, [{ n: 1 }, { n: 2 }, { n: 3 }])
    const services = Millrace.servicesOf(millrace)
    const listeners = new Set<() => void>()
    const clock: Clock = {
      databaseNow: () => null,
      onMoved(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    using leftovers = watchLeftovers()
    for (const round of Object.values(rounds)) {
      for (let i = 0; i < 4; i++) {
        const db = services.open(3)
        const service = await make({ ...services, db, clock }, t)
        await round(service)
        await service.stop()
        await db.close()
      }
    }
    await millrace.close()
    // Or the watch would find nothing at the end, whatever happened.
    expect(leftovers.seen()).toBeGreaterThan(0)
    await eventually(async () => leftovers.open().length === 0, 5_000).catch(() => {})
    expect(leftovers.open()).toEqual([])
    expect(listeners.size).toBe(0)
    await eventually(async () => (await connections(t)) === t.pool.totalCount - 1)
  })
})
