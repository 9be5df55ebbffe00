// Programs that speak to a proxy in raw bytes, as a browser does.
import { connect } from 'node:net'
import { type EgressProxy, type EgressProxyOptions, startEgressProxy } from '@millrace/egress'
import { expect, test } from 'vitest'
import { hostile } from './support/hostile-urls.ts'
import { startCanary, startServer } from './support/servers.ts'

const never = async (hostname: string): Promise<never> => {
  throw new Error(`The test resolves no names, but was asked for ${hostname}`)
}
const proxyTo = (allow: readonly { target: string }[], options: EgressProxyOptions = {}) =>
  startEgressProxy({ allow: allow.map(({ target }) => target), resolve: never, ...options })

const passwordOf = ({ username, password }: EgressProxy): string =>
  `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`

/** Sends text as it is, and answers all that comes until the connection ends. `then` goes through a tunnel once it is there. */
function say({ url }: EgressProxy, text: string, then?: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => {
      const isFirst = heard === ''
      heard += chunk.toString('latin1')
      if (isFirst && then !== undefined && heard.includes(' 200 ')) socket.write(then)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(heard))
  })
}

const get = (proxy: EgressProxy, url: string, more = ''): Promise<string> =>
  say(proxy, `GET ${url} HTTP/1.1\r\nHost: whatever\r\n${passwordOf(proxy)}Connection: close\r\n${more}\r\n`)
const tunnel = (proxy: EgressProxy, authority: string, then?: string): Promise<string> =>
  say(proxy, `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${passwordOf(proxy)}\r\n`, then)

const CLOSING = 'GET /through HTTP/1.1\r\nHost: inside\r\nConnection: close\r\n\r\n'

test('http goes on without what is meant for the proxy alone, and a tunnel carries bytes as they are', async () => {
  await using server = await startServer((_request, response) => response.end('hello'))
  await using proxy = await proxyTo([server])
  const answer = await get(proxy, `${server.origin}/page?q=1`, 'Connection: x-private\r\nX-Private: 1\r\nX-Kept: 1\r\n')
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(answer).toContain('hello')
  expect(await tunnel(proxy, server.target, CLOSING)).toMatch(/200 Connection Established[\s\S]*hello/)
  expect(server.requests.map(({ url }) => url)).toEqual(['/page?q=1', '/through'])
  const [{ headers } = { headers: {} }] = server.requests
  expect(headers).toMatchObject({ host: server.target, 'x-kept': '1' })
  expect(headers).not.toHaveProperty('proxy-authorization')
  expect(headers).not.toHaveProperty('x-private')
  expect(proxy.counts).toMatchObject({ opened: 2, refused: 0, failed: 0 })
  expect(proxy.counts.bytes).toBeGreaterThan(10)
})

test('without its password it lets nothing through', async () => {
  await using server = await startServer((_request, response) => response.end('hello'))
  await using proxy = await proxyTo([server])
  const wrong = `Proxy-Authorization: Basic ${Buffer.from('millrace:guess').toString('base64')}\r\n`
  for (const header of ['', wrong]) {
    const request = `GET ${server.origin}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n`
    expect(await say(proxy, request)).toMatch(/^HTTP\/1\.1 407 /)
    expect(await say(proxy, `CONNECT ${server.target} HTTP/1.1\r\n${header}\r\n`)).toMatch(/^HTTP\/1\.1 407 /)
  }
  expect(server.requests).toEqual([])
})

test('no hostile URL reaches anything, neither as a request nor as a tunnel', async () => {
  await using canary = await startCanary()
  await using server = await startServer((_request, response) => response.end('hello'))
  await using proxy = await proxyTo([server], { ports: [80, 443, canary.port] })
  let [requests, tunnels] = [0, 0]
  for (const [template] of hostile) {
    const url = template.replace('PORT', String(canary.port))
    // What no line of HTTP can carry is refused by the parser.
    expect(await get(proxy, Buffer.from(url).toString('latin1')), url).toMatch(/^HTTP\/1\.1 40[03] /)
    requests++
    if (!URL.canParse(url) || !/^(https?|ws):/.test(new URL(url).protocol)) continue
    const authority = /^\w+:[\\/]*([^\\/]*)/.exec(url.trim())?.[1] ?? ''
    const target = authority.replace(/^.*@/, '')
    const isPublic = target.startsWith('example.com')
    const spelt = isPublic || /:\d+$/.test(target) ? target : `${target}:80`
    if (isPublic && !/:(22|6379)$/.test(spelt)) continue
    expect(await tunnel(proxy, Buffer.from(spelt).toString('latin1'), CLOSING), url).toMatch(/^HTTP\/1\.1 40[03] /)
    tunnels++
  }
  expect([requests, tunnels > 70]).toEqual([hostile.length, true])
  expect(canary.touches).toBe(0)
  expect(proxy.counts.opened).toBe(0)
  expect(await get(proxy, server.origin)).toContain('hello')
})

