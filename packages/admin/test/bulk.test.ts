// Bulk operations over HTTP, run by a real worker.
import { defineJob, defineQueues, implement } from 'millrace'
import { jobInState } from 'millrace/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../../engine/test/support/setup.ts'
import { type AdminSetup, requestOf, setup } from './support/setup.ts'

const queues = defineQueues({ mail: { priority: 50, concurrency: 5 }, other: {} })
const mail = defineJob({ type: 'MAIL', queue: queues.mail, payload: z.object({ to: z.string() }) })
const idle = defineJob({ type: 'IDLE', queue: queues.other, payload: z.object({}) })

let t: AdminSetup
let operator: string

beforeAll(async () => {
  t = await setup([mail, idle])
  operator = await t.token('operator')
})
afterAll(() => t[Symbol.asyncDispose]())

const mails = async (count: number, tenant: string) => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await t.millrace.enqueue(mail, { to: `${i}` }, { tenant })).id)
  return ids
}

const post = (path: string, body: unknown = {}, token = operator) =>
  t.call(`POST /admin/api/bulk${path}`, { token, body, headers: { 'x-request-id': 'r-bulk' } })
const get = (path: string, token = operator) => t.call(`GET /admin/api/bulk${path}`, { token })

/** Once workers have ended it. */
async function ended(id: string) {
  await eventually(async () => (await t.millrace.bulk.get(id))?.status !== 'running')
  return (await get(`/${id}`)).body
}

test('of two operators who cancel an operation at once, one wins and the other is told', async () => {
  const [id] = await mails(1, 'stopped')
  const { body: started } = await post('', { action: 'cancel', ids: [id], reason: 'not needed' })
  expect(started).toMatchObject({ status: 'running', waits: expect.stringContaining('no worker') })
  const other = await t.token('operator')
  const answers = await Promise.all([operator, other].map((token) => post(`/${started.id}/cancel`, {}, token)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'already_finished',
    as: 'cancelled',
  })
  expect(await t.millrace.audit.list({ target: started.id, action: 'bulk.cancel' })).toHaveLength(1)
  expect(await t.millrace.job(id as string)).toMatchObject({ status: 'pending' })
})

test('an operation is previewed, tried dry, run with a report, and taken back', async () => {
  const ids = await mails(3, 'acme')
  const request = { action: 'prioritise', query: 'type:MAIL tenant:acme', priority: 7 }
  expect((await post('/preview', request)).body).toMatchObject({
    ...{ total: 3, willChange: 3, already: 0, refused: 0, noUndo: null },
    groups: [{ queue: 'mail', type: 'MAIL', willChange: 3 }],
  })
  // A worker without a handler for these jobs: it runs operations all the same.
  await t.millrace.work({ handlers: [implement(idle, () => {})] })

  const dry = await post('', { ...request, dryRun: true })
  expect(dry).toMatchObject({ status: 201, body: { isDryRun: true, expected: 3, createdBy: 'operator 1' } })
  expect(await ended(dry.body.id)).toMatchObject({ status: 'completed', changed: 3, open: 0 })
  expect(await t.millrace.job(ids[0] as string)).toMatchObject({ priority: 50 })

  const { body: started } = await post('', { ...request, rate: 100 })
  expect(await ended(started.id)).toMatchObject({ status: 'completed', changed: 3, noUndo: null, rate: 100 })
  const items = await get(`/${started.id}/items?outcome=changed&limit=2`)
  expect(items.body).toMatchObject({
    items: [
      { jobId: ids[0], outcome: 'changed', before: 50 },
      { jobId: ids[1], outcome: 'changed' },
    ],
    next: ids[1],
  })
  expect((await get(`/${started.id}/items?after=${ids[1]}`)).body).toMatchObject({
    items: [{ jobId: ids[2] }],
    next: null,
  })

  const undo = await post(`/${started.id}/undo`)
  expect(undo).toMatchObject({ status: 201, body: { undoOf: started.id } })
  expect(await ended(undo.body.id)).toMatchObject({ status: 'completed', changed: 3 })
  expect(await t.millrace.job(ids[0] as string)).toMatchObject({ priority: 50 })
  expect(await post(`/${started.id}/undo`)).toMatchObject({ status: 409, body: { code: 'no_undo' } })

  const list = await get('?limit=2')
  expect(list.body.operations.map(({ id }: { id: string }) => id)).toEqual([undo.body.id, started.id])
  expect((await get(`?before=${list.body.next}&limit=1`)).body.operations).toMatchObject([{ id: dry.body.id }])

  expect(await t.millrace.audit.list({ target: started.id, action: 'bulk.start' })).toMatchObject([
    {
      by: 'operator 1',
      action: 'bulk.start',
      source: 'http',
      requestId: 'r-bulk',
      details: { priority: 7, rate: 100 },
    },
  ])
  expect(await t.millrace.audit.list({ target: undo.body.id, action: 'bulk.undo' })).toHaveLength(1)
  expect(await t.millrace.audit.list({ target: dry.body.id, action: 'bulk.dry_run' })).toHaveLength(1)
})

