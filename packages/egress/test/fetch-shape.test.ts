import { Readable } from 'node:stream'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { EgressRefused } from '@millrace/egress'
import { Agent } from 'undici'
import { expect, test } from 'vitest'
import { egressTo, failureOf, startServer } from './support/servers.ts'

test('an answer is a Response of the platform, with status, headers, cookies and url', async () => {
  await using server = await startServer((_request, response) => {
    response.writeHead(201, 'Made', { 'x-one': 'ä', 'set-cookie': ['a=1', 'b=2'] }).end('{"ok":true}')
  })
  await using egress = egressTo([server])
  const response = await egress.fetch(`${server.origin}/path?q=1#part`)
  expect(response).toBeInstanceOf(Response)
  expect(response).toMatchObject({
    status: 201,
    ok: true,
    statusText: 'Made',
    url: `${server.origin}/path?q=1`,
    redirected: false,
  })
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await response.json()).toEqual({ ok: true })
  expect(server.requests[0]).toMatchObject({
    method: 'GET',
    url: '/path?q=1',
    headers: { host: server.target, accept: '*/*', 'user-agent': 'millrace' },
  })
})

test('the function has the type of the global fetch', async () => {
  await using server = await startServer((_request, response) => response.end('hello'))
  await using egress = egressTo([server])
  const asTheSdkHasIt: typeof globalThis.fetch = egress.fetch
  expect(await (await asTheSdkHasIt(new URL(server.origin))).text()).toBe('hello')
})

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['identity', (text: string) => Buffer.from(text)],
  ['something-new', (text: string) => Buffer.from(text)],
])('a body in %s arrives decoded', async (encoding, encode) => {
  const text = 'a feed of some length '.repeat(500)
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(encode(text))
  })
  await using egress = egressTo([server])
  expect(await (await egress.fetch(server.origin)).text()).toBe(text)
})

test.each(['gzip', 'deflate', 'br'])('an empty body in %s is empty', async (encoding) => {
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding, 'content-length': 0 }).end()
  })
  await using egress = egressTo([server])
  expect(await (await egress.fetch(server.origin)).text()).toBe('')
})

test.each(['HEAD 200', 'GET 204', 'GET 304'])('%s has no body', async (line) => {
  const [method = '', status] = line.split(' ')
  await using server = await startServer((_request, response) => {
    response.writeHead(Number(status), { 'content-encoding': 'gzip', etag: '"1"' }).end()
  })
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin, { method })
  expect(response).toMatchObject({ status: Number(status), body: null })
  expect(await response.text()).toBe('')
})

test('bodies of known length are sent with it, and with their content type', async () => {
  await using server = await startServer((_request, response) => response.end())
  await using egress = egressTo([server])
  const form = new FormData()
  form.set('file', new Blob(['%PDF']), 'fax.pdf')
  const bodies = [
    JSON.stringify({ a: 1 }),
    new URLSearchParams({ a: 'b c' }),
    Buffer.from('bytes'),
    new Blob(['x']),
    form,
  ]
  for (const body of bodies) await egress.fetch(server.origin, { method: 'POST', body })
  const seen = server.requests.map(({ headers }) => headers)
  expect(seen.map((headers) => headers['content-type']?.split(';')[0])).toEqual([
    'text/plain',
    'application/x-www-form-urlencoded',
    undefined,
    undefined,
    'multipart/form-data',
  ])
  for (const [index, { body }] of server.requests.entries()) {
    expect(seen[index]).toMatchObject({ 'content-length': String(Buffer.byteLength(body)) })
  }
  expect(server.requests[4]?.body).toContain('filename="fax.pdf"')
})

