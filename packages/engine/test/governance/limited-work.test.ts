// Jobs with a limit key: so many of a key at once, in all processes together, and no place left empty.
import { defineJob, defineQueues, fixed, implement, snooze } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Admitter } from '#src/governance/admitter'
import { AdmissionSweep } from '#src/maintenance/admission-sweep'
import { Database } from '#src/store/db'
import { eventually, jobEvent, type Setup, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ fetch: { concurrency: 20 } })
const payload = z.object({ host: z.string().nullable(), n: z.int() })
const keyLimit = { key: ({ host }: { host: string | null }) => host, concurrency: 2 }
const retry = { attempts: 3, backoff: fixed('1h') }
const fetchPage = defineJob({ type: 'fetch', queue: queues.fetch, payload, keyLimit, retry })

const of = (host: string | null, count: number) => Array.from({ length: count }, (_, n) => ({ host, n }))

const statuses = async (t: Setup) =>
  (await t.sql<{ status: string }>('select status from millrace.job order by id')).map(({ status }) => status)

/** Handlers that hold until they are let go, and how many of a host ran at once at most. */
function holding() {
  const open = new Map<number, () => void>()
  let most = 0
  return {
    running: () => [...open.keys()].sort((a, b) => a - b),
    most: () => most,
    release: (n: number) => open.get(n)?.(),
    async hold({ n }: { n: number }) {
      const gate = signal()
      open.set(n, gate.resolve)
      most = Math.max(most, open.size)
      await gate.promise
      open.delete(n)
    },
    until(numbers: number[]) {
      return eventually(async () => JSON.stringify(this.running()) === JSON.stringify(numbers))
    },
  }
}

test('so many of a key run at once over two workers, and each end makes room for the next', async () => {
  await using t = await setup()
  const hosts = holding()
  const handlers = [implement(fetchPage, (given) => hosts.hold(given))]
  const { millrace } = await t.working(handlers)
  await t.working(handlers)
  await millrace.enqueueMany(fetchPage, of('example', 5))
  await hosts.until([0, 1])
  hosts.release(1)
  await hosts.until([0, 2])
  hosts.release(0)
  hosts.release(2)
  await hosts.until([3, 4])
  hosts.release(3)
  hosts.release(4)
  await eventually(async () => (await statuses(t)).length === 0)
  expect(hosts.most()).toBe(2)
})

test('a job that waits for its retry, or that snoozes, leaves its place to others', async () => {
  await using t = await setup()
  const hosts = holding()
  const { millrace } = await t.working([
    implement(fetchPage, (given) => {
      if (given.n === 0) throw new Error('503')
      if (given.n === 1) return snooze('1h')
      return hosts.hold(given)
    }),
  ])
  const jobs = await millrace.enqueueMany(fetchPage, of('example', 5))
  await hosts.until([2, 3])
  expect(await statuses(t)).toEqual(['blocked', 'blocked', 'processing', 'processing', 'blocked'])
  // Made due, it still waits for a place.
  expect(await millrace.runNow(jobs[1]?.id ?? '', { by: 'ann' })).toBe(true)
  expect((await statuses(t))[1]).toBe('blocked')
  for (const n of [2, 3]) hosts.release(n)
  await hosts.until([4])
  hosts.release(4)
  const retried = jobEvent(millrace, 'job_retry_scheduled', jobs[0]?.id ?? '')
  expect(await millrace.runNow(jobs[0]?.id ?? '', { by: 'ann' })).toBe(true)
  await retried
})

test('a retry runs when its time has come', async () => {
  await using t = await setup()
  const quick = defineJob({ type: 'quick', queue: queues.fetch, payload, keyLimit, retry: { backoff: fixed(60) } })
  const { millrace } = await t.working([
    implement(quick, (_, ctx) => {
      if (ctx.attempt < 3) throw new Error('503')
    }),
  ])
  const [job] = await millrace.enqueueMany(quick, of('example', 1))
  await jobEvent(millrace, 'job_completed', job?.id ?? '')
})

test('a delayed job takes no place before its time, and one when it has come', async () => {
  await using t = await setup()
  const hosts = holding()
  const { millrace } = await t.working([implement(fetchPage, (given) => hosts.hold(given))])
  await millrace.enqueueMany(fetchPage, of('example', 2), { delay: '400ms' })
  expect(await statuses(t)).toEqual(['blocked', 'blocked'])
  await hosts.until([0, 1])
  for (const n of [0, 1]) hosts.release(n)
})

