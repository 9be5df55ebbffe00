import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createEgress, EgressFailed } from '@millrace/egress'
import { expect, test } from 'vitest'
import { Guard } from '#src/guard'
import { type DnsAnswer, startDnsServer } from './support/dns-server.ts'
import { failureOf, startCanary, startServer } from './support/servers.ts'

const run = promisify(execFile)

/** Any public address. No test opens a socket to it, except in a network namespace that leads nowhere. */
const PUBLIC = '93.184.216.34'

test('a name that resolves to loopback is refused, and the canary there is not touched', async () => {
  await using dns = await startDnsServer([['127.0.0.1']])
  await using canary = await startCanary()
  await using egress = createEgress({ resolve: dns.resolve, ports: [canary.port] })
  const error = await failureOf(egress.fetch(`http://attacker.example:${canary.port}/`))
  expect(error).toMatchObject({
    code: 'address_refused',
    message: expect.stringContaining('attacker.example resolves to'),
  })
  expect(dns.questions).toEqual(['attacker.example'])
  expect(canary.touches).toBe(0)
})

// The guard is asked itself, without a socket: if it were wrong, these must not be called.
test.each<[string, DnsAnswer]>([
  ['a private address', ['10.1.2.3']],
  ['the metadata address', ['169.254.169.254']],
  ['a public and a loopback address', [PUBLIC, '127.0.0.1']],
  ['a loopback and a public address', ['127.0.0.1', PUBLIC]],
])('a name that resolves to %s gets no address at all', async (_kind, answer) => {
  await using dns = await startDnsServer([answer])
  const guard = new Guard({ resolve: dns.resolve })
  expect(await failureOf(guard.resolve('attacker.example', 80))).toMatchObject({ code: 'address_refused' })
})

test('a name with public addresses only gets all of them', async () => {
  await using dns = await startDnsServer([[PUBLIC, '8.8.8.8']])
  const guard = new Guard({ resolve: dns.resolve })
  expect(await guard.resolve('example.com', 443)).toEqual([
    { address: PUBLIC, family: 4 },
    { address: '8.8.8.8', family: 4 },
  ])
})

test.each([
  ['SERVFAIL', 2],
  ['NXDOMAIN', 3],
  ['no address', []],
])('a resolver that answers %s refuses the call', async (_kind, answer) => {
  await using dns = await startDnsServer([answer])
  await using canary = await startCanary()
  await using egress = createEgress({ resolve: dns.resolve, ports: [canary.port] })
  const error = await failureOf(egress.fetch(`http://attacker.example:${canary.port}/`))
  expect(error).toBeInstanceOf(EgressFailed)
  expect(error.code).toBe('dns_failed')
  expect(canary.touches).toBe(0)
})

test('a resolver that answers nonsense refuses the call', async () => {
  const resolve = async () => [{ address: 'localhost', family: 4 }]
  await using egress = createEgress({ resolve })
  expect(await failureOf(egress.fetch('http://attacker.example/'))).toMatchObject({ code: 'address_refused' })
  await using silent = createEgress({ resolve: async () => [] })
  expect(await failureOf(silent.fetch('http://attacker.example/'))).toMatchObject({ code: 'dns_failed' })
})

test('a name is resolved once per connection, and the socket goes where the answer said', async () => {
  await using dns = await startDnsServer([['127.0.0.1'], ['127.0.0.2']])
  await using server = await startServer((_request, response) => response.end('first'))
  await using canary = await startCanary({ host: '127.0.0.2', port: server.port })
  await using egress = createEgress({ resolve: dns.resolve, allow: [`rebind.test:${server.port}`] })
  expect(await (await egress.fetch(`http://rebind.test:${server.port}/`)).text()).toBe('first')
  expect(dns.questions).toEqual(['rebind.test'])
  expect(server.requests[0]?.headers.host).toBe(`rebind.test:${server.port}`)
  expect(canary.touches).toBe(0)
})

/** A public address can be served without leaving the machine only inside a network of one's own. */
const hasNamespaces = await run('unshare', ['-rn', 'ip', 'addr', 'add', `${PUBLIC}/32`, 'dev', 'lo']).then(
  () => true,
  () => false,
)

test.skipIf(!hasNamespaces)(
  'a name that turns from public to loopback stays pinned, a hundred times over',
  async () => {
    const program = new URL('./fixtures/rebinding-main.js', import.meta.url).pathname
    const setUp = `ip link set lo up && ip addr add ${PUBLIC}/32 dev lo && exec "$0" "$1"`
    const { stdout } = await run('unshare', ['-rn', 'sh', '-c', setUp, process.execPath, program], { timeout: 20_000 })
    expect(JSON.parse(stdout)).toEqual({ public: 100, refused: 100, canary: 0 })
  },
)
