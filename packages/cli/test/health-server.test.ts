import { connect } from 'node:net'
import type { Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { type Health, serveHealth } from '#src/health-server'
import { HealthWatch } from '#src/health-watch'
import { get } from './support/program.ts'
import { setup } from './support/supervised.ts'

const ready: Health = {
  obstacle: async () => undefined,
  metrics: () => undefined,
  describe: () => ({ kind: 'test' }),
}

async function serve(health: Partial<Health> = {}) {
  const server = await serveHealth({ host: '127.0.0.1', port: 0 }, { ...ready, ...health })
  return { url: server.url, [Symbol.asyncDispose]: () => server.stop() }
}

/** Sends these bytes and returns the answer. `abort` cuts the connection instead of waiting for one. */
async function say(url: string, bytes: string, { abort = false } = {}): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  let answer = ''
  socket.on('data', (chunk) => {
    answer += String(chunk)
  })
  socket.on('connect', () => {
    if (abort) socket.write(bytes, 'latin1', () => socket.resetAndDestroy())
    else socket.end(bytes, 'latin1')
  })
  // The server may reset the connection while we still write, and `once` would reject then.
  await new Promise((resolve) => socket.on('close', resolve))
  return answer
}

const targets = [
  '//',
  '///',
  '//?',
  '//healthz',
  '//[',
  '//a:b',
  '//%',
  '/%',
  '/%zz%00',
  '/\\\\',
  '*',
  '?',
  '#',
  'http://',
  'http://[',
  'http://:99999/',
  'https://%/healthz',
  'file:///etc/passwd',
  'data:,x',
  'javascript:1',
  'relative',
  '/\u00ff\u00fe',
  `/${'a'.repeat(10_000)}`,
  `/${'a'.repeat(100_000)}`,
  `//${'['.repeat(5_000)}`,
  `/?${'x=1&'.repeat(3_000)}`,
]

const requests = [
  ...targets.map((target) => `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  ...['HEAD', 'POST', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'get', 'FOO', '', '\0'].map(
    (method) => `${method} // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  ),
  ...['HTTP/9.9', 'HTTP/1.0', 'HTTP/0.9', 'HTTP', ''].map((version) => `GET // ${version}\r\n\r\n`),
  ...[
    'host',
    'host: a\r\nhost: b',
    ': x',
    'x: \0',
    'x : y',
    'expect: 100-continue',
    'expect: tea',
    'upgrade: h2c\r\nconnection: upgrade',
    'upgrade: websocket\r\nconnection: upgrade',
    'content-length: -1',
    'content-length: 5\r\ntransfer-encoding: chunked',
    'transfer-encoding: chunked\r\n\r\nzz',
    `x: ${'y'.repeat(50_000)}`,
    Array.from({ length: 3_000 }, (_, i) => `x${i}: y`).join('\r\n'),
  ].map((headers) => `GET // HTTP/1.1\r\n${headers}\r\n\r\n`),
  '',
  '\r\n\r\n',
  '\0\0\0\0',
  '\x16\x03\x01\x02\x00\x01\x00',
  'GET // HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(50),
]

async function fuzz(url: string): Promise<void> {
  await Promise.all(requests.map((request) => say(url, request)))
  await Promise.all(requests.map((request) => say(url, request, { abort: true })))
  // Half requests: cut anywhere, and cut before the answer.
  const whole = 'GET /readyz HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc'
  const halves = Array.from({ length: whole.length }, (_, length) => whole.slice(0, length))
  await Promise.all(halves.map((half, i) => say(url, half, { abort: i % 2 === 0 })))
}

test.each([
  ['a worker', 'nap.js --port 0 --host 127.0.0.1'],
  ['a supervisor', 'nap.js --port 0 --host 127.0.0.1 --processes 1'],
])('no request ends %s', async (_, args) => {
  await using t = await setup(args)
  const { health, Health } = await t.work.logged((line) => (line.health ?? line.Health) !== undefined)
  const url = new URL('/', String(health ?? Health)).href
  expect(await say(url, 'GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /)
  await fuzz(url)
  await expect.poll(() => get(`${url}readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } })
  t.work.signal('SIGTERM')
  expect(await t.work.ended()).toMatchObject({ code: 0 })
})

test('health that cannot be told is answered with 500, and the next request is served', async () => {
  const loop: Record<string, unknown> = {}
  loop.loop = loop
  let isBroken = true
  await using server = await serve({
    obstacle: () => (isBroken ? Promise.reject(new Error('no answer')) : Promise.resolve(undefined)),
    describe: () => {
      if (isBroken) throw new Error('no words')
      return loop
    },
  })
  expect(await get(`${server.url}/readyz`)).toEqual({ status: 500, body: { error: 'no answer' } })
  expect(await get(`${server.url}/`)).toEqual({ status: 500, body: { error: 'no words' } })
  isBroken = false
  await expect(get(`${server.url}/`)).rejects.toThrow()
  expect(await get(`${server.url}/readyz`)).toEqual({ status: 200, body: { status: 'ready' } })
})

test('the verdict on the platform stands in the body of /readyz, and never changes its code', async () => {
  const health = async () => ({ verdict: 'failing', summary: 'Something is failing: check workers.', reasons: [] })
  let reason: string | undefined
  await using server = await serve({ obstacle: async () => reason, health })
  expect(await get(`${server.url}/readyz`)).toMatchObject({
    status: 200,
    body: { status: 'ready', health: { verdict: 'failing' } },
  })
  reason = 'stopping'
  expect(await get(`${server.url}/readyz`)).toMatchObject({
    status: 503,
    body: { status: 'not ready', reason: 'stopping', health: { verdict: 'failing' } },
  })
})

test('probes read the health of the platform at most every half minute, and do not wait for a slow reading', async () => {
  const health = { verdict: 'ok', at: new Date(), summary: 'All is well.', reasons: [], findings: [], figures: null }
  let readings = 0
  let answer: (() => void) | undefined
  const watch = new HealthWatch({
    health: () => {
      readings++
      return new Promise((resolve) => {
        answer = () => resolve(health)
      })
    },
  } as unknown as Millrace)
  expect(await watch.look()).toBeUndefined()
  expect(await Promise.all([watch.look(), watch.look()])).toEqual([undefined, undefined])
  answer?.()
  await expect.poll(() => watch.look()).toMatchObject({ verdict: 'ok', summary: 'All is well.' })
  await watch.look()
  expect(readings).toBe(1)
})

test('a target may be a path with a query, or a whole URL', async () => {
  await using server = await serve()
  const asked = (target: string) => say(server.url, `GET ${target} HTTP/1.0\r\n\r\n`)
  expect(await asked('/healthz?from=probe')).toMatch(/^HTTP\/1\.1 200 /)
  expect(await asked('http://somewhere:80/healthz')).toMatch(/"alive"/)
  expect(await asked('http://somewhere')).toMatch(/"kind": "test"/)
  expect(await asked('//healthz')).toMatch(/^HTTP\/1\.1 404 /)
})
