import { defineJob, defineQueues, discard, implement } from 'millrace'
import { jobInState } from 'millrace/testing'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { saidBy } from './support/in-process.ts'
import { fixture, Program } from './support/program.ts'
import { setup as base } from './support/setup.ts'
import { StateHome } from './support/state-home.ts'

// The contract of fixtures/nap.js, as a program that only enqueues would have it.
const queues = defineQueues({ beds: { concurrency: 3 } })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })

const { default: post } = await import(fixture('post.js'))

const setup = () => base({ jobs: [nap] })

test('enqueue checks the payload by the workload, and says the id', async () => {
  await using t = await setup()
  const module = ['--module', fixture('nap.js')]
  const told = await t.run('enqueue', 'nap', '{}', ...module, '--tenant', 'acme', '--delay', '1h', '--priority', '3')
  const [, id = ''] = /^Job (\d+) is enqueued\.\n$/.exec(told.out) ?? []
  expect(await t.millrace.job(id)).toMatchObject({ type: 'nap', tenant: 'acme', priority: 3, status: 'pending' })
  const again = await t.run('enqueue', 'nap', '{}', ...module, '--dedup-key', 'k', '--json')
  expect(JSON.parse(again.out)).toMatchObject({ status: 'queued', warnings: [] })
  expect((await t.run('enqueue', 'nap', '{}', ...module, '--dedup-key', 'k')).out).toMatch(/holds the dedup key/)
})

test('enqueue goes by the catalogue where no workload is named', async () => {
  await using t = await base({ jobs: post.jobs })
  await t.millrace.work({ handlers: post.handlers })
  const enqueue = (...args: string[]) => t.run('enqueue', ...args)
  expect(await enqueue('letter', '{"to":7}', '--no-dedup-key')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/The payload of job "letter" is not valid: to: .*Expected "string"/),
  })
  expect(await enqueue('letter', '{"to":"ann"}')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/derives its dedup key from the payload\. Pass \{ dedupKey \}/),
  })
  const later = ['--delay', '1h']
  const { out } = await enqueue('letter', '{"to":"ann"}', '--dedup-key', 'ann', ...later)
  const [, id = ''] = /^Job (\d+) is enqueued\.\n$/.exec(out) ?? []
  expect(await t.millrace.job(id)).toMatchObject({ type: 'letter', maxAttempts: 3, payloadVersion: 2 })
  expect((await enqueue('letter', '{"to":"ann"}', '--dedup-key', 'ann')).out).toMatch(/holds the dedup key/)
  expect((await enqueue('letter', '{"to":"ann"}', '--no-dedup-key', ...later)).code).toBe(0)
  expect((await enqueue('bill', '{"org":"acme"}', '--tenant', 'acme')).code).toBe(0)
})

test('enqueue --wait prints the result, and tells by its exit code how the job ended', async () => {
  await using t = await setup()
  const wait = (...more: string[]) => t.run('enqueue', 'nap', '{}', '--module', fixture('nap.js'), '--wait', ...more)
  expect(await wait('--timeout', '10ms')).toMatchObject({
    code: 3,
    out: expect.stringMatching(/goes on: millrace job/),
  })
  let result: unknown = { hours: 8 }
  await t.millrace.work({ handlers: [implement(nap, () => result)] })
  const done = await wait()
  expect(done).toMatchObject({ code: 0, err: expect.stringMatching(/^Job \d+ is enqueued\.\n$/) })
  expect(JSON.parse(done.out)).toEqual({ hours: 8 })
  expect(JSON.parse((await wait('--json')).out)).toMatchObject({ status: 'completed', result: { hours: 8 } })
  result = discard('insomnia')
  expect(await wait()).toMatchObject({ code: 2, out: expect.stringMatching(/is dead \(discarded\): insomnia/) })
})