test('a canary is followed, and somebody who would not wait for it goes on', async () => {
  for (const tenant of ['a', 'a', 'b', 'c'])
    await jobInState(t.millrace, 'dead', { contract: mail, payload: { to: 'x' }, tenant })
  const start = { action: 'redrive', query: 'type:MAIL status:dead', canary: 2, rate: 50 }
  expect(await post('', { ...start, action: 'retry' })).toMatchObject({ status: 400 })
  const { body: started } = await post('', start)
  expect(started).toMatchObject({ canary: { size: 2, stage: 'choosing' } })
  await eventually(async () => (await t.millrace.bulk.get(started.id))?.canary?.stage === 'waiting')
  const { body: waiting } = await get(`/${started.id}`)
  expect(waiting.canaries).toMatchObject([
    { tenant: expect.any(String), newJobId: expect.any(String), status: 'pending', letterId: expect.any(String) },
    { outcome: 'changed' },
  ])
  const viewer = await t.token('viewer')
  expect(await t.call(`GET /admin/api/stream?topics=bulk:${started.id}`, { token: viewer })).toMatchObject({
    status: 403,
  })
  const stream = await t.handler(requestOf(`GET /admin/api/stream?topics=bulk:${started.id}`, { token: operator }))
  let told = ''
  const decoder = new TextDecoder()
  const reader = stream.body?.getReader()
  while (reader !== undefined && !told.includes('data:')) told += decoder.decode((await reader.read()).value)
  expect(told).toContain('"stage":"waiting"')
  await reader?.cancel()
  expect(await post(`/${started.id}/proceed`, { rate: 100 })).toMatchObject({
    body: { rate: 100, canary: { stage: 'skipped' } },
  })
  expect(await ended(started.id)).toMatchObject({ status: 'completed', changed: 4 })
  expect(await post(`/${started.id}/proceed`)).toMatchObject({ status: 409, body: { code: 'no_canary' } })
  expect((await get('?limit=1')).body.operations).toMatchObject([{ id: started.id, canary: { stage: 'skipped' } }])
})

test('a caller of one tenant changes only its jobs, and does not see the operations of others', async () => {
  const [theirs] = await mails(1, 'theirs')
  const [own] = await mails(1, 'own')
  const token = await t.token('operator', ['own'])
  const request = { action: 'cancel', ids: [own, theirs] }
  expect((await post('/preview', request, token)).body).toMatchObject({ total: 1 })
  expect((await post('/preview', { action: 'cancel', query: 'tenant:theirs' }, token)).body).toMatchObject({ total: 0 })
  expect(await post('', { ...request, tenant: 'theirs' }, token)).toMatchObject({ status: 404 })
  const { body: started } = await post('', request, token)
  expect(await ended(started.id)).toMatchObject({ status: 'completed', tenant: 'own', changed: 1 })
  expect(await t.millrace.job(own as string)).toMatchObject({ status: 'cancelled' })
  expect(await t.millrace.job(theirs as string)).toMatchObject({ status: 'pending' })
  const { body: foreign } = await post('', { action: 'cancel', ids: [theirs] })
  for (const line of ['', '/items'])
    expect(await get(`/${foreign.id}${line}`, token)).toMatchObject({ status: 404, body: { code: 'bulk_not_found' } })
  expect(await post(`/${foreign.id}/cancel`, {}, token)).toMatchObject({ status: 404 })
  expect((await get('', token)).body.operations).toMatchObject([{ id: started.id }])
  const both = await t.token('operator', ['own', 'theirs'])
  expect(await post('/preview', request, both)).toMatchObject({ status: 400, body: { code: 'tenant_needed' } })
})

test.each([
  ['no jobs', { action: 'cancel' }, 'invalid_definition', /query or ids/],
  ['a query and ids', { action: 'cancel', query: 'type:MAIL', ids: ['1'] }, 'invalid_definition', /query or ids/],
  ['a query without a term', { action: 'cancel', query: ' ' }, 'invalid_definition', /every job/],
  ['a query that cannot be read', { action: 'cancel', query: 'stats:dead' }, 'invalid_query', /status/],
  ['an option of another action', { action: 'cancel', ids: ['1'], priority: 3 }, 'invalid_request', /takes reason/],
  ['a missing reason', { action: 'fail', ids: ['1'] }, 'invalid_definition', /reason/],
  ['an unknown action', { action: 'explode', ids: ['1'] }, 'invalid_request', /action/],
])('%s is refused, and says why', async (_, body, code, detail) => {
  const answer = await post('', body)
  expect(answer).toMatchObject({ status: 400, body: { code, detail: expect.stringMatching(detail) } })
})

test('pruning in bulk needs an admin, as pruning does', async () => {
  const request = { action: 'prune', query: 'status:completed created:<-300d' }
  expect(await post('/preview', request)).toMatchObject({ status: 403, body: { code: 'role_needed' } })
  expect(await post('/preview', request, await t.token('admin'))).toMatchObject({ status: 200, body: { total: 0 } })
})
