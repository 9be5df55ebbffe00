import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent } from '../../engine/test/support/setup.ts'
import { type AdminSetup, setup } from './support/setup.ts'

const queues = defineQueues({ mail: { priority: 50, concurrency: 5 } })
const welcome = defineJob({
  type: 'WELCOME',
  queue: queues.mail,
  payload: z.strictObject({ to: z.string(), note: z.string().optional() }),
  dedupe: { key: ({ to }) => (to.startsWith('once') ? to : undefined) },
})
const doomed = defineJob({ type: 'DOOMED', queue: queues.mail, payload: z.object({ to: z.string() }) })

let t: AdminSetup
let operator: string

beforeAll(async () => {
  t = await setup([welcome, doomed])
  operator = await t.token('operator')
})
afterAll(() => t[Symbol.asyncDispose]())

/** A job that has died of one error. */
async function dead(): Promise<string> {
  const handler = implement(doomed, () => {
    throw new Unrecoverable('no such address')
  })
  const worker = await t.millrace.work({ handlers: [handler] })
  const { id } = await t.millrace.enqueue(doomed, { to: 'ann' })
  await jobEvent(t.millrace, 'job_died', id)
  await worker.stop()
  return id
}

test('a job is enqueued by its type, as its author, and noted in the audit log with source and request id', async () => {
  const { status, body, headers } = await t.call('POST /admin/api/jobs/enqueue', {
    token: operator,
    body: { job_type: 'WELCOME', payload: { to: 'ann' } },
    headers: { 'x-request-id': 'r-1' },
  })
  expect(status).toBe(201)
  expect(headers.get('x-request-id')).toBe('r-1')
  expect(body).toEqual({ status: 'queued', id: expect.any(String), job_type: 'WELCOME', queue: 'mail', warnings: [] })
  expect(await t.millrace.job(body.id)).toMatchObject({ createdBy: 'operator 1', payload: { to: 'ann' } })
  expect(await t.millrace.audit.list({ target: body.id })).toMatchObject([
    { by: 'operator 1', action: 'job.enqueue', source: 'http', requestId: 'r-1' },
  ])
})

test('a duplicate is answered with 200 and the id of the job that lives', async () => {
  const body = { job_type: 'WELCOME', payload: { to: 'once' } }
  const first = await t.call('POST /admin/api/jobs/enqueue', { token: operator, body })
  const second = await t.call('POST /admin/api/jobs/enqueue', { token: operator, body })
  expect(second).toMatchObject({ status: 200, body: { status: 'duplicate', id: first.body.id } })
})

test.each([
  ['an unknown type', { job_type: 'WELCOM', payload: {} }, 404, 'unknown_job_type', /WELCOME/],
  ['an unknown key of the payload', { job_type: 'WELCOME', payload: { to: 'a', x: 1 } }, 400, 'invalid_payload', /x/],
  ['a missing type', { payload: {} }, 400, 'invalid_request', /job_type/],
  ['an unknown field', { job_type: 'WELCOME', payloads: {} }, 400, 'invalid_request', /payloads/],
])('%s is refused as a problem that says what is wrong', async (_, body, status, code, detail) => {
  const answer = await t.call('POST /admin/api/jobs/enqueue', { token: operator, body })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toContain('application/problem+json')
  expect(answer.body).toMatchObject({
    status,
    code,
    detail: expect.stringMatching(detail),
    requestId: expect.any(String),
  })
})

test.each([
  ['text', 'not json', 'application/json', 400],
  ['a list', '[]', 'application/json', 400],
  ['a form', 'a=1', 'application/x-www-form-urlencoded', 415],
])('a body that is %s is refused', async (_, body, type, status) => {
  const answer = await t.call('POST /admin/api/jobs/enqueue', {
    token: operator,
    body,
    headers: { 'content-type': type },
  })
  expect(answer.status).toBe(status)
})

test('jobs are listed newest first, by page, and payloads are for operators', async () => {
  const viewer = await t.token('viewer')
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.unshift((await t.millrace.enqueue(welcome, { to: `page ${i}` })).id)
  const first = await t.call('GET /admin/api/jobs?type=WELCOME&limit=2', { token: viewer })
  expect(first.body.jobs.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2))
  expect(first.body.jobs[0]).not.toHaveProperty('payload')
  const next = await t.call(`GET /admin/api/jobs?type=WELCOME&limit=2&before=${first.body.next}`, { token: operator })
  expect(next.body.jobs[0]).toMatchObject({ id: ids[2], payload: { to: 'page 0' } })
  const one = await t.call(`GET /admin/api/jobs/${ids[0]}`, { token: viewer })
  expect(one.body).toMatchObject({ id: ids[0], attempts: [], steps: [], progress: null })
  expect(Object.keys(one.body)).not.toEqual(expect.arrayContaining(['payload']))
  expect(Object.keys(one.body)).not.toEqual(expect.arrayContaining(['logs']))
})

