// Who may call: tokens, sessions, the program's own auth, developers; and requests that other websites cause.
import { admin } from '@millrace/admin'
import { defineJob, defineQueues } from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type AdminSetup, callerOf, requestOf, setup } from './support/setup.ts'

const queues = defineQueues({ mail: { priority: 50, concurrency: 5 } })
const mail = defineJob({ type: 'MAIL', queue: queues.mail, payload: z.object({}) })
const ME = 'GET /admin/api/me'

let t: AdminSetup

beforeAll(async () => {
  t = await setup([mail])
})
afterAll(() => t[Symbol.asyncDispose]())

describe('a token', () => {
  test('says who calls, in which role and for which tenants', async () => {
    const token = await t.token('operator', ['acme'])
    expect((await t.call(ME, { token })).body).toEqual({
      name: expect.stringContaining('operator of acme'),
      role: 'operator',
      tenants: ['acme'],
      via: 'token',
      environment: null,
      pages: [],
    })
  })

  test('is refused once it is revoked, and so are the sessions that it opened', async () => {
    const { secret } = await t.millrace.tokens.create({ name: 'leaver', role: 'viewer', by: 'ann' })
    const session = await t.millrace.tokens.openSession(secret)
    const cookie = `millrace_session=${session?.secret}`
    expect(await t.call(ME, { headers: { cookie } })).toMatchObject({ status: 200, body: { via: 'session' } })
    await t.millrace.tokens.revoke('leaver', { by: 'ann' })
    expect(await t.call(ME, { token: secret })).toMatchObject({ status: 401 })
    expect(await t.call(ME, { headers: { cookie } })).toMatchObject({ status: 401 })
  })

  test('is refused once it has expired', async () => {
    const { secret } = await t.millrace.tokens.create({ name: 'brief', role: 'viewer', by: 'ann', expiresIn: '1h' })
    expect(await t.call(ME, { token: secret })).toMatchObject({ status: 200 })
    await t.sql("update millrace.admin_token set expires_at = now() - interval '1 second' where name = 'brief'")
    expect(await t.call(ME, { token: secret })).toMatchObject({ status: 401, body: { code: 'token_invalid' } })
  })

  test('is made over HTTP by an admin, and is nowhere in the database', async () => {
    const token = await t.token('admin')
    const { status, body } = await t.call('POST /admin/api/tokens', {
      token,
      body: { name: 'robot', role: 'operator' },
    })
    expect(status).toBe(201)
    expect(await t.call(ME, { token: body.secret })).toMatchObject({ body: { name: 'robot', role: 'operator' } })
    const rows = await t.sql('select * from millrace.admin_token')
    expect(JSON.stringify(rows)).not.toContain(body.secret)
    expect(await t.millrace.audit.list({ action: 'token.create', target: 'robot' })).toHaveLength(1)
    const again = await t.call('POST /admin/api/tokens', { token, body: { name: 'robot' } })
    expect(again).toMatchObject({ status: 400, body: { detail: expect.stringContaining('already') } })
  })

  test('that is in the environment takes the place of the one before, and must not be short', async () => {
    const named = { name: 'ADMIN_TOKEN', role: 'admin', by: 'environment' } as const
    await t.millrace.tokens.ensure('first-secret-of-enough-length', named)
    await t.millrace.tokens.ensure('first-secret-of-enough-length', named)
    expect(await t.millrace.audit.list({ action: 'token.create', target: 'ADMIN_TOKEN' })).toHaveLength(1)
    await t.millrace.tokens.ensure('second-secret-of-enough-length', named)
    expect(await t.call(ME, { token: 'first-secret-of-enough-length' })).toMatchObject({ status: 401 })
    expect(await t.call(ME, { token: 'second-secret-of-enough-length' })).toMatchObject({ body: { role: 'admin' } })
    await expect(t.millrace.tokens.ensure('short', named)).rejects.toThrow(/at least 16/)
  })

  test('that is guessed too often from one address is refused unseen, while good ones there go on', async () => {
    const token = await t.token('viewer')
    const from = '10.1.1.1'
    expect(await t.call(ME, { token, from })).toMatchObject({ status: 200 })
    for (let i = 0; i < 20; i++) expect((await t.call(ME, { token: `guess-${i}`, from })).status).toBe(401)
    const refused = await t.call(ME, { token: 'guess', from })
    expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_failures' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await t.call(ME, { token, from })).toMatchObject({ status: 200 })
    expect(await t.call(ME, { token: 'guess', from: '10.1.1.2' })).toMatchObject({ status: 401 })
  })
})

