import { createEgress, EgressError } from '@millrace/egress'
import { expect, test } from 'vitest'
import { egressTo, failureOf, startCanary, startServer } from './support/servers.ts'

test('nothing local can be reached without a list', async () => {
  await using canary = await startCanary()
  await using egress = createEgress({ ports: [canary.port] })
  expect(await failureOf(egress.fetch(`http://127.0.0.1:${canary.port}/`))).toMatchObject({ code: 'address_refused' })
  expect(canary.touches).toBe(0)
})

test('the port of an entry matters', async () => {
  await using server = await startServer((_request, response) => response.end('hello'))
  await using canary = await startCanary()
  await using egress = egressTo([server], { ports: [80, 443, canary.port] })
  expect(await (await egress.fetch(server.origin)).text()).toBe('hello')
  const error = await failureOf(egress.fetch(`http://127.0.0.1:${canary.port}/`))
  expect(error).toMatchObject({
    code: 'address_refused',
    message: expect.stringContaining(`add "127.0.0.1:${canary.port}" to createEgress({ allow })`),
  })
  expect(canary.touches).toBe(0)
})

test('an entry for an address does not admit names that resolve to it', async () => {
  await using server = await startServer((_request, response) => response.end())
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  await using egress = egressTo([server], { resolve, ports: [server.port] })
  for (const host of ['attacker.example', 'localhost']) {
    const error = await failureOf(egress.fetch(`http://${host}:${server.port}/`))
    expect(['address_refused', 'local_name']).toContain(error.code)
  }
  expect(server.requests).toEqual([])
})

test('an entry for a name admits no other spelling of its address', async () => {
  await using server = await startServer((_request, response) => response.end('hello'))
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  await using egress = createEgress({ allow: [`Sandbox.Test:${server.port}`], resolve, ports: [server.port] })
  expect(await (await egress.fetch(`http://SANDBOX.test.:${server.port}/`)).text()).toBe('hello')
  expect(server.requests[0]?.headers.host).toBe(`sandbox.test.:${server.port}`)
  for (const host of ['127.0.0.1', 'evil.sandbox.test', 'sandbox.test.evil.example', '[::ffff:127.0.0.1]']) {
    expect(await failureOf(egress.fetch(`http://${host}:${server.port}/`))).toMatchObject({ code: 'address_refused' })
  }
  expect(server.requests.length).toBe(1)
})

test('IPv6 servers are listed in brackets', async ({ skip }) => {
  const server = await startServer((_request, response) => response.end('six'), { host: '::1' }).catch(() => undefined)
  if (server === undefined) return skip('this machine has no IPv6 loopback')
  await using _ = server
  await using egress = createEgress({ allow: [`[0:0::1]:${server.port}`] })
  expect(await (await egress.fetch(`http://[::1]:${server.port}/`)).text()).toBe('six')
})

test('a name with two listed addresses falls back to the one that answers', async () => {
  await using server = await startServer((_request, response) => response.end('hello'))
  const resolve = async () => ['127.0.0.3', '127.0.0.1'].map((address) => ({ address, family: 4 }))
  await using egress = createEgress({ allow: [`sandbox.test:${server.port}`], resolve })
  expect(await (await egress.fetch(`http://sandbox.test:${server.port}/`)).text()).toBe('hello')
})

test.each([
  'localhost',
  'localhost:',
  '*:80',
  '*.example.com:80',
  'http://localhost:80',
  'localhost:80/path',
  'user@localhost:80',
  'localhost:0',
  'localhost:65536',
  '::1:80',
  '127.0.0.0/8:80',
  '',
])('the entry %j is refused when the program starts', (entry) => {
  const create = () => createEgress({ allow: [entry] })
  expect(create).toThrow(EgressError)
  expect(create).toThrow('allow contains')
})

test('budgets and ports that cannot work are refused when the program starts', async () => {
  expect(() => createEgress({ ports: [0] })).toThrow('not a port')
  expect(() => createEgress({ budget: { maxBytes: 0 } })).toThrow('maxBytes is 0')
  expect(() => createEgress({ budget: { totalMs: Number.POSITIVE_INFINITY } })).toThrow('totalMs is Infinity')
  expect(() => createEgress({ budget: { timeout: 5 } as object })).toThrow('A budget has no "timeout"')
  expect(() => createEgress({ userAgent: 'a\r\nb: c' })).toThrow('userAgent')
  await using egress = createEgress()
  expect(() => egress.withBudget({ idleMs: -1 })).toThrow('idleMs is -1')
})
