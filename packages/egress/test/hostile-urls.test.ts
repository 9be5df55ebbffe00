// Each of these URLs is refused, and a canary that listens on loopback, on the port that they name, is never touched.
// The allow-list holds another server of the same machine meanwhile.
import { EgressRefused } from '@millrace/egress'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostile } from './support/hostile-urls.ts'
import { type Canary, egressTo, failureOf, startCanary, startServer, type TestServer } from './support/servers.ts'

let canary: Canary
let canary6: Canary | undefined
let listed: TestServer

beforeAll(async () => {
  canary = await startCanary()
  canary6 = await startCanary({ port: canary.port, host: '::1' }).catch(() => undefined)
  listed = await startServer((_request, response) => response.end('listed'))
})

afterAll(async () => {
  await canary[Symbol.asyncDispose]()
  await canary6?.[Symbol.asyncDispose]()
  await listed[Symbol.asyncDispose]()
})

test('the table has more than sixty URLs, each once', () => {
  expect(hostile.length).toBeGreaterThan(60)
  expect(new Set(hostile.map(([url]) => url)).size).toBe(hostile.length)
})

test.each(hostile)('%j is refused: %s, %s', async (template, code, reason) => {
  await using egress = egressTo([listed], { ports: [80, 443, canary.port] })
  const url = template.replace('PORT', String(canary.port))
  const error = await failureOf(egress.fetch(url))
  expect(error).toBeInstanceOf(EgressRefused)
  expect(error).toMatchObject({ code, message: expect.stringContaining(reason) })
  expect(error.message).not.toContain('hunter2')
  // The guard itself works: the listed server answers.
  expect(await (await egress.fetch(listed.origin)).text()).toBe('listed')
  expect(canary.touches + (canary6?.touches ?? 0)).toBe(0)
})

test('the canary notices a connection', async () => {
  await using egress = egressTo([{ target: `127.0.0.1:${canary.port}` }])
  const before = canary.touches
  expect(await failureOf(egress.fetch(`http://127.0.0.1:${canary.port}/`))).toMatchObject({ code: 'connection_failed' })
  expect(canary.touches).toBe(before + 1)
})
