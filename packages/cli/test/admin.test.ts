// `millrace admin`, `millrace tokens`, and the admin API of `millrace dev`.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, Program, ran } from './support/program.ts'
import { setup } from './support/setup.ts'

type Cli = Awaited<ReturnType<typeof setup>>
let t: Cli

beforeAll(async () => {
  t = await setup()
})
afterAll(() => t[Symbol.asyncDispose]())

describe('millrace tokens', () => {
  test('makes a token that is shown once, lists it without its secret, and revokes it', async () => {
    expect(await t.run('tokens')).toMatchObject({ code: 0, out: expect.stringContaining('no tokens') })
    const made = await t.run(
      'tokens',
      'create',
      'acme portal',
      '--tenant',
      'acme',
      '--role',
      'operator',
      '--expires',
      '90d',
    )
    const secret = made.out.trim()
    expect(secret).toMatch(/^mr_[\w-]{43}$/)
    expect(await t.millrace.tokens.verify(secret)).toMatchObject({
      name: 'acme portal',
      tenants: ['acme'],
      role: 'operator',
    })
    const listed = await t.run('tokens')
    expect(listed.out).toMatch(/acme portal +operator +acme +expires in 90d/)
    expect(listed.out).not.toContain(secret)
    expect(await t.run('tokens', 'revoke', 'acme portal')).toMatchObject({ code: 0 })
    expect(await t.millrace.tokens.verify(secret)).toBeUndefined()
    const again = await t.run('tokens', 'revoke', 'acme portal')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('No token "acme portal" is in force') })
    expect(JSON.parse((await t.run('tokens', '--json')).out)).toMatchObject([{ name: 'acme portal' }])
  })
})

describe('millrace dev', () => {
  test('serves the admin API without a token on this machine, and refuses to do so for a network', async () => {
    await using program = new Program(['dev', fixture('nap.js'), '--port', '0'], t.env)
    const [, url] = await program.said(/Admin +(http:\S+)\/admin\/\n/)
    const { stdout } = await promisify(execFile)('curl', ['-sS', `${url}/admin/api/workers`])
    expect(JSON.parse(stdout).workers).toHaveLength(1)
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0 })
    const open = await ran(['dev', '--port', '0', '--host', '0.0.0.0'], t.env)
    expect(open).toMatchObject({ code: 1, err: expect.stringContaining('strangers could reach the admin API') })
  })
})

describe('millrace admin', () => {
  test('does not start while nobody could call it', async () => {
    const { code, err } = await ran(['admin', '--port', '0'], t.env)
    expect(code).toBe(1)
    expect(err).toMatch(/no token yet.*ADMIN_TOKEN/)
    expect(await ran(['admin', '--port', '0'], { ...t.env, ADMIN_TOKEN: 'short' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('at least 16'),
    })
  })

  test('serves the API for the token in ADMIN_TOKEN, health, and a page for browsers; it runs no jobs', async () => {
    const ADMIN_TOKEN = 'a-token-for-this-test'
    await using program = new Program(['admin', fixture('nap.js'), '--port', '0'], { ...t.env, ADMIN_TOKEN })
    const line = await program.logged(({ msg }) => msg === 'running')
    const url = String(line.admin).replace(/\/admin\/$/, '')
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}`, { headers, redirect: 'manual' })
    const auth = { authorization: `Bearer ${ADMIN_TOKEN}` }
    expect((await get('/admin/api/me')).status).toBe(401)
    expect(await (await get('/admin/api/me', auth)).json()).toMatchObject({ name: 'ADMIN_TOKEN', role: 'admin' })
    expect((await get('/readyz')).status).toBe(200)
    const home = await get('/', { accept: 'text/html' })
    expect([home.status, home.headers.get('location')]).toEqual([302, '/admin/'])
    expect(await (await get('/')).json()).toMatchObject({ workload: 'naps' })
    const post = await fetch(`${url}/admin/api/jobs/enqueue`, {
      method: 'POST',
      headers: { ...auth, 'content-type': 'application/json' },
      body: JSON.stringify({ job_type: 'nap', payload: {} }),
    })
    expect(post.status).toBeLessThan(500)
    const audit = await t.millrace.audit.list({ action: 'token.create', target: 'ADMIN_TOKEN' })
    expect(audit).toHaveLength(1)
    const stream = await get('/admin/api/stream?topics=queues', auth)
    program.signal('SIGTERM')
    expect(await stream.text()).toContain('the server stops')
    expect(await program.ended()).toMatchObject({ code: 0 })
    await t.millrace.tokens.revoke('ADMIN_TOKEN', { by: 'test' })
  })
})
