// Each of these URLs is refused, and a canary that listens on loopback, on the port that they name, is never touched.
// The allow-list holds another server of the same machine meanwhile.
import { EgressRefused } from '@millrace/egress'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Canary, egressTo, failureOf, startCanary, startServer, type TestServer } from './support/servers.ts'

/** PORT becomes the canary's, which is among the ports that public hosts may have: only the address can be the reason. */
const hostile: [url: string, code: string, reason: string][] = [
  // This machine, in all spellings.
  ['http://127.0.0.1:PORT/', 'address_refused', 'loopback'],
  ['http://127.1:PORT/', 'address_refused', 'loopback'],
  ['http://127.0.1:PORT/', 'address_refused', 'loopback'],
  ['http://2130706433:PORT/', 'address_refused', 'loopback'],
  ['http://017700000001:PORT/', 'address_refused', 'loopback'],
  ['http://0x7f000001:PORT/', 'address_refused', 'loopback'],
  ['http://0x7f.0.0.1:PORT/', 'address_refused', 'loopback'],
  ['http://0177.0.0.1:PORT/', 'address_refused', 'loopback'],
  ['http://0X7F.0x0.0.01:PORT/', 'address_refused', 'loopback'],
  ['http://127.0.0.1.:PORT/', 'address_refused', 'loopback'],
  ['http://127.255.255.254:PORT/', 'address_refused', 'loopback'],
  ['http://%31%32%37.0.0.1:PORT/', 'address_refused', 'loopback'],
  ['http://１２７.０.０.１:PORT/', 'address_refused', 'loopback'],
  ['http://①②⑦.⓪.⓪.①:PORT/', 'address_refused', 'loopback'],
  ['http://127。0。0。1:PORT/', 'address_refused', 'loopback'],
  ['http:\\\\127.0.0.1:PORT\\', 'address_refused', 'loopback'],
  ['http:127.0.0.1:PORT', 'address_refused', 'loopback'],
  ['\thttp://127.\n0.0.1:PORT/', 'address_refused', 'loopback'],
  ['http://[::1]:PORT/', 'address_refused', 'loopback'],
  ['http://[0:0:0:0:0:0:0:1]:PORT/', 'address_refused', 'loopback'],
  ['http://0:PORT/', 'address_refused', 'unspecified'],
  ['http://0.0.0.0:PORT/', 'address_refused', 'unspecified'],
  ['http://0.1.2.3:PORT/', 'address_refused', 'unspecified'],
  ['http://[::]:PORT/', 'address_refused', 'unspecified'],
  // IPv4 inside IPv6.
  ['http://[::ffff:127.0.0.1]:PORT/', 'address_refused', 'IPv4-mapped'],
  ['http://[::ffff:7f00:1]:PORT/', 'address_refused', 'IPv4-mapped'],
  ['http://[::ffff:169.254.169.254]:PORT/', 'address_refused', 'IPv4-mapped'],
  ['http://[::ffff:8.8.8.8]:PORT/', 'address_refused', 'IPv4-mapped'],
  ['http://[::127.0.0.1]:PORT/', 'address_refused', 'reserved'],
  ['http://[::ffff:0:127.0.0.1]:PORT/', 'address_refused', 'IPv4-translated'],
  ['http://[64:ff9b::127.0.0.1]:PORT/', 'address_refused', 'NAT64 address for a loopback'],
  ['http://[64:ff9b::a9fe:a9fe]:PORT/', 'address_refused', 'NAT64 address for a link-local'],
  ['http://[64:ff9b::10.0.0.1]:PORT/', 'address_refused', 'NAT64 address for a private'],
  ['http://[64:ff9b:1::127.0.0.1]:PORT/', 'address_refused', 'NAT64'],
  ['http://[2002:7f00:1::]:PORT/', 'address_refused', '6to4'],
  ['http://[2001:0:7f00:1::]:PORT/', 'address_refused', 'Teredo'],
  // Private networks and cloud metadata.
  ['http://10.0.0.1:PORT/', 'address_refused', 'private'],
  ['http://172.16.0.1:PORT/', 'address_refused', 'private'],
  ['http://172.31.255.255:PORT/', 'address_refused', 'private'],
  ['http://192.168.1.1:PORT/', 'address_refused', 'private'],
  ['http://100.64.0.1:PORT/', 'address_refused', 'carrier-grade'],
  ['http://100.100.100.200:PORT/', 'address_refused', 'carrier-grade'],
  ['http://169.254.169.254/latest/meta-data/', 'address_refused', 'link-local'],
  ['http://2852039166/latest/meta-data/', 'address_refused', 'link-local'],
  ['http://0xa9fea9fe/', 'address_refused', 'link-local'],
  ['http://168.63.129.16/metadata', 'address_refused', 'metadata'],
  ['http://192.0.0.192/', 'address_refused', 'reserved'],
  ['http://[fd00:ec2::254]/', 'address_refused', 'unique local'],
  ['http://[fc00::1]:PORT/', 'address_refused', 'unique local'],
  ['http://[fe80::1]:PORT/', 'address_refused', 'link-local'],
  ['http://[fec0::1]:PORT/', 'address_refused', 'reserved'],
  // Not for hosts at all.
  ['http://255.255.255.255/', 'address_refused', 'broadcast'],
  ['http://224.0.0.1/', 'address_refused', 'multicast'],
  ['http://239.255.255.250/', 'address_refused', 'multicast'],
  ['http://[ff02::1]/', 'address_refused', 'multicast'],
  ['http://192.0.2.1/', 'address_refused', 'reserved'],
  ['http://198.51.100.1/', 'address_refused', 'reserved'],
  ['http://203.0.113.1/', 'address_refused', 'reserved'],
  ['http://198.18.0.1/', 'address_refused', 'reserved'],
  ['http://192.88.99.1/', 'address_refused', 'reserved'],
  ['http://240.0.0.1/', 'address_refused', 'reserved'],
  ['http://[2001:db8::1]/', 'address_refused', 'reserved'],
  ['http://[3fff::1]/', 'address_refused', 'reserved'],
  ['http://[100::1]/', 'address_refused', 'reserved'],
  ['http://[4000::1]/', 'address_refused', 'reserved'],
  // Names.
  ['http://localhost:PORT/', 'local_name', 'local network'],
  ['http://LOCALHOST:PORT/', 'local_name', 'local network'],
  ['http://localhost.:PORT/', 'local_name', 'local network'],
  ['http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/', 'local_name', 'local network'],
  ['http://app.localhost:PORT/', 'local_name', 'local network'],
  ['http://localhost.localdomain:PORT/', 'local_name', 'local network'],
  ['http://metadata.google.internal/', 'local_name', 'local network'],
  ['http://printer.local/', 'local_name', 'local network'],
  ['http://router.home.arpa/', 'local_name', 'local network'],
  ['http://redis:PORT/', 'local_name', 'local network'],
  // Credentials, schemes, ports.
  ['http://example.com@127.0.0.1:PORT/', 'credentials_in_url', 'Authorization'],
  ['http://user:hunter2@example.com/', 'credentials_in_url', 'Authorization'],
  ['http://example.com:80@127.0.0.1:PORT/', 'credentials_in_url', 'Authorization'],
  ['file:///etc/passwd', 'scheme_refused', 'http or https'],
  ['ftp://example.com/', 'scheme_refused', 'http or https'],
  ['gopher://127.0.0.1:PORT/_GET', 'scheme_refused', 'http or https'],
  ['data:text/plain,hello', 'scheme_refused', 'http or https'],
  ['blob:nodedata:1', 'scheme_refused', 'http or https'],
  ['javascript:alert(1)', 'scheme_refused', 'http or https'],
  ['ws://127.0.0.1:PORT/', 'scheme_refused', 'http or https'],
  ['http://example.com:22/', 'port_refused', 'port 22'],
  ['https://example.com:6379/', 'port_refused', 'port 6379'],
  // No URLs.
  ['', 'invalid_url', 'whole URL'],
  ['/relative', 'invalid_url', 'whole URL'],
  ['//127.0.0.1:PORT/', 'invalid_url', 'whole URL'],
  ['http://', 'invalid_url', 'whole URL'],
  ['http://256.256.256.256/', 'invalid_url', 'whole URL'],
  ['http://127.0.0.1:99999/', 'invalid_url', 'whole URL'],
  ['http://[fe80::1%25lo]:PORT/', 'invalid_url', 'whole URL'],
  ['http://127.0.0.1 .example.com/', 'invalid_url', 'whole URL'],
  ['http://1.2.3.08/', 'invalid_url', 'whole URL'],
]

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
