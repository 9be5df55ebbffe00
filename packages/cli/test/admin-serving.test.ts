// The admin API of `millrace dev` and `millrace admin`, called from outside.
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, Program } from './support/program.ts'
import { setup } from './support/setup.ts'

type Cli = Awaited<ReturnType<typeof setup>>
let t: Cli

beforeAll(async () => {
  t = await setup()
})
afterAll(() => t[Symbol.asyncDispose]())

const hasCurl = spawnSync('curl', ['--version']).status === 0
if (!hasCurl) console.warn('SKIPPED: curl is not installed, so its requests are not tested.')

describe.skipIf(!hasCurl)('millrace dev', () => {
  test('answers curl without a token on this machine: the API, the actions, health and metrics', async () => {
    await using program = new Program(['dev', fixture('nap.js'), '--port', '0'], t.env)
    const [, url] = await program.said(/Admin +(http:\S+)\/admin\/\n/)
    const curl = async (...args: string[]) => {
      const { stdout } = await promisify(execFile)('curl', ['-sS', '--fail-with-body', ...args])
      return stdout
    }
    const get = (path: string) => curl(`${url}${path}`)
    const act = async (action: string, body: object) =>
      JSON.parse(
        await curl(
          ...['-X', 'POST', `${url}/api/actions/${action}`, '-H', 'Content-Type: application/json'],
          ...['-d', JSON.stringify(body)],
        ),
      )
    expect(JSON.parse(await get('/admin/api/workers')).workers).toHaveLength(1)
    expect(JSON.parse(await get('/healthz'))).toMatchObject({ status: 'alive' })
    expect(JSON.parse(await get('/readyz'))).toMatchObject({ status: 'ready' })
    expect(await get('/metrics')).toMatch(/^# HELP /m)
    expect(await act('create-jobs-metrics-report', { 'from-hours-ago': 24, 'to-hours-ago': 0 })).toHaveProperty(
      'current-stats',
    )
    expect(await act('get-jobs-health-status', {})).toMatchObject({ status: expect.stringMatching(/ok|degraded/) })
    expect(JSON.parse(await get('/api/actions/get-dead-letter-jobs?acknowledged=false'))).toEqual([])
    const ids = { 'dead-letter-ids': [999_999] }
    for (const action of ['acknowledge-dead-letter-jobs', 'reprocess-dead-letter-jobs'])
      expect(await act(action, ids)).toEqual([{ id: '999999', status: 'not_found' }])
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0 })
  })
})

describe('millrace admin', () => {
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