describe('a browser', () => {
  const own = { 'sec-fetch-site': 'same-origin', origin: 'http://jobs.example.com' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const login = (body: string, headers: Record<string, string> = own) =>
    t.call('POST /admin/login', { body, headers: { ...form, ...headers } })

  test('logs in with a token, acts by its cookie, and logs out', async () => {
    const token = await t.token('operator')
    const { status, headers } = await login(`token=${token}&next=${encodeURIComponent('/admin/jobs/5')}`)
    expect(status).toBe(303)
    expect(headers.get('location')).toBe('/admin/jobs/5')
    const set = headers.get('set-cookie') ?? ''
    expect(set).toMatch(/^millrace_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
    const cookie = set.split(';')[0] as string
    const { id } = await t.millrace.enqueue(mail, {})
    const cancel = `POST /admin/api/jobs/${id}/cancel`
    expect(await t.call(cancel, { body: {}, headers: { cookie } })).toMatchObject({
      status: 403,
      body: { code: 'token_needed' },
    })
    expect(await t.call(cancel, { body: {}, headers: { cookie, ...own } })).toMatchObject({ status: 200 })
    const out = await t.call('POST /admin/logout', { headers: { cookie, ...own } })
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await t.call(ME, { headers: { cookie } })).toMatchObject({ status: 401 })
  })

  test('with a wrong token gets the form again, and a session is no token', async () => {
    expect(await login('token=wrong')).toMatchObject({ status: 401, body: expect.stringContaining('unknown') })
    const token = await t.token('viewer')
    const cookie = (await login(`token=${token}`)).headers.get('set-cookie') ?? ''
    const session = /=([\w-]+)/.exec(cookie)?.[1]
    expect(await login(`token=${session}`)).toMatchObject({ status: 401 })
    expect(await t.call(ME, { headers: { cookie: `millrace_session=${token}` } })).toMatchObject({ status: 401 })
  })

  test.each(['https://evil.example', '//evil.example', '/admin//evil.example', '/\\evil', 'javascript:alert(1)'])(
    'is not sent to %s after the login',
    async (next) => {
      const token = await t.token('viewer')
      const { headers } = await login(`token=${token}&next=${encodeURIComponent(next)}`)
      expect(headers.get('location')).toBe('/admin/')
    },
  )

  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' }],
    ['of a neighbour site', { 'sec-fetch-site': 'same-site', origin: 'http://other.example.com' }],
    ['of another origin, by an old browser', { origin: 'http://evil.example' }],
    ['of no origin', { origin: 'null' }],
  ])('is refused a change that a page %s causes, whatever it holds', async (_, headers) => {
    const token = await t.token('admin')
    const { headers: answer } = await login(`token=${token}`)
    const cookie = (answer.get('set-cookie') ?? '').split(';')[0] as string
    const before = await t.millrace.audit.list()
    for (const sent of [{ headers: { ...headers, cookie } }, { headers, token }]) {
      const { status, body } = await t.call('POST /admin/api/jobs/enqueue', {
        body: { job_type: 'MAIL', payload: {} },
        ...sent,
      })
      expect({ status, code: body.code }).toEqual({ status: 403, code: 'cross_site' })
    }
    expect((await login(`token=${token}`, headers)).status).toBe(403)
    expect(await t.millrace.audit.list()).toEqual(before)
  })

  test('gets pages that cannot be framed and whose scripts the policy names; the login runs none', async () => {
    for (const path of ['/admin/', '/admin/login']) {
      const { status, headers, body } = await t.call(`GET ${path}`)
      expect(status).toBe(200)
      expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      if (path === '/admin/login') expect(body).not.toContain('<script')
    }
    const hostile = await t.call(`GET /admin/login?next=${encodeURIComponent('"><script>alert(1)</script>')}`)
    expect(hostile.body).not.toContain('<script')
  })
})