test('a streamed upload is sent chunk by chunk', async () => {
  await using server = await startServer((_request, response) => response.end())
  await using egress = egressTo([server])
  const web = new ReadableStream({
    start(controller) {
      for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })
  await egress.fetch(server.origin, { method: 'POST', body: web, duplex: 'half' })
  await egress.fetch(server.origin, {
    method: 'PUT',
    body: Readable.from(['three ', 'four']),
    duplex: 'half',
  } as RequestInit)
  expect(server.requests.map(({ method, body, headers }) => [method, body, headers['transfer-encoding']])).toEqual([
    ['POST', 'one two', 'chunked'],
    ['PUT', 'three four', 'chunked'],
  ])
})

test('a Request is taken with its method, headers, body and signal, and init overrides it', async () => {
  await using server = await startServer((_request, response) => response.end())
  await using egress = egressTo([server])
  const request = () => new Request(server.origin, { method: 'POST', body: 'hello', headers: { 'x-key': '1' } })
  await egress.fetch(request())
  await egress.fetch(request(), { method: 'PUT', headers: { 'x-key': '2' } })
  expect(server.requests).toMatchObject([
    { method: 'POST', body: 'hello', headers: { 'x-key': '1', 'content-length': '5' } },
    { method: 'PUT', body: 'hello', headers: { 'x-key': '2' } },
  ])
  const aborted = new Request(server.origin, { signal: AbortSignal.abort() })
  expect((await failureOf(egress.fetch(aborted))).name).toBe('AbortError')
})

test.each([
  ['x-a', 'one\r\nhost: evil.example'],
  ['x-a', 'one\nx-b: two'],
  ['x-a', 'nul\0'],
  ['x-a\r\nx-b', 'two'],
  ['x a', 'two'],
])('a header that would smuggle another is refused: %j: %j', async (name, value) => {
  await using server = await startServer((_request, response) => response.end())
  await using egress = egressTo([server])
  for (const headers of [{ [name]: value }, [[name, value]] as [string, string][]]) {
    const error = await failureOf(egress.fetch(server.origin, { headers }))
    expect(error).toBeInstanceOf(EgressRefused)
    expect(error.code).toBe('invalid_request')
    expect(error.message).not.toContain('two')
  }
  expect(server.requests).toEqual([])
})

test.each(['transfer-encoding', 'upgrade', 'expect', 'te', 'proxy-authorization', 'host'])(
  'the header %s is not the caller’s to set',
  async (name) => {
    await using server = await startServer((_request, response) => response.end())
    await using egress = egressTo([server])
    const error = await failureOf(egress.fetch(server.origin, { headers: { [name]: 'chunked' } }))
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(name) })
    expect(server.requests).toEqual([])
  },
)

test('headers that SDKs set about the connection are written by us', async () => {
  await using server = await startServer((_request, response) => response.end())
  await using egress = egressTo([server])
  const headers = { 'content-length': '999', connection: 'close', host: server.target }
  await egress.fetch(server.origin, { method: 'POST', body: 'abc', headers })
  expect(server.requests[0]).toMatchObject({ body: 'abc', headers: { 'content-length': '3', host: server.target } })
})

test.each(['CONNECT', 'TRACE', 'GET /\r\n'])('the method %j is refused', async (method) => {
  await using server = await startServer((_request, response) => response.end())
  await using egress = egressTo([server])
  expect(await failureOf(egress.fetch(server.origin, { method }))).toMatchObject({ code: 'invalid_request' })
})

test('an event stream is read while the server still writes it', async () => {
  let next: (() => void) | undefined
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    next = () => response.end('data: 2\n\n')
  })
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect(await reader?.read()).toEqual({ done: false, value: 'data: 1\n\n' })
  next?.()
  expect(await reader?.read()).toEqual({ done: false, value: 'data: 2\n\n' })
  expect(await reader?.read()).toMatchObject({ done: true })
})

test('an answer can be cloned, and both copies be read', async () => {
  await using server = await startServer((_request, response) => response.end('{"a":1}'))
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin)
  const copy = response.clone()
  expect(await Promise.all([response.json(), copy.text()])).toEqual([{ a: 1 }, '{"a":1}'])
})

test('another dispatcher in the call does not get around the guard', async () => {
  await using server = await startServer((_request, response) => response.end())
  await using egress = egressTo([])
  const init = {
    dispatcher: new Agent(),
    keepalive: true,
    cache: 'no-store',
    credentials: 'include',
  } as object as RequestInit
  expect(await failureOf(egress.fetch(server.origin, init))).toMatchObject({ code: 'address_refused' })
  expect(server.requests).toEqual([])
})