test('a job is explained, prioritised, failed and cancelled', async () => {
  const { id } = await t.millrace.enqueue(welcome, { to: 'steered' })
  const send = (line: string, body: unknown = {}) => t.call(line, { token: operator, body })
  const explained = await t.call(`GET /admin/api/jobs/${id}/explain`, { token: operator })
  expect(explained.body.reasons).toMatchObject([{ mechanism: 'worker' }])
  expect((await send(`POST /admin/api/jobs/${id}/prioritise`, { priority: 7 })).body).toMatchObject({
    before: 50,
    priority: 7,
  })
  expect((await send(`POST /admin/api/jobs/${id}/fail`, { reason: 'by hand' })).body).toMatchObject({
    status: 'retrying',
  })
  expect((await send(`POST /admin/api/jobs/${id}/retry`)).body).toEqual({ status: 'due' })
  expect((await send(`POST /admin/api/jobs/${id}/cancel`)).body).toEqual({ status: 'cancelled' })
  const late = await send(`POST /admin/api/jobs/${id}/cancel`)
  expect(late).toMatchObject({ status: 409, body: { code: 'already_finished', as: 'cancelled' } })
})

test('two operators who cancel a job at once: one wins, the other is told', async () => {
  const { id } = await t.millrace.enqueue(welcome, { to: 'both' })
  const other = await t.token('operator')
  const answers = await Promise.all(
    [operator, other].map((token) => t.call(`POST /admin/api/jobs/${id}/cancel`, { token, body: {} })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(await t.millrace.audit.list({ target: id, action: 'job.cancel' })).toHaveLength(1)
})

test('a dead job is retried with an edited payload, once', async () => {
  const id = await dead()
  const body = { payload: { to: 'bob' } }
  const answers = await Promise.all(
    [1, 2].map(() => t.call(`POST /admin/api/jobs/${id}/retry`, { token: operator, body })),
  )
  const won = answers.find(({ status }) => status === 200)
  const lost = answers.find(({ status }) => status === 409)
  expect(won?.body).toMatchObject({ status: 'redriven' })
  expect(lost?.body).toMatchObject({ code: 'already_redriven', jobId: won?.body.jobId })
  expect(await t.millrace.job(won?.body.jobId)).toMatchObject({ payload: { to: 'bob' }, createdBy: 'operator 1' })
})

test('dead letters are listed, grouped, shown and decided about', async () => {
  const jobId = await dead()
  const send = (line: string, body: unknown) =>
    t.call(`POST /admin/api/dead-letters/${line}`, { token: operator, body })
  const list = await t.call('GET /admin/api/dead-letters?status=pending&acknowledged=false', { token: operator })
  const letter = list.body.letters.find((each: { jobId: string }) => each.jobId === jobId)
  const whole = await t.call(`GET /admin/api/dead-letters/${letter.id}`, { token: operator })
  expect(whole.body).toMatchObject({
    originalJob: { payload: { to: 'ann' } },
    failedAttempts: [{ errorMessage: 'no such address' }],
  })
  const viewer = await t.token('viewer')
  expect((await t.call(`GET /admin/api/dead-letters/${letter.id}`, { token: viewer })).body).not.toHaveProperty(
    'originalJob',
  )
  const groups = await t.call('GET /admin/api/dead-letters/groups', { token: operator })
  expect(groups.body.groups).toMatchObject([{ type: 'DOOMED', sampleMessage: 'no such address' }])
  const ids = [letter.id, '999999']
  expect((await send('acknowledge', { ids })).body.results).toMatchObject([
    { id: letter.id, status: 'acknowledged' },
    { id: '999999', status: 'not_found' },
  ])
  expect((await send('note', { ids, note: 'asked the provider' })).body.results[0]).toMatchObject({ status: 'noted' })
  expect((await send('resolve', { ids })).body.results[0]).toMatchObject({ status: 'resolved' })
  expect((await send('redrive', { ids })).body.results).toMatchObject([
    { status: 'refused', reason: 'resolved' },
    { status: 'not_found' },
  ])
})
