// docs/workloads/lipas/operations.md: its commands and recipes run as they stand there, by the real curl, psql and millrace.
import { readFileSync } from 'node:fs'
import { drain, jobInState } from 'millrace/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { WATCHED } from '#src/alerts'
import { analysis, email, services, webhook } from '#src/contracts'
import { JobsApi } from '#src/jobs-api'
import { lipasMetrics } from '#src/telemetry/metrics'
import { saidBy } from '../../../packages/cli/test/support/in-process.ts'
import { blocks, root } from '../../../test/support/document.ts'
import { hasPrograms, one, serve } from '../../../test/support/guide.ts'
import { type Lipas, setup } from './support/lipas.ts'

const GUIDE = 'docs/workloads/lipas/operations.md'
const text = readFileSync(`${root}${GUIDE}`, 'utf8')
const [shell, sql] = [blocks(GUIDE, 'sh'), blocks(GUIDE, 'sql')]
if (!hasPrograms) console.warn(`SKIPPED: curl or psql is not installed, so the commands of ${GUIDE} are not tested.`)

/** What the database service of compose.yaml says to psql. */
function psqlVariables(): Record<string, string> {
  const compose = parse(readFileSync(`${root}workloads/lipas/compose.yaml`, 'utf8')) as {
    services: { db: { environment: string[] } }
  }
  const lines = compose.services.db.environment.filter((line) => line.startsWith('PG'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

describe.skipIf(!hasPrograms)('the guide', () => {
  let t: Lipas
  let server: Awaited<ReturnType<typeof serve>>
  let letters: string[]
  let failed: string
  beforeAll(async () => {
    t = await setup({ hasSampleData: true })
    const { PGOPTIONS = '' } = psqlVariables()
    server = await serve({ ...t, routes: t.workload.routes ?? [], isDevelopment: true, env: { PGOPTIONS } })
    // One action whose e-mail is sent and whose webhook waits for its retry, and two e-mails that are refused for good.
    await t.sql('alter table millrace.dead_letter_jobs alter column id restart with 123')
    const jobs = new JobsApi(t.millrace)
    await jobs.enqueueJob('email', { to: 'user@example.com' }, { correlationId: 'user-action-123' })
    t.sandbox.set('utp', 'down')
    const options = { correlationId: 'user-action-123' }
    failed = (await jobs.enqueueJob('webhook', { 'lipas-ids': [123] }, options)).id
    await jobs.enqueueJob('email', { to: 'nobody@example.com' }, options)
    await drain(t.millrace, [t.handler('email'), t.handler('webhook')])
    await jobs.enqueueJob('email', { to: 'nobody@example.com' })
    await drain(t.millrace, [t.handler('email')])
    t.sandbox.set('utp', 'ok')
    letters = (await t.millrace.deadLetters.list()).map(({ id }) => id)
    const stuck = await jobInState(t.millrace, 'processing', { contract: webhook, payload: { 'lipas-ids': [1234] } })
    await t.sql(`update millrace.job set started_at = now() - interval '2 hours' where id = $1`, [stuck.id])
    await t.millrace.enqueue(analysis, { 'lipas-id': 12_345 })
    await t.millrace.enqueue(email, { to: 'later@example.com' })
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await t[Symbol.asyncDispose]()
  })

  const answer = (part: string) => server.psql(one(sql, part))

  test('has recipes for the state of the queue', async () => {
    const health = await answer('job_queue_health')
    for (const line of ['analysis|pending|1', 'webhook|processing|1', 'email|dead|2', 'webhook|failed|1'])
      expect(health).toContain(line)
    expect(await answer("INTERVAL '1 hour';")).toMatch(/^\d+\|webhook\|processing\|1\|/)
    expect(await answer('latest_failure')).toMatch(/^webhook\|1\|/)
    const performance = (await answer('total_jobs')).split('\n').map((line) => line.split('|'))
    expect(Object.fromEntries(performance.map(([type, , , total]) => [type, total]))).toEqual({
      email: '3',
      webhook: '1',
    })
    expect(await answer("status='processing' GROUP BY status")).toBe('processing|1')
    expect((await answer("status IN ('pending', 'processing')")).split('\n').sort()).toEqual([
      'analysis|pending|1',
      'email|pending|1',
      'webhook|processing|1',
    ])
  })

  test('has recipes for what failed, and for one action', async () => {
    expect((await answer('acknowledged = false')).split('\n')).toHaveLength(2)
    const chain = (await answer('id = 123')).split('\n')
    expect(chain).toHaveLength(3)
    const trace = (await answer('WITH job_trace')).split('\n').map((line) => line.split('|'))
    expect(trace.filter(([source]) => source === 'job')).toHaveLength(3)
    expect(trace.filter(([source]) => source === 'metric')).toHaveLength(3)
    expect(await answer("dedup_key = 'analysis-12345'")).toContain('|analysis|pending|analysis-12345|')
  })

  test('has recipes for breakers: what is open, and a reset', async () => {
    await t.millrace.breakers.trip(services.email.name, { by: 'test' })
    expect(await answer('SELECT * FROM circuit_breakers')).toMatch(/^email-service\|open\|/m)
    await answer('UPDATE circuit_breakers')
    expect(await t.millrace.breakers.get(services.email.name)).toMatchObject({ state: 'closed' })
    // The same by millrace psql, which sets the search path itself.
    const found = await server.sh(`npx millrace psql -At -c "${one(sql, 'SELECT * FROM circuit_breakers').trim()}"`, {
      PGOPTIONS: '',
    })
    expect(found).toContain('email-service|closed|0|0')
  })

  test('asks for health, metrics and dead letters by curl', async () => {
    const of = async (part: string) => JSON.parse(await server.sh(one(shell, part)))
    expect(await of('get-jobs-health-status')).toMatchObject({
      ...{ status: expect.stringMatching(/^(ok|degraded|failing)$/), reasons: expect.any(Array) },
      ...{ 'pending-count': expect.any(Number), 'dead-count': 2, breakers: expect.any(Array) },
    })
    const metrics = await of('create-jobs-metrics-report')
    expect(Object.keys(metrics)).toEqual(
      expect.arrayContaining(['current-stats', 'health', 'performance-metrics', 'hourly-throughput', 'generated-at']),
    )
    const listed = await of('get-dead-letter-jobs')
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(letters)
    expect(listed[0]).toMatchObject({ 'original-job': { type: 'email' }, acknowledged: false })
  })

  test('acknowledges and reprocesses dead letters by curl: each id has its answer, and a letter gets one new job', async () => {
    const acknowledge = one(shell, 'acknowledge-dead-letter-jobs')
    const reprocess = one(shell, 'reprocess-dead-letter-jobs')
    const of = async (block: string) => JSON.parse(await server.sh(block))
    expect(await of(acknowledge)).toMatchObject([{ status: 'acknowledged' }, { status: 'not_found' }])
    expect(await server.sh(one(shell, 'get-dead-letter-jobs')).then(JSON.parse)).toHaveLength(1)
    expect(await t.millrace.deadLetters.list()).toHaveLength(2)
    const both = await Promise.all([of(reprocess), of(reprocess.replace('123, 456', '"123", "456"'))])
    const statuses = both.map((answers: { status: string }[]) => answers.map(({ status }) => status))
    expect(statuses.map(([, second]) => second)).toEqual(['not_found', 'not_found'])
    expect(statuses.map(([first]) => first).sort()).toEqual(['already_redriven', 'redriven'])
    const refused = (block: string) =>
      server.sh(block).then(
        () => undefined,
        ({ stdout }: { stdout: string }) => JSON.parse(stdout),
      )
    const metrics = one(shell, 'create-jobs-metrics-report')
    for (const wrong of [
      reprocess.replace('123, 456', '"abc"'),
      reprocess.replace('"max-attempts": 3', '"max-attempts": 0'),
      metrics.replace('24', '0').replace('"to-hours-ago": 0', '"to-hours-ago": 24'),
      metrics.replace('24', '169'),
    ])
      expect(await refused(wrong), wrong).toMatchObject({ status: 400, title: expect.any(String) })
  })

  test('names commands of millrace that run', async () => {
    await jobInState(t.millrace, 'pending', { contract: email, payload: { to: 'user@example.com' } })
    const named = [...text.matchAll(/`npx (millrace [^`]+)`/g)].map(([, line = '']) =>
      line.replace(/\bJOB\b/, failed).replace(/schedules pause NAME/, 'schedules list'),
    )
    expect(named.length).toBeGreaterThan(10)
    // psql alone waits for a person.
    for (const line of new Set(named.filter((each) => each !== 'millrace psql'))) {
      const { code, err } = await saidBy(line.split(' ').slice(1), { DATABASE_URL: t.url })
      // doctor ends with 3 while something is degraded, as here.
      expect([0, line === 'millrace doctor' ? 3 : 0], `${line}\n${err}`).toContain(code)
    }
  })
})

test('the guide names every metric of LIPAS and every alert that is watched', () => {
  for (const { name } of lipasMetrics) expect(text).toContain(`\`${name}`)
  for (const name of WATCHED) expect(text).toContain(`| \`${name}\` |`)
})
