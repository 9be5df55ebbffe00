// Every operation, by every role and tenant scope: 401, 403 and 404 as they are due.
import { type Endpoint, operations, type Role } from '@millrace/admin/contract'
import { defineJob, defineQueues, defineWorkflow, implement, Unrecoverable } from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent } from '../../engine/test/support/setup.ts'
import { leastRequest, type Things } from './support/least-request.ts'
import { type AdminSetup, type Heard, setup } from './support/setup.ts'

const queues = defineQueues({ mail: { priority: 50, concurrency: 5 } })
const mail = defineJob({ type: 'MAIL', queue: queues.mail, payload: z.object({}) })
const doomed = defineJob({ type: 'DOOMED', queue: queues.mail, payload: z.object({}) })
const onboarding = defineWorkflow('onboarding').step('mail', mail, { payload: () => ({}) })

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 }
const roles = ['viewer', 'operator', 'admin'] as const
/** A name that would be found in whatever shows a thing of this tenant. */
const OWNER = 'owner-canary'
const all = operations()

let t: AdminSetup
let things: Things

beforeAll(async () => {
  t = await setup([mail, doomed], { workflows: [onboarding] })
  const { millrace } = t
  const worker = await millrace.work({
    handlers: [
      implement(doomed, () => {
        throw new Unrecoverable('no')
      }),
    ],
  })
  const { id: died } = await millrace.enqueue(doomed, {}, { tenant: OWNER })
  await jobEvent(millrace, 'job_died', died)
  await worker.stop()
  const letter = await millrace.deadLetters.ofJob(died)
  const waiting = await millrace.enqueue(mail, {}, { tenant: OWNER, correlationId: 'shared' })
  await millrace.pauses.pause({ tenant: OWNER, queue: 'mail' }, { by: 'ann', reason: 'test' })
  const schedule = {
    type: 'MAIL',
    when: { kind: 'every', everyMs: 3_600_000, initialDelayMs: 0 },
    payload: {},
  } as const
  await millrace.schedules.create({ ...schedule, name: 'theirs', tenant: OWNER, by: 'ann' })
  const bulk = { action: 'prioritise', query: 'type:MAIL', priority: 3 } as const
  things = {
    job: waiting.id,
    letter: letter?.id ?? '',
    workflow: (await millrace.workflows.start(onboarding, undefined, { tenant: OWNER })).id,
    schedule: 'theirs',
    tenant: OWNER,
    bulk: (await millrace.bulk.start({ ...bulk, tenant: OWNER }, { by: OWNER })).id,
  }
})
afterAll(() => t[Symbol.asyncDispose]())

function send(name: string, endpoint: Endpoint, token?: string): Promise<Heard> {
  const { line, body } = leastRequest({ name, endpoint }, things)
  // Each from an address of its own: many wrong tokens from one are refused unseen.
  return t.call(line, { token, body, from: name })
}

const permitted = ({ permission }: Endpoint, role: Role) => permission !== 'public' && RANK[role] >= RANK[permission]

describe.each(all.map(({ name, endpoint }) => ({ name, endpoint })))('$name', ({ name, endpoint }) => {
  test('needs a token that is in force', async () => {
    expect(await send(name, endpoint)).toMatchObject({ status: 401, body: { code: 'token_missing' } })
    expect(await send(name, endpoint, 'mr_wrong')).toMatchObject({ status: 401, body: { code: 'token_invalid' } })
  })

  test.each(roles.filter((role) => !permitted(endpoint, role)))('is refused to the role %s', async (role) => {
    expect(await send(name, endpoint, tokens[role])).toMatchObject({ status: 403, body: { code: 'role_needed' } })
  })

  if (endpoint.scope === 'all') {
    test('is refused to an admin of one tenant', async () => {
      expect(await send(name, endpoint, tokens.stranger)).toMatchObject({ status: 403, body: { code: 'tenant_scope' } })
    })
  } else if (endpoint.path.includes('/:')) {
    test("does not find another tenant's thing", async () => {
      const { status, body } = await send(name, endpoint, tokens.stranger)
      if (NO_TENANTS_THING.has(name)) expect(status).toBeLessThan(500)
      else if (name === 'jobs.correlation') expect(body).toMatchObject({ jobs: [], timeline: [] })
      else expect(status).toBe(404)
    })
  } else if (endpoint.method === 'GET') {
    test('shows nothing of another tenant', async () => {
      const { status, body } = await send(name, endpoint, tokens.stranger)
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain(OWNER)
    })
  }

  test('is open to the roles that it names, and answers as it declares', async () => {
    // The least role first: what it does is done then, and the others meet the state afterwards.
    for (const role of roles.filter((each) => permitted(endpoint, each))) {
      const { status, body } = await send(name, endpoint, tokens[role])
      expect([401, 403], JSON.stringify(body)).not.toContain(status)
      expect(status, JSON.stringify(body)).toBeLessThan(500)
      if (status < 300) endpoint.output.parse(body)
    }
  })
})