test.each([
  [['enqueue', 'nap', '{n:1}', '--module', fixture('nap.js')], /The payload is not JSON/],
  [['enqueue', 'nap', '7', '--module', fixture('nap.js')], /The payload of job "nap" is not valid/],
  [['enqueue', 'npa', '{}', '--module', fixture('nap.js')], /There is no job type "npa"\. Did you mean "nap"\?/],
  [['enqueue', 'nap', '{}'], /There is no job type "nap"\..* start a worker that declares it/],
  [['enqueue', 'nap', '{}', '--delay', 'soon'], /Expected a number with ms, s, m, h or d/],
  [['job', '1'], /There is no job 1/],
  [['job', 'abc'], /"abc" is not the id of a job/],
  [['jobs', '--status', 'done'], /Allowed choices are pending/],
  [['jobs', '--limit', '0'], /Expected a number from 1 to 1000/],
])('%j is refused', async (args, message) => {
  await using t = await setup()
  const { code, err } = await t.run(...args)
  expect(err).toMatch(message)
  expect(code).toBe(1)
})

test('jobs lists them as a table, as JSON and by filter; an empty list says so', async () => {
  await using t = await setup()
  expect((await t.run('jobs')).out).toBe('No jobs match.\n')
  expect((await t.run('queues')).out).toBe('No worker has declared a queue, nothing waits and nothing runs.\n')
  const { id } = await t.millrace.enqueue(nap, {}, { tenant: 'acme\u001b[31m', delay: '1h' })
  const { id: other } = await t.millrace.enqueue(nap, {})
  await t.millrace.cancel(other, { by: 'ann' })
  expect((await t.run('queues')).out).toMatch(/^beds +0 +1 +0 +0$/m)
  const { out } = await t.run('jobs')
  expect(out).toMatch(/^ID +STATUS +TYPE +QUEUE +TENANT +ATTEMPT +WHEN\n/)
  expect(out).toMatch(new RegExp(`^${id} +pending +nap +beds +acme \\[31m +0/5 +due in (60m|1h)$`, 'm'))
  expect(out).toMatch(new RegExp(`^${other} +cancelled +nap +beds +0/5 +ended (now|\\d+s ago)$`, 'm'))
  const json = await t.run('jobs', '--status', 'cancelled', '--json')
  expect(JSON.parse(json.out)).toMatchObject([{ id: other, status: 'cancelled' }])
  const [, more = ''] = /millrace jobs --limit 1 (--after \S+)/.exec((await t.run('jobs', '--limit', '1')).out) ?? []
  expect((await t.run('jobs', '--limit', '1', ...more.split(' '))).out).toContain(` nap `)
})

test('jobs --where finds, counts, goes on by a cursor, and points at what it cannot read', async () => {
  await using t = await setup()
  const ids = []
  for (const tenant of ['acme', 'umbrella', 'acme'])
    ids.push((await t.millrace.enqueue(nap, {}, { tenant, delay: '1h', correlationId: 'night' })).id)
  const where = ['--where', 'tenant:acme type:n*']
  const { jobs, next, scanned } = JSON.parse((await t.run('jobs', ...where, '--limit', '1', '--json')).out)
  expect([jobs.map(({ id }: { id: string }) => id), scanned]).toEqual([[ids[2]], null])
  const { out } = await t.run('jobs', ...where, '--after', next)
  expect(out).toMatch(new RegExp(`^${ids[0]} +pending`, 'm'))
  expect(out).not.toContain('There may be more')
  expect((await t.run('jobs', ...where, '--tenant', 'acme', '--count')).out).toBe('2\n')
  expect((await t.run('jobs', '--where', 'payload.bed:1')).out).toMatch(
    /^No jobs match\.\n\nLooked at 3 jobs, created from 20\S+Z to 20\S+Z\.\n$/,
  )
  const { code, err } = await t.run('jobs', '--where', 'tenant:acme statu:dead')
  expect(code).toBe(1)
  expect(err).toContain(
    '\n  tenant:acme statu:dead\n              ^^^^^\nThere is no field "statu". Did you mean "status"?\n',
  )
})

