import { createMillrace, defineJob, defineQueues, type Millrace } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { saidBy } from './support/in-process.ts'
import { fixture, get, Program } from './support/program.ts'

// The contract of fixtures/nap.js, as a program that only enqueues would have it.
const queues = defineQueues({ beds: { concurrency: 3 } })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })

const setup = (...options: string[]) => setupWith('nap.js', ...options)

async function setupWith(workload: string, ...options: string[]) {
  const database = await freshDatabase()
  const millrace: Millrace = createMillrace({ database: database.url, jobs: [nap] })
  const work = new Program(['work', fixture(workload), ...options], { DATABASE_URL: database.url })
  return {
    millrace,
    work,
    async [Symbol.asyncDispose]() {
      await work[Symbol.asyncDispose]()
      await millrace.close()
      await database.drop()
    },
  }
}

test('after SIGTERM work waits for the running job, which completes, and ends with code 0', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(nap, {})
  await t.work.said(/asleep/)
  t.work.signal('SIGTERM')
  await t.work.said(/waiting for 1 running job, at most 25s/)
  t.work.signal('SIGUSR2')
  expect(await t.work.ended()).toMatchObject({ code: 0, err: expect.stringContaining('the workload has stopped') })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', attempt: 1 })
})

test('work runs handlers that have a process of their own, within the middleware, and leaves none behind', async () => {
  await using t = await setupWith('isolated.js')
  const { id } = await t.millrace.enqueue(nap, {})
  await t.work.said(/about to run nap/)
  await t.work.said(/asleep elsewhere/)
  t.work.signal('SIGTERM')
  // Its output ends only when nobody holds it any more.
  expect(await t.work.ended()).toMatchObject({ code: 0 })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', attempt: 1 })
})

test('a job that outlasts the grace period goes back to its queue and keeps its attempt', async () => {
  await using t = await setup('--grace', '50ms')
  const { id } = await t.millrace.enqueue(nap, {})
  await t.work.said(/asleep/)
  t.work.signal('SIGTERM')
  expect(await t.work.ended()).toMatchObject({ code: 0 })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'pending', attempt: 0 })
})

test('a second signal ends work at once', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(nap, {})
  await t.work.said(/asleep/)
  t.work.signal('SIGINT')
  await t.work.said(/waiting for 1 running job/)
  t.work.signal('SIGINT')
  expect(await t.work.ended()).toMatchObject({ code: 130, err: expect.stringContaining('stopped at once') })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'processing' })
})

test('work takes its slots from --concurrency and serves health only with --port', async () => {
  await using t = await setup('--concurrency', 'beds=7', '--port', '0', '--host', '127.0.0.1')
  const [line] = await t.work.said(/\{.*"msg":"running"\}/)
  const { lanes, health } = JSON.parse(line)
  expect(lanes).toEqual([{ name: 'beds', slots: 7, queues: ['beds'] }])
  expect(await get(health)).toMatchObject({ status: 200 })
})

test('work takes its lanes and limits from WORKER_* variables, and refuses one that makes no sense', async () => {
  await using database = await freshDatabase()
  const env = { DATABASE_URL: database.url, WORKER_FAST_THREADS: '6' }
  await using without = new Program(['work', fixture('nap.js')], env)
  expect(await without.ended()).toMatchObject({ code: 1, err: expect.stringContaining('takes only fast job types') })
  await using wrong = new Program(['work', fixture('nap.js')], { ...env, WORKER_NAPS_TIMEOUT_MINUTES: '2' })
  expect((await wrong.ended()).err).toMatch(/Did you mean "WORKER_NAP_TIMEOUT_MINUTES"/)
})

test('work refuses a queue that no handler runs in', async () => {
  await using t = await setup('--concurrency', 'sofas=7')
  expect(await t.work.ended()).toMatchObject({ code: 1, err: expect.stringContaining('names queue "sofas"') })
})

test('work does not migrate: it refuses a schema that lacks a migration', async () => {
  await using database = await freshDatabase({ migrated: false })
  await using work = new Program(['work', fixture('nap.js'), '--database-url', database.url])
  const { code, err } = await work.ended()
  expect(code).toBe(1)
  expect(err).toMatch(
    /^error: The schema "millrace" lacks 0001_foundation.* Run `millrace migrate`, then start again\.$/m,
  )
  expect(err).not.toContain('the workload has started')
})

test('work without a database says what to set', async () => {
  await using work = new Program(['work', fixture('nap.js')])
  expect(await work.ended()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: No database is given\. Set DATABASE_URL or pass --database-url/),
  })
})

test('work says when the database cannot be reached', async () => {
  await using work = new Program(['work', fixture('nap.js'), '--database-url', 'postgres://nobody@127.0.0.1:1/nowhere'])
  expect(await work.ended()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: Postgres cannot be reached/),
  })
})

test('work passes its options on to the worker: lease, overload, alert, connections, notify, schema', async () => {
  await using database = await freshDatabase({ migrated: false })
  const env = { DATABASE_URL: database.url, MILLRACE_SCHEMA: 'other' }
  expect(await saidBy(['migrate'], env)).toMatchObject({ code: 0, out: expect.stringContaining('"other" is current') })
  const options = [
    ...['--lease', 'heartbeat=1s,ttl=100s', '--lease', 'sweep=2s', '--overload', 'loopLag=5s,claimTime=6s'],
    ...['--dead-letter-alert-at', '1', '--max-connections', '3', '--no-notify', '--port', '0', '--host', '127.0.0.1'],
  ]
  await using work = new Program(['work', fixture('nap.js'), ...options], env)
  const [line] = await work.said(/\{.*"msg":"running"\}/)
  expect(await get(JSON.parse(line).health)).toMatchObject({ status: 200 })
  const client = new pg.Client(database.url)
  await client.connect()
  const { rows } = await client.query('select extract(epoch from expires_at - heartbeat_at) as ttl from other.worker')
  await client.end()
  expect(Math.round(rows[0].ttl)).toBe(100)
  expect(await saidBy(['queues'], env)).toMatchObject({ code: 0 })
  for (const [option, message] of [
    ['--lease=length=1s', /Expected heartbeat, ttl, sweep, such as heartbeat=5s/],
    ['--overload=loopLag=soon', /Expected a number with ms, s, m, h or d/],
    ['--max-connections=0', /Expected a whole number from 1/],
    ['--overload=loopLag=1ms', /overload.loopLag is 1 ms: 10 ms is the least/],
  ] as const)
    expect((await saidBy(['work', fixture('nap.js'), option], env)).err).toMatch(message)
})

test('every option of work() can be given to `millrace work`', async () => {
  const { out } = await saidBy(['work', '--help'])
  for (const option of ['--concurrency', '--grace', '--lease', '--overload', '--dead-letter-alert-at'])
    expect(out).toContain(option)
  for (const option of ['--max-connections', '--no-notify', '--schema']) expect(out).toContain(option)
})