/** They name what the code declares: it belongs to no tenant. */
const NO_TENANTS_THING = new Set(['catalogue.jobType'])

const tokens: Record<Role | 'stranger' | 'owner', string> = {
  viewer: '',
  operator: '',
  admin: '',
  stranger: '',
  owner: '',
}

beforeAll(async () => {
  for (const role of roles) tokens[role] = await t.token(role)
  tokens.stranger = await t.token('admin', ['stranger'])
  tokens.owner = await t.token('admin', [OWNER])
})

test("a tenant's own admin finds its things, and none of the others", async () => {
  const { id: foreign } = await t.millrace.enqueue(mail, {}, { tenant: 'stranger' })
  const { id: nobodys } = await t.millrace.enqueue(mail, {})
  const mine = await t.call('GET /admin/api/jobs', { token: tokens.owner })
  const tenants = new Set(mine.body.jobs.map(({ tenant }: { tenant: string }) => tenant))
  expect([...tenants]).toEqual([OWNER])
  for (const id of [foreign, nobodys])
    expect(await t.call(`GET /admin/api/jobs/${id}`, { token: tokens.owner })).toMatchObject({ status: 404 })
  expect(await t.call('GET /admin/api/jobs?tenant=stranger', { token: tokens.owner })).toMatchObject({ status: 404 })
  const letters = await t.call('GET /api/actions/get-dead-letter-jobs', { token: tokens.owner })
  expect(letters.status).toBe(200)
})

test('a job that is enqueued by an admin of one tenant belongs to that tenant', async () => {
  const send = (body: object) => t.call('POST /admin/api/jobs/enqueue', { token: tokens.stranger, body })
  const own = await send({ job_type: 'MAIL', payload: {} })
  expect(await t.millrace.job(own.body.id)).toMatchObject({ tenant: 'stranger' })
  expect(await send({ job_type: 'MAIL', payload: {}, tenant: OWNER })).toMatchObject({ status: 404 })
})

test("a redrive of another tenant's letter finds none, and changes nothing", async () => {
  const before = await t.millrace.deadLetters.get(things.letter as string)
  const body = { 'dead-letter-ids': [things.letter] }
  const { body: results } = await t.call('POST /api/actions/reprocess-dead-letter-jobs', {
    token: tokens.stranger,
    body,
  })
  expect(results).toEqual([{ id: things.letter, status: 'not_found' }])
  expect(await t.millrace.deadLetters.get(things.letter as string)).toEqual(before)
})

test('a caller of several tenants gets one page of all of them, newest first', async () => {
  const token = await t.token('viewer', ['left', 'right'])
  const ids: string[] = []
  for (const tenant of ['left', 'right', 'left', 'right'])
    ids.unshift((await t.millrace.enqueue(mail, {}, { tenant })).id)
  const { body } = await t.call('GET /admin/api/jobs?limit=3', { token })
  expect(body.jobs.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 3))
  const next = await t.call(`GET /admin/api/jobs?limit=3&before=${body.next}`, { token })
  expect(next.body).toMatchObject({ jobs: [{ id: ids[3] }], next: null })
})
