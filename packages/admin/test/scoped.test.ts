// Callers that act for some tenants, where a list of tenants decides what they may do.
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from './support/setup.ts'

const queues = defineQueues({ mail: {} })
const payload = z.object({ tenantId: z.string() })
const derived = defineJob({ type: 'derived', queue: queues.mail, payload, tenant: ({ tenantId }) => tenantId })
const plain = defineJob({ type: 'plain', queue: queues.mail, payload: z.object({}) })

test('a payload cannot take a caller into a tenant that is not theirs', async () => {
  await using t = await setup([derived, plain])
  const token = await t.token('operator', ['a', 'b'])
  const enqueue = (body: object) => t.call('POST /admin/api/jobs/enqueue', { token, body })
  const foreign = { job_type: 'derived', payload: { tenantId: 'victim' } }
  expect(await enqueue(foreign)).toMatchObject({ status: 400, body: { code: 'tenant_needed' } })
  expect((await enqueue({ ...foreign, tenant: 'a' })).status).toBeGreaterThanOrEqual(400)
  expect((await enqueue({ ...foreign, tenant: 'victim' })).status).toBe(404)
  expect(await enqueue({ job_type: 'plain' })).toMatchObject({ status: 400, body: { code: 'tenant_needed' } })
  expect(await t.sql('select from millrace.job')).toEqual([])
  const own = { job_type: 'derived', payload: { tenantId: 'b' }, tenant: 'b' }
  expect((await enqueue(own)).status).toBeLessThan(300)
})

test.each([
  'tenant:theirs',
  'tenant:own,theirs',
  '-tenant:own',
  'tenant:*',
  '-tenant:*',
  'id:>0',
  'payload.tenantId:theirs',
  'correlation:shared',
  'by:ann',
])(
  'the query %s finds nothing of another tenant, in lists, counts, suggestions, exports and bulk operations',
  async (q) => {
    await using t = await setup([derived, plain])
    const token = await t.token('operator', ['own'])
    const options = { correlationId: 'shared', createdBy: 'ann', delay: '1h' } as const
    for (const tenant of ['own', 'theirs']) await t.millrace.enqueue(derived, { tenantId: tenant }, options)
    await t.millrace.enqueue(plain, {}, options)
    const get = async (path: string) =>
      (await t.call(`GET /admin/api/${path}q=${encodeURIComponent(q)}`, { token })).body
    const tenants = (await get('jobs?')).jobs.map(({ tenant }: { tenant: string }) => tenant)
    expect(tenants.filter((tenant: string) => tenant !== 'own')).toEqual([])
    expect((await get('jobs/count?')).count).toBe(tenants.length)
    for (const of of ['tenant:', 'type:', 'queue:']) {
      const typed = encodeURIComponent(`${q} ${of}`)
      const { body } = await t.call(`GET /admin/api/jobs/suggest?q=${typed}`, { token })
      expect(JSON.stringify(body.items)).not.toContain('theirs')
      for (const { count } of body.items) expect(count ?? 0).toBeLessThanOrEqual(1)
    }
    expect((await t.call(`GET /admin/api/jobs.csv?q=${encodeURIComponent(q)}`, { token })).body).not.toContain('theirs')
    const bulk = await t.call('POST /admin/api/bulk/preview', { token, body: { action: 'cancel', query: q } })
    expect(bulk.body).toMatchObject({ total: tenants.length })
  },
)

test('whoever belongs to no tenant sees nothing, instead of everything', async () => {
  const auth = () => ({ name: 'nobody', role: 'operator' as const, tenants: [] })
  await using t = await setup([plain], { admin: { auth } })
  await t.millrace.enqueue(plain, {})
  for (const line of ['GET /admin/api/jobs', 'GET /admin/api/jobs/search?q=', 'GET /admin/api/stream?topics=jobs'])
    expect(await t.call(line)).toMatchObject({ status: 403, body: { code: 'no_tenant' } })
})

test('a schedule that does not exist is not answered with the names of others', async () => {
  await using t = await setup([plain])
  const token = await t.token('viewer', ['a'])
  const answer = await t.call('GET /admin/api/schedules/nightl', { token })
  expect(answer.status).toBe(404)
  expect(JSON.stringify(answer.body)).not.toContain('Did you mean')
})

test('strangers hear nothing about the database, and a login form has a bound', async () => {
  await using t = await setup([plain], { database: 'postgres://zelda:secret@127.0.0.1:1/inner' })
  const down = await t.call('GET /admin/api/queues', { token: `mr_${'x'.repeat(43)}` })
  expect(down.status).toBe(503)
  expect(JSON.stringify(down.body)).not.toMatch(/zelda|inner|127\.0\.0\.1/)
  const body = `token=${'x'.repeat(20_000)}`
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
  const request = new Request('http://localhost/admin/login', { method: 'POST', headers, body })
  expect((await t.handler(request)).status).toBe(413)
})
