// What an answer never shows: sealed values to nobody, payloads, results and logs not to viewers, other tenants not to a tenant.
import { operations } from '@millrace/admin/contract'
import { cron, defineJob, defineQueues, defineWorkflow, implement, Unrecoverable } from 'millrace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { ringOf } from '../../engine/test/support/keys.ts'
import { eventually, jobEvent } from '../../engine/test/support/setup.ts'
import { leastRequest, type Things } from './support/least-request.ts'
import { type AdminSetup, setup } from './support/setup.ts'

const SEALED = 'sealed-canary'
const PAYLOAD = 'payload-canary'
const RESULT = 'result-canary'
const LOG = 'log-canary'

const queues = defineQueues({ ward: { logs: 'keep' }, narrow: { concurrency: 1 } })
const admit = defineJob({
  type: 'ADMIT',
  queue: queues.ward,
  payload: z.object({ patient: z.string(), note: z.string(), dies: z.boolean().optional() }),
  result: z.object({ diagnosis: z.string(), bed: z.string() }),
  sensitive: ['patient', 'diagnosis'],
  history: 'full',
})
const visit = defineJob({ type: 'VISIT', queue: queues.ward, payload: z.object({ note: z.string() }) })
const slow = defineJob({ type: 'SLOW', queue: queues.narrow, payload: z.object({}) })
const care = defineWorkflow('care', { input: z.object({ note: z.string() }) }).step('visit', visit, {
  payload: ({ input }) => input,
})

let t: AdminSetup
let things: Things
const payload = { patient: SEALED, note: PAYLOAD }
const tenant = 'clinic'

beforeAll(async () => {
  t = await setup([admit, visit, slow], { workflows: [care], encryption: ringOf('a') })
  const { millrace } = t
  const worker = await millrace.work({
    handlers: [
      implement(admit, ({ patient, dies }, { log }) => {
        log.info({ bed: LOG }, `${LOG}: admitting ${patient}`)
        if (dies) throw new Unrecoverable(`no bed for ${patient}`)
        return { diagnosis: SEALED, bed: RESULT }
      }),
    ],
  })
  const { id: job } = await millrace.enqueue(admit, payload, { tenant, correlationId: 'visit-7' })
  await jobEvent(millrace, 'job_completed', job)
  const { id: died } = await millrace.enqueue(admit, { ...payload, dies: true }, { tenant })
  await jobEvent(millrace, 'job_died', died)
  await worker.stop()
  await millrace.retry(died, { by: 'ann', payload: { ...payload, dies: false } })
  const when = cron('0 8 * * *')
  await millrace.schedules.create({
    name: 'rounds',
    type: 'VISIT',
    when,
    payload: { note: PAYLOAD },
    tenant,
    by: 'ann',
  })
  things = {
    ...{ job, tenant, schedule: 'rounds', type: 'ADMIT', correlation: 'visit-7' },
    letter: (await millrace.deadLetters.ofJob(died))?.id ?? '',
    workflow: (await millrace.workflows.start(care, { note: PAYLOAD }, { tenant })).id,
    bulk: (await millrace.bulk.start({ action: 'cancel', ids: [job] }, { by: 'ann' })).id,
  }
})
afterAll(() => t[Symbol.asyncDispose]())

/** The answers to all that this role can ask for, by operation. */
async function answers(role: 'viewer' | 'admin'): Promise<Map<string, string>> {
  const token = await t.token(role)
  const heard = new Map<string, string>()
  for (const each of operations()) {
    if (each.endpoint.method !== 'GET' || each.endpoint.media !== undefined) continue
    const { status, body } = await t.call(leastRequest(each, things).line, { token })
    if (status === 200) heard.set(each.name, JSON.stringify(body))
  }
  return heard
}

test('sealed values are in no answer, whoever asks', async () => {
  const heard = await answers('admin')
  const ofJob = heard.get('jobs.get')
  for (const shown of [PAYLOAD, RESULT, LOG, '[encrypted]']) expect(ofJob).toContain(shown)
  expect(heard.get('deadLetters.get')).toContain(PAYLOAD)
  for (const [name, text] of heard) expect(text, name).not.toContain(SEALED)
})

