// The calls of the register's programs, by the names that they have there.
import { InvalidPayload, UnknownJobType } from 'millrace'
import { drain, jobInState } from 'millrace/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { email, webhook } from '#src/contracts'
import { JobsApi } from '#src/jobs-api'
import { type Lipas, setup } from './support/lipas.ts'

let t: Lipas
let jobs: JobsApi
beforeAll(async () => {
  t = await setup({ hasSampleData: true })
  jobs = new JobsApi(t.millrace)
})
afterAll(() => t[Symbol.asyncDispose]())

const to = 'user@example.com'
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

test('a job keeps all seven options', async () => {
  const parent = await jobs.enqueueJob('email', { to }, { runAt: new Date(Date.now() + 60_000) })
  const runAt = new Date(Date.now() + 300_000)
  const options = {
    ...{ priority: 50, runAt, correlationId: 'user-action-123', dedupKey: 'analysis-12345', maxAttempts: 5 },
    ...{ parentJobId: parent.id, createdBy: 'ann' },
  }
  const { id, status } = await jobs.enqueueJob('analysis', { 'lipas-id': 12_345 }, options)
  expect(status).toBe('queued')
  const [row] = await t.sql('select * from millrace.jobs where id = $1', [id])
  expect(row).toMatchObject({
    ...{ type: 'analysis', payload: { 'lipas-id': 12_345 }, priority: 50, run_at: runAt, max_attempts: 5 },
    ...{ correlation_id: 'user-action-123', dedup_key: 'analysis-12345', parent_job_id: parent.id, created_by: 'ann' },
  })
})

test('without options it runs at priority 100, has 3 attempts, and a correlation id of its own', async () => {
  const { id } = await jobs.enqueueJob('email', { to })
  expect(await t.millrace.job(id)).toMatchObject({
    priority: 100,
    maxAttempts: 3,
    correlationId: expect.stringMatching(uuid),
  })
})

test('a second job under a dedup key is a duplicate while the first waits, and new once it has ended', async () => {
  const place = { 'lipas-id': 5_678 }
  const first = await jobs.enqueueJob('analysis', place)
  expect(await jobs.enqueueJob('analysis', place)).toMatchObject({ status: 'duplicate', id: first.id })
  // The key belongs to the type.
  expect(await jobs.enqueueJob('elevation', place)).toMatchObject({ status: 'queued' })
  await t.millrace.cancel(first.id, { by: 'test' })
  expect(await jobs.enqueueJob('analysis', place)).toMatchObject({ status: 'queued' })
})

test('a misspelt type, the retired one and a wrong payload are refused, and nothing is written', async () => {
  const count = async () => (await t.sql<{ count: number }>('select count(*)::int from millrace.jobs'))[0]?.count
  const before = await count()
  await expect(jobs.enqueueJob('analisys', { 'lipas-id': 1 })).rejects.toThrow('Did you mean "analysis"')
  await expect(jobs.enqueueJob('integration', {})).rejects.toThrow(UnknownJobType)
  await expect(jobs.enqueueJob('analysis', { 'lipas-id': '12' })).rejects.toThrow(InvalidPayload)
  const chain = [
    { type: 'email', payload: { to } },
    { type: 'analysis', payload: { 'lipas-id': 0 } },
  ]
  await expect(jobs.createJobChain(chain)).rejects.toThrow(InvalidPayload)
  await expect(jobs.createJobChain([{ type: 'mail', payload: {} }])).rejects.toThrow(UnknownJobType)
  expect(await count()).toBe(before)
})

test('priority 50 runs before 100, and a job in five minutes does not run before', async () => {
  await using other = await setup({ hasSampleData: true })
  const api = new JobsApi(other.millrace)
  const late = await api.enqueueJob(
    'webhook',
    { 'lipas-ids': [123] },
    { runAt: new Date(Date.now() + 300_000), priority: 1 },
  )
  const usual = await api.enqueueJob('webhook', { 'lipas-ids': [123] })
  const urgent = await api.enqueueJob('webhook', { 'lipas-ids': [123] }, { priority: 50 })
  const runs = await drain(other.millrace, [other.handler('webhook')])
  expect(runs.map(({ job }) => job.id)).toEqual([urgent.id, usual.id])
  expect(await other.millrace.job(late.id)).toMatchObject({ status: 'pending' })
})