describe('the own auth of a program', () => {
  test('knows callers that have no token of ours, and tokens go on beside it', async () => {
    const auth = (request: Request) =>
      request.headers.get('x-user') === 'ann' ? { name: 'ann', role: 'operator' as const, tenants: ['acme'] } : null
    const call = callerOf(admin(t.millrace, { auth }))
    const own = { 'sec-fetch-site': 'same-origin' }
    expect((await call(ME, { headers: { 'x-user': 'ann' } })).body).toMatchObject({
      name: 'ann',
      via: 'own',
      tenants: ['acme'],
    })
    expect(await call('GET /admin/api/queues', { headers: { 'x-user': 'ann' } })).toMatchObject({ status: 403 })
    expect(await call(ME, { headers: { 'x-user': 'bob' } })).toMatchObject({ status: 401 })
    expect(await call(ME, { token: await t.token('viewer') })).toMatchObject({ body: { via: 'token' } })
    const body = { job_type: 'MAIL', payload: {} }
    expect(await call('POST /admin/api/jobs/enqueue', { body, headers: { 'x-user': 'ann', ...own } })).toMatchObject({
      status: 201,
    })
  })
})

describe('under development, while there is no token', () => {
  test('a caller on this machine is admin; through another name or a proxy it is nobody', async () => {
    await using fresh = await setup([mail], { admin: { isDevelopment: true } })
    const me = (headers: Record<string, string>) => fresh.call(ME, { headers })
    for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080'])
      expect(await me({ host })).toMatchObject({
        status: 200,
        body: { name: 'developer', role: 'admin', via: 'development' },
      })
    for (const headers of [
      { host: 'evil.example:8080' },
      { host: 'localhost.evil.example' },
      { host: 'localhost', forwarded: 'for=1.2.3.4' },
      { host: 'localhost', 'x-forwarded-for': '1.2.3.4' },
      { host: 'localhost', 'x-forwarded-host': 'jobs.example.com' },
    ])
      expect(await me(headers)).toMatchObject({ status: 401 })
    const host = 'localhost:8080'
    expect(await me({ host, authorization: 'Bearer ' })).toMatchObject({ status: 200 })
    expect(await me({ host, authorization: 'Bearer wrong' })).toMatchObject({ status: 401 })
    const enqueue = (headers: Record<string, string>) =>
      fresh.call('POST /admin/api/jobs/enqueue', {
        body: { job_type: 'MAIL', payload: {} },
        headers: { host, ...headers },
      })
    expect(await enqueue({})).toMatchObject({ status: 201 })
    expect(await enqueue({ origin: 'http://localhost:8080' })).toMatchObject({ status: 201 })
    expect(await enqueue({ origin: 'http://evil.example' })).toMatchObject({ status: 403 })
    expect(await me({ host, 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 })
    await fresh.token('viewer')
    expect(await me({ host })).toMatchObject({ status: 401 })
  })

  test('it is not so by default', async () => {
    await using fresh = await setup([mail])
    expect(await fresh.call(ME, { headers: { host: 'localhost' } })).toMatchObject({ status: 401 })
  })
})

test('an error that nobody foresaw tells the caller its request id, and nothing of itself', async () => {
  const logged: unknown[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (fields: object) => logged.push(fields) }
  const auth = () => {
    throw new Error('secret detail')
  }
  const response = await admin(t.millrace, { auth, logger })(requestOf(ME))
  const text = await response.text()
  expect(response.status).toBe(500)
  expect(text).not.toContain('secret detail')
  expect(logged).toMatchObject([{ requestId: JSON.parse(text).requestId }])
})

test('a path that does not exist is a problem, too', async () => {
  expect(await t.call('GET /admin/api/nothing')).toMatchObject({ status: 404, body: { code: 'no_such_path' } })
})
