import { expect, test } from 'vitest'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { fixture, get, Program } from './support/program.ts'
import { chore, event, setup } from './support/supervised.ts'

/** For tests that start many processes, one after the other, or wait for real pauses between them. */
const SLOW_MS = 90_000

test('a killed process is replaced, and its job runs again long before its lease would have run out', async () => {
  await using t = await setup('nap.js --processes 2')
  await t.ready(2)
  const { id, pid } = await t.napping()
  const killedAt = Date.now()
  process.kill(pid, 'SIGKILL')
  const died = await t.work.logged(event('process_died'))
  expect(died).toMatchObject({ level: 50, process: expect.any(Number), processPid: pid, workerId: expect.any(String) })
  expect(died).toMatchObject({ code: null, signal: 'SIGKILL', ranMs: expect.any(Number), restartInMs: 500 })
  const rescued = await t.work.logged(({ msg }) => msg === 'job rescued from a dead worker')
  expect(rescued).toMatchObject({ job: id, outcome: 'requeued' })
  await t.work.said(/asleep[\s\S]*asleep/)
  // The lease lasts 45 s.
  expect(Date.now() - killedAt).toBeLessThan(15_000)
  const [job] = await t.sql<{ attempt: number; crashes: number; pid: number }>(
    'select attempt, crashes, worker.pid from millrace.job join millrace.worker on worker.id = worker_id',
  )
  expect(job).toMatchObject({ attempt: 1, crashes: 1 })
  expect(await t.sql('select ended_reason from millrace.worker where id = $1', [died.workerId])).toEqual([
    { ended_reason: 'its process died: SIGKILL' },
  ])
  process.kill(job?.pid as number, 'SIGUSR2')
  await expect.poll(async () => (await t.millrace.job(id))?.status).toBe('completed')
})

test('every line of a worker process bears its number', async () => {
  await using t = await setup('nap.js --processes 2')
  for (const nth of [1, 2]) {
    const { pid, process } = await t.ready(nth)
    await t.work.logged((line) => line.msg === 'running' && line.pid === pid)
    const lines = t.work.lines.filter((line) => line.pid === pid)
    expect(new Set(lines.map((line) => line.process))).toEqual(new Set([process]))
  }
  expect(await t.work.logged(({ msg }) => msg === 'supervising 2 workers')).not.toHaveProperty('process')
})

test('a rolling restart under load loses no attempt', { timeout: SLOW_MS }, async () => {
  await using t = await setup('busy.js --processes 2')
  await t.ready(2)
  const enqueue = () =>
    t.millrace.enqueueMany(
      chore,
      Array.from({ length: 100 }, (_, i) => ({ ms: i % 40 })),
    )
  let isRolling = true
  let made = 0
  const load = (async () => {
    while (isRolling) made += (await Promise.all([enqueue(), new Promise((next) => setTimeout(next, 200))]))[0].length
  })()
  t.work.signal('SIGHUP')
  expect(await t.work.logged(event('rolling_restart_ended'))).toMatchObject({ replaced: 2, isComplete: true })
  isRolling = false
  await load
  expect(t.work.lines.filter(event('process_stopped')).map(({ code }) => code)).toEqual([0, 0])
  await expect.poll(async () => t.sql('select from millrace.job'), { timeout: 40_000 }).toEqual([])
  expect(
    await t.sql('select status, attempt, crashes, count(*)::int from millrace.job_archive group by 1, 2, 3'),
  ).toEqual([{ status: 'completed', attempt: 1, crashes: 0, count: made }])
})

test('a process that is asked to leave by somebody else leaves in order and is replaced', async () => {
  await using t = await setup('nap.js --processes 1')
  const { pid } = await t.ready(1)
  process.kill(pid, 'SIGTERM')
  expect(await t.work.logged(event('process_died'))).toMatchObject({ processPid: pid, code: 0, restartInMs: 500 })
  expect((await t.ready(2)).pid).not.toBe(pid)
})

test('the supervisor serves health for all of its processes', { timeout: SLOW_MS }, async () => {
  await using t = await setup('nap.js --processes 2 --port 0 --host 127.0.0.1')
  const { health } = await t.work.logged(({ health }) => health !== undefined)
  const url = new URL('/', String(health)).href
  const [first, second] = [await t.ready(1), await t.ready(2)]
  expect(await get(`${url}readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } })
  expect(await get(`${url}healthz`)).toMatchObject({ status: 200, body: { status: 'alive' } })
  const { body } = await get(url)
  expect(body.processes).toEqual(
    [first, second]
      .sort((a, b) => a.process - b.process)
      .map(({ process, pid, workerId }) => ({ process, pid, state: 'ready', restarts: 0, workerId })),
  )
  for (const { pid } of [first, second]) process.kill(pid, 'SIGKILL')
  await t.work.logged(() => t.work.lines.filter(event('process_died')).length === 2)
  expect(await get(`${url}readyz`)).toMatchObject({
    status: 503,
    body: { reason: expect.stringMatching(/^no process is ready: 1 is (waiting|starting), 2 is (waiting|starting)$/) },
  })
  await t.ready(3)
  expect(await get(`${url}readyz`)).toMatchObject({ status: 200 })
})

test('processes that die before they are ready are a crash loop, which has a code of its own', {
  timeout: SLOW_MS,
}, async () => {
  await using t = await setup('exits.js --processes 1')
  const { code, err } = await t.work.ended()
  expect(code).toBe(4)
  expect(err).toMatch(/^error: Process \d died 5 times in a row before it was ready \(the last time: exit code 7\)/m)
  const pauses = t.work.lines.filter((line) => event('process_died')(line) && line.process === 1)
  expect(pauses.slice(0, 4).map(({ restartInMs }) => restartInMs)).toEqual([500, 1_000, 2_000, 4_000])
})

test('a module that cannot be loaded ends the supervisor with code 1 and says why, once', async () => {
  await using t = await setup('throws.js --processes 3')
  const { code, err } = await t.work.ended()
  expect(code).toBe(1)
  expect(err.match(/^error: \S+throws\.js could not be loaded: thrown while it was loaded/gm)).toHaveLength(1)
})

test('a schema that lacks a migration ends the supervisor with code 1', async () => {
  await using database = await freshDatabase({ migrated: false })
  await using work = new Program(['work', fixture('nap.js'), '--processes', '2', '--database-url', database.url])
  expect(await work.ended()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: The schema "millrace" lacks 0001_foundation/m),
  })
})

test('a database that cannot be reached ends the supervisor with code 1', async () => {
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' }
  await using work = new Program(['work', fixture('nap.js'), '--processes', '2'], nowhere)
  expect(await work.ended()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: Postgres cannot be reached/m),
  })
})

test.each(['0', 'many', '-1', '1.5'])('--processes %s is refused', async (count) => {
  await using work = new Program(['work', fixture('nap.js'), `--processes=${count}`])
  expect(await work.ended()).toMatchObject({
    code: 1,
    err: expect.stringContaining('Expected how many, from 1 to 999'),
  })
})

test('the help names the exit codes and signals', async () => {
  await using work = new Program(['work', '--help'])
  const { code, out } = await work.ended()
  expect(code).toBe(0)
  expect(out).toMatch(/Exit codes:\n +0 {2}stopped in order\n +1 {2}could not start/)
  expect(out).toMatch(/--processes <count>.*WORKER_PROCESSES/s)
})