test('a chain is two jobs under one correlation id; the trace and the jobs are found by it', async () => {
  const chain = await jobs.createJobChain([
    { type: 'email', payload: { to } },
    { type: 'analysis', payload: { 'lipas-id': 123 } },
  ])
  expect('jobs' in chain && chain.jobs).toHaveLength(2)
  expect(chain.correlationId).toMatch(uuid)
  const found = await jobs.getJobsByCorrelation(chain.correlationId)
  expect(found.jobs.map(({ type }) => type).sort()).toEqual(['analysis', 'email'])
  const trace = await jobs.getCorrelationTrace(chain.correlationId)
  expect(trace.jobs).toHaveLength(2)
})

test('in order, the second starts after the first has completed', async () => {
  const inOrder = await jobs.createJobChain(
    [
      { type: 'email', payload: { to } },
      { type: 'webhook', payload: { 'lipas-ids': [123] } },
    ],
    { inOrder: true },
  )
  const types = async () => (await jobs.getJobsByCorrelation(inOrder.correlationId)).jobs.map(({ type }) => type)
  expect(await types()).toEqual(['email'])
  await drain(t.millrace, [t.handler('email')])
  expect(await types()).toEqual(['email', 'webhook'])
})

test('a job that is failed by hand waits for its retry, or is a dead letter after its last attempt', async () => {
  const running = await jobInState(t.millrace, 'processing', { contract: email, payload: { to } })
  const failed = await jobs.failJob(running.id, 'External service unavailable', { currentAttempt: 2, maxAttempts: 3 })
  expect(failed).toMatchObject({ status: 'retrying', attempt: 1 })
  const last = await jobInState(t.millrace, 'processing', { contract: email, payload: { to }, maxAttempts: 1 })
  expect(await jobs.failJob(last.id, 'External service unavailable')).toMatchObject({ status: 'dead' })
  expect(await t.millrace.deadLetters.ofJob(last.id)).toMatchObject({
    errorMessage: 'External service unavailable (failed by lipas)',
  })
})

test('dead letters are listed, reprocessed once and acknowledged', async () => {
  const dead = await jobInState(t.millrace, 'dead', { contract: webhook, payload: { 'lipas-ids': [123] } })
  const other = await jobInState(t.millrace, 'dead', { contract: webhook, payload: { 'lipas-ids': [123] } })
  const [letter, second] = await Promise.all([dead, other].map(({ id }) => t.millrace.deadLetters.ofJob(id)))
  const [id = '', secondId = ''] = [letter?.id, second?.id]
  const open = async () => (await jobs.getDeadLetterJobs({ acknowledged: false })).map((each) => each.id)
  expect(await open()).toEqual(expect.arrayContaining([id, secondId]))
  expect(await jobs.reprocessDeadLetterJob(id, 'admin@lipas.fi', { maxAttempts: 3 })).toMatchObject({
    status: 'redriven',
  })
  expect(await jobs.reprocessDeadLetterJobs([id, '999999'], 'admin@lipas.fi')).toMatchObject([
    { status: 'already_redriven' },
    { status: 'not_found' },
  ])
  expect(await jobs.acknowledgeDeadLetterJobs([secondId], 'admin@lipas.fi')).toMatchObject([{ status: 'acknowledged' }])
  expect(await open()).not.toContain(secondId)
})

test('statistics and metrics tell what waits and what has run', async () => {
  const stats = await jobs.getQueueStats()
  expect(stats.pending.count).toBeGreaterThan(0)
  const metrics = await jobs.getAdminMetrics({ fromHoursAgo: 24 })
  expect(Object.keys(metrics)).toEqual(expect.arrayContaining(['currentStats', 'health']))
})

test('there are example payloads of all seven types', () => {
  const examples = jobs.exampleJobPayloads()
  expect(Object.keys(examples)).toHaveLength(7)
  for (const payloads of Object.values(examples)) expect(payloads.length).toBeGreaterThan(0)
})