test('a name is resolved once, and its tunnel goes where the answer said', async () => {
  await using server = await startServer((_request, response) => response.end('first'))
  await using canary = await startCanary({ host: '127.0.0.2', port: server.port })
  const answers = ['127.0.0.1', '127.0.0.2']
  const asked: string[] = []
  const resolve = async (name: string) => [{ address: answers[asked.push(name) - 1] ?? '', family: 4 }]
  await using proxy = await startEgressProxy({ resolve, allow: [`rebind.test:${server.port}`] })
  expect(await tunnel(proxy, `rebind.test:${server.port}`, CLOSING)).toContain('first')
  expect([asked, canary.touches]).toEqual([['rebind.test'], 0])
  const inwards = async () => [{ address: '127.0.0.1', family: 4 }]
  await using strict = await startEgressProxy({ resolve: inwards, ports: [server.port] })
  expect(await tunnel(strict, `attacker.example:${server.port}`, CLOSING)).toMatch(/^HTTP\/1\.1 403 address_refused/)
  expect(strict.counts).toMatchObject({ opened: 0, refused: 1 })
})

test('bytes of all connections together have a limit, after which nothing goes through', async () => {
  await using server = await startServer((_request, response) => response.end('x'.repeat(300_000)))
  await using proxy = await proxyTo([server], { budget: { maxBytes: 500_000 } })
  expect((await get(proxy, server.origin)).length).toBeGreaterThan(300_000)
  expect((await tunnel(proxy, server.target, CLOSING)).length).toBeLessThan(300_000)
  expect(await get(proxy, server.origin)).toMatch(/^HTTP\/1\.1 502 /)
  expect(await tunnel(proxy, server.target, CLOSING)).toMatch(/^HTTP\/1\.1 502 /)
  expect(proxy.counts).toMatchObject({ opened: 2, failed: 2 })
})

test('a connection that is silent, or lives too long, is broken off', async () => {
  await using silent = await startServer(() => {})
  await using endless = await startServer((_request, response) => {
    const timer = setInterval(() => response.write('more'), 20)
    response.on('close', () => clearInterval(timer))
  })
  await using proxy = await proxyTo([silent, endless], { budget: { idleMs: 100, totalMs: 400 } })
  expect(await get(proxy, silent.origin)).toMatch(/^HTTP\/1\.1 502 /)
  expect(await tunnel(proxy, silent.target, CLOSING)).toMatch(/Established\r\n\r\n$/)
  expect(await tunnel(proxy, endless.target, CLOSING)).toContain('more')
})

test('more connections than it may have open are refused, and closing ends those that are', async () => {
  await using silent = await startServer(() => {})
  const proxy = await proxyTo([silent], { budget: { connections: 1 } })
  const first = tunnel(proxy, silent.target, CLOSING)
  await expect.poll(() => silent.requests.length).toBe(1)
  expect(await tunnel(proxy, silent.target)).toMatch(/^HTTP\/1\.1 502 /)
  await proxy.close()
  expect(await first).toMatch(/200 Connection Established/)
  await expect(fetch(proxy.url)).rejects.toThrow()
})

test('options that cannot work are refused at once', async () => {
  await expect(startEgressProxy({ allow: ['*:80'] })).rejects.toThrow('allow contains')
  await expect(startEgressProxy({ budget: { maxBytes: 0 } })).rejects.toThrow("proxy's maxBytes is 0")
  await expect(startEgressProxy({ budget: { bytes: 5 } as object })).rejects.toThrow('has no "bytes"')
})