test('payloads, results and logs are in no answer for viewers', async () => {
  const heard = await answers('viewer')
  for (const name of [
    'jobs.get',
    'jobs.list',
    'jobs.search',
    'deadLetters.get',
    'schedules.get',
    'workflows.get',
    'audit.list',
  ])
    expect(heard.has(name), name).toBe(true)
  for (const [name, text] of heard)
    for (const hidden of [SEALED, PAYLOAD, RESULT, LOG]) expect(text, name).not.toContain(hidden)
})

test('viewers search by plain terms, and operators also in payloads and errors', async () => {
  const viewer = await t.token('viewer')
  const operator = await t.token('operator')
  const ask = (q: string, token: string, path = '') =>
    t.call(`GET /admin/api/jobs${path}?q=${encodeURIComponent(q)}`, { token })
  const ids = ({ body }: { body: { jobs: { id: string }[] } }) => body.jobs.map(({ id }) => id)
  const plain = await ask('type:ADMIT status:completed', viewer)
  expect(ids(plain)).toEqual([things.job])
  expect(plain.body).toEqual((await ask('type:ADMIT status:completed', viewer, '/search')).body)
  for (const path of ['', '/search', '/count'])
    for (const q of [`payload.note:${PAYLOAD}`, 'error:~bed', 'type:ADMIT -reason:*'])
      expect(await ask(q, viewer, path), `${path} ${q}`).toMatchObject({ status: 403, body: { code: 'role_needed' } })
  const found = await ask(`payload.note:${PAYLOAD} status:completed`, operator)
  expect(ids(found)).toEqual([things.job])
  expect(found.body).toMatchObject({ next: null, scanned: { rows: expect.any(Number) } })
  expect(ids(await ask(`payload:~${SEALED}`, operator))).toEqual([])
})

test('a list by query goes on with its cursor, and refuses the fields of the other list', async () => {
  const token = await t.token('viewer')
  const list = (query: string) => t.call(`GET /admin/api/jobs?${query}`, { token })
  const first = await list('q=type:ADMIT&order=oldest&limit=1')
  expect(first.body.jobs).toMatchObject([{ id: things.job }])
  const next = await list(`q=type:ADMIT&order=oldest&limit=1&after=${first.body.next}`)
  expect(next.body.jobs).toMatchObject([{ type: 'ADMIT' }])
  expect(next.body.jobs[0].id).not.toBe(things.job)
  expect(await list('q=type:ADMIT&status=dead')).toMatchObject({
    status: 400,
    body: { detail: '`status` does not go with a query: say it in the query.' },
  })
  expect(await list('q=type:ADMIT&before=5')).toMatchObject({ status: 400 })
  expect(await list('q=type:ADMIT%20stats:dead')).toMatchObject({
    status: 400,
    body: { code: 'invalid_query', start: 11, end: 16, suggestion: 'status' },
  })
})

test('a payload that is refused is not repeated where it is sealed', async () => {
  const body = { job_type: 'ADMIT', payload: { patient: SEALED, note: 5 } }
  const answer = await t.call('POST /admin/api/jobs/enqueue', { token: await t.token('operator'), body })
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_payload' } })
  expect(JSON.stringify(answer.body)).not.toContain(SEALED)
})

test('a tenant is told how many others are waiting, and not who they are', async () => {
  const { millrace } = t
  const busy = implement(slow, (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
  const worker = await millrace.work({ handlers: [busy], gracePeriod: '1s' })
  const { id: running } = await millrace.enqueue(slow, {}, { tenant: 'rival-one' })
  await jobEvent(millrace, 'job_started', running)
  for (const rival of ['rival-one', 'rival-two']) await millrace.enqueue(slow, {}, { tenant: rival })
  const { id } = await millrace.enqueue(slow, {}, { tenant })
  const explain = (token: string) => t.call(`GET /admin/api/jobs/${id}/explain`, { token })
  const operator = await t.token('operator')
  const whole = await eventually(async () => {
    const { body } = await explain(operator)
    return body.ahead?.others.length === 2 && body.reasons.length === 0 && body
  })
  expect(whole.summary).toContain('"rival-one"')
  const own = await explain(await t.token('viewer', [tenant]))
  expect(own.body.summary).toContain('2 other tenants have work waiting.')
  expect(JSON.stringify(own.body)).not.toContain('rival')
  await millrace.cancel(running, { by: 'test' })
  await worker.stop()
})
