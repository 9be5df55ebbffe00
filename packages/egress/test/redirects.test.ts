import { EgressBudgetExceeded, EgressRefused } from '@millrace/egress'
import { expect, test } from 'vitest'
import { type Answer, egressTo, failureOf, startCanary, startServer } from './support/servers.ts'

/** Redirects `/301?to=…` there, with that status, and answers everything else. */
const redirecting: Answer = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server')
  const location = searchParams.get('to')
  if (location === null) response.end('arrived')
  else response.writeHead(Number(pathname.slice(1)), { location }).end('moved')
}

const via = (origin: string, status: number, to: string) => `${origin}/${status}?to=${encodeURIComponent(to)}`

test('redirects are followed, relative ones too, and the answer says where they ended', async () => {
  await using one = await startServer(redirecting)
  await using two = await startServer(redirecting)
  await using egress = egressTo([one, two])
  const response = await egress.fetch(via(one.origin, 302, via(two.origin, 307, '/end?x=1#part')))
  expect(response).toMatchObject({ url: `${two.origin}/end?x=1`, redirected: true, status: 200 })
  expect(await response.text()).toBe('arrived')
})

test.each([301, 302, 303, 307, 308])('a %i into a private address is refused at every hop', async (status) => {
  await using server = await startServer(redirecting)
  await using canary = await startCanary()
  await using egress = egressTo([server], { ports: [80, 443, canary.port] })
  for (const inside of [
    `http://127.0.0.1:${canary.port}/`,
    `http://2130706433:${canary.port}/`,
    `//[::ffff:127.0.0.1]:${canary.port}/`,
    `http://localhost:${canary.port}/`,
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/passwd',
    'http://user:pw@example.com/',
  ]) {
    for (let hops = 1; hops <= 3; hops++) {
      let url = inside
      for (let hop = 0; hop < hops; hop++) url = via(server.origin, status, url)
      const error = await failureOf(egress.fetch(url, { method: 'POST', body: 'secret' }))
      expect(error).toBeInstanceOf(EgressRefused)
    }
  }
  expect(canary.touches).toBe(0)
})

test('each redirect that is followed is told, with its status and where it leads', async () => {
  await using one = await startServer(redirecting)
  await using egress = egressTo([one])
  const told: { status: number; url: string }[] = []
  const second = via(one.origin, 302, '/end')
  await egress.fetch(via(one.origin, 301, second), { onRedirect: (redirect) => told.push(redirect) })
  expect(told).toEqual([
    { status: 301, url: second },
    { status: 302, url: `${one.origin}/end` },
  ])
})

test('a loop of redirects ends with the budget', async () => {
  await using server = await startServer((_request, response) => response.writeHead(302, { location: '/' }).end())
  await using egress = egressTo([server])
  const error = await failureOf(egress.fetch(server.origin))
  expect(error).toBeInstanceOf(EgressBudgetExceeded)
  expect(error).toMatchObject({ code: 'too_many_redirects', limit: 5 })
  expect(server.requests.length).toBe(6)
  const none = await failureOf(egress.fetch(server.origin, { budget: { maxRedirects: 0 } }))
  expect(none).toMatchObject({ code: 'too_many_redirects', limit: 0 })
  expect(server.requests.length).toBe(7)
})

test('credentials, cookies and keys stay behind when the origin changes, and travel within it', async () => {
  await using one = await startServer(redirecting)
  await using two = await startServer(redirecting)
  await using egress = egressTo([one, two])
  const headers = {
    authorization: 'Bearer canary',
    cookie: 'session=canary',
    'x-api-key': 'canary',
    'ocp-apim-subscription-key': 'canary',
    'if-none-match': '"1"',
    'user-agent': 'agent',
  }
  await egress.fetch(via(one.origin, 302, '/same'), { headers })
  expect(one.requests[1]?.headers).toMatchObject(headers)
  await egress.fetch(via(one.origin, 302, `${two.origin}/other`), { headers })
  expect(two.requests[0]?.headers).toMatchObject({ 'if-none-match': '"1"', 'user-agent': 'agent', host: two.target })
  expect(JSON.stringify(two.requests)).not.toContain('canary')
  // They do not come back either.
  await egress.fetch(via(one.origin, 302, via(two.origin, 302, `${one.origin}/back`)), { headers })
  expect(JSON.stringify(one.requests.at(-1))).not.toContain('canary')
})

test.each([
  [301, 'POST', 'GET', ''],
  [302, 'POST', 'GET', ''],
  [303, 'PUT', 'GET', ''],
  [307, 'POST', 'POST', 'body'],
  [308, 'PUT', 'PUT', 'body'],
  [301, 'PUT', 'PUT', 'body'],
])('a %i turns %s into %s', async (status, method, then, body) => {
  await using server = await startServer(redirecting)
  await using egress = egressTo([server])
  await egress.fetch(via(server.origin, status, '/end'), { method, body: 'body' })
  const last = server.requests[1]
  expect(last).toMatchObject({ method: then, body, url: '/end' })
  expect(last?.headers['content-type']).toBe(body === '' ? undefined : 'text/plain;charset=UTF-8')
})

test('a streamed body is not sent a second time', async () => {
  await using server = await startServer(redirecting)
  await using egress = egressTo([server])
  const body = new Blob(['body']).stream()
  const error = await failureOf(egress.fetch(via(server.origin, 307, '/end'), { method: 'POST', body, duplex: 'half' }))
  expect(error).toMatchObject({ code: 'redirect_refused', message: expect.stringContaining('streamed body') })
})

test('redirect: "manual" answers the redirect, and "error" refuses it', async () => {
  await using server = await startServer(redirecting)
  await using egress = egressTo([server])
  const url = via(server.origin, 301, 'http://10.0.0.1/')
  const response = await egress.fetch(url, { redirect: 'manual' })
  expect(response).toMatchObject({ status: 301, redirected: false })
  expect(response.headers.get('location')).toBe('http://10.0.0.1/')
  expect(await failureOf(egress.fetch(new Request(url, { redirect: 'error' })))).toMatchObject({
    code: 'redirect_refused',
  })
})

test('a redirect without a location is an answer, and one to no URL is a failure', async () => {
  await using server = await startServer((request, response) => {
    response.writeHead(302, request.url === '/none' ? {} : { location: 'http://[' }).end()
  })
  await using egress = egressTo([server])
  expect((await egress.fetch(`${server.origin}/none`)).status).toBe(302)
  expect(await failureOf(egress.fetch(server.origin))).toMatchObject({ code: 'bad_response' })
})