test('commands that look need a database that exists, and say when it is not migrated', async () => {
  await using home = await StateHome.create()
  const nowhere = await saidBy(['jobs'], { ...home.env, DATABASE_URL: undefined })
  expect(nowhere).toMatchObject({ code: 1, err: expect.stringMatching(/No database is given/) })
  expect(await home.servers()).toEqual([])
  await using database = await freshDatabase({ migrated: false })
  const empty = await saidBy(['dead'], { DATABASE_URL: database.url })
  expect(empty.err).toMatch(/^error: This database lacks what Millrace needs.*Run `millrace migrate`.*\n$/)
})

// It makes a cluster, and starts it twice.
test('a command that fails stops the embedded database that was started for it', { timeout: 90_000 }, async () => {
  await using home = await StateHome.create()
  const env = { ...home.env, PORT: '0' }
  await using dev = new Program(['dev'], env)
  await dev.said(/Ctrl-C to stop/)
  dev.signal('SIGINT')
  await dev.ended()
  await using job = new Program(['job', '1'], env)
  expect(await job.ended()).toMatchObject({ code: 1, err: expect.stringMatching(/There is no job 1/) })
  expect(await home.servers()).toEqual([])
})

test('job shows one in full', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(nap, {}, { createdBy: 'ada', correlationId: 'night' })
  const { out } = await t.run('job', id)
  expect(out).toMatch(/^Status +pending, due (now|\d+s ago)$/m)
  expect(out).toMatch(/^Correlation +night$/m)
  expect(out).toMatch(/^Created .* by ada$/m)
  expect(JSON.parse((await t.run('job', id, '--json')).out)).toMatchObject({ id, attempts: [], payload: {} })
})

test('cancel ends waiting jobs, and says by its exit code if one was over already', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(nap, {})
  expect(await t.run('cancel', id, '--reason', 'slept enough')).toMatchObject({
    code: 0,
    out: `Job ${id} is cancelled.\n`,
  })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'cancelled', reason: 'slept enough' })
  const late = await t.run('cancel', id, '999', '--json')
  expect(JSON.parse(late.out)).toEqual([
    { id, result: 'already_finished' },
    { id: '999', result: 'not_found' },
  ])
  expect(late.code).toBe(1)
})

test('fail fails an attempt of a job, or for good, and says by its exit code if one was over already', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(nap, {})
  const why = ['--reason', 'too loud', '--by', 'ann']
  const first = await t.run('fail', id, ...why)
  expect(first).toMatchObject({
    code: 0,
    out: expect.stringMatching(/has failed attempt 1 and is tried again in \d+ s/),
  })
  expect(await t.run('fail', id, ...why, '--final')).toMatchObject({ code: 0, out: `Job ${id} is a dead letter.\n` })
  const late = await t.run('fail', id, '999', ...why, '--json')
  expect(JSON.parse(late.out)).toEqual([
    { job: id, status: 'finished', as: 'dead' },
    { job: '999', status: 'not_found' },
  ])
  expect(late.code).toBe(1)
  expect(await t.run('fail', id)).toMatchObject({ code: 1, err: expect.stringMatching(/--reason/) })
})

test('a job whose worker is silent is not shown as one that simply runs, and its progress is shown', async () => {
  await using t = await setup()
  const { id } = await jobInState(t.millrace, 'processing', { contract: nap, payload: {} })
  const db = new pg.Client(t.env.DATABASE_URL)
  await db.connect()
  const quiet = "heartbeat_at = now() - interval '20 seconds', expires_at = now() + interval '25 seconds'"
  await db.query(
    `insert into millrace.job_progress select id, run_id, 3, 10, 'dreaming', now() from millrace.job where id = ${id}`,
  )
  await db.query(`update millrace.worker set host = 'web-3', pid = 411, ${quiet}`)
  await db.end()
  const silence = /Its worker \S+ \(pid 411 on host web-3\) has not been heard of for \d+ s\. .* its lease runs out at /
  const { out } = await t.run('job', id)
  expect(out).toMatch(silence)
  expect(out).toMatch(/^Progress +3 of 10 \(30 %\), dreaming, (now|\d+s ago)$/m)
  expect((await t.run('explain', id)).out).toMatch(silence)
})