test('the more urgent of a key gets the next place', async () => {
  await using t = await setup()
  const millrace = t.client([fetchPage])
  const jobs = await millrace.enqueueMany(fetchPage, of('example', 4))
  const urgent = await millrace.enqueue(fetchPage, { host: 'example', n: 9 }, { priority: 0 })
  await millrace.enqueue(fetchPage, { host: 'example', n: 10 }, { priority: 0, delay: '1h' })
  await millrace.cancel(jobs[0]?.id ?? '', { by: 'ann' })
  expect((await millrace.job(urgent.id))?.status).toBe('pending')
  await millrace.cancel(jobs[1]?.id ?? '', { by: 'ann' })
  expect((await millrace.job(jobs[2]?.id ?? ''))?.status).toBe('pending')
})

test('a limit that is raised lets more run, and one that is lowered takes back what has not begun', async () => {
  await using t = await setup()
  const millrace = t.client([fetchPage])
  await millrace.enqueueMany(fetchPage, of('example', 5))
  const admitted = async () => (await statuses(t)).filter((status) => status === 'pending').length
  await millrace.keys.setLimit({ queue: 'fetch', key: 'example', concurrency: 4 }, { by: 'ops' })
  expect(await admitted()).toBe(4)
  await millrace.keys.setLimit({ queue: 'fetch', key: 'example', concurrency: 0 }, { by: 'ops' })
  expect(await admitted()).toBe(0)
  await millrace.keys.setLimit({ queue: 'fetch', concurrency: 3 }, { by: 'ops' })
  expect(await admitted()).toBe(0)
  expect(await millrace.keys.limits()).toMatchObject([
    { queue: 'fetch', key: null, concurrency: 3, setBy: 'ops' },
    { queue: 'fetch', key: 'example', concurrency: 0, setBy: 'ops' },
  ])
  expect(await millrace.keys.clearLimit({ queue: 'fetch', key: 'example' }, { by: 'ops' })).toBe(true)
  expect(await admitted()).toBe(3)
  expect(await millrace.keys.clearLimit({ queue: 'fetch' }, { by: 'ops' })).toBe(true)
  expect(await admitted()).toBe(2)
  expect(await millrace.keys.clearLimit({ queue: 'fetch' }, { by: 'ops' })).toBe(false)
  const audit = await t.sql<{ action: string }>('select action from millrace.audit_log order by id')
  expect(audit.map(({ action }) => action)).toEqual([
    ...Array(3).fill('key_limit.set'),
    ...Array(2).fill('key_limit.clear'),
  ])
})

test('a limit that is set elsewhere holds within seconds, without a restart', async () => {
  await using t = await setup()
  const hosts = holding()
  const { millrace } = await t.working([implement(fetchPage, (given) => hosts.hold(given))])
  await millrace.enqueueMany(fetchPage, of('example', 4))
  await hosts.until([0, 1])
  await t.sql(`insert into millrace.key_limit_setting values ('fetch', null, 3, 'psql', now())`)
  await hosts.until([0, 1, 2])
  for (const n of [0, 1, 2]) hosts.release(n)
  await hosts.until([3])
  hosts.release(3)
})

test('what a stopping worker gives back keeps its place', async () => {
  await using t = await setup()
  const { millrace, worker } = await t.working([implement(fetchPage, () => new Promise(() => {}))], { gracePeriod: 0 })
  const jobs = await millrace.enqueueMany(fetchPage, of('example', 4))
  await eventually(async () => (await statuses(t)).filter((status) => status === 'processing').length === 2)
  await worker.stop()
  expect(jobs).toHaveLength(4)
  expect(await statuses(t)).toEqual(['pending', 'pending', 'blocked', 'blocked'])
})

test('order and keyLimit do not go together, and places are whole numbers', () => {
  const define = (more: object) => () =>
    defineJob({ type: 'odd', queue: queues.fetch, payload, ...(more as { keyLimit: typeof keyLimit }) })
  expect(define({ keyLimit, order: { key: () => 'k' } })).toThrow('both order and keyLimit')
  expect(define({ keyLimit: { ...keyLimit, concurrency: 0 } })).toThrow('expected an integer from 1')
  expect(define({ keyLimit: { concurrency: 1 } })).toThrow('keyLimit.key must be a function')
  expect(define({ order: { key: () => 'k', onDead: 'halt' } })).toThrow("'continue' or 'stop'")
})

test('while nothing is blocked the sweep asks the database nothing', async () => {
  await using t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const admitter = new Admitter({ db, clock: systemClock, wake: () => {}, onError: () => {} })
  const sweep = new AdmissionSweep(admitter)
  expect(await sweep.tick()).toEqual({ admitted: 0, isEmpty: true, isMore: false })
  await db.close()
  // On closed connections: whoever asks, fails.
  expect(await sweep.tick()).toEqual({ admitted: 0, isEmpty: true, isMore: false })
  admitter.expectBlocked()
  await expect(sweep.tick()).rejects.toThrow('closed')
  expect(admitter.isSweepNeeded).toBe(true)
})
