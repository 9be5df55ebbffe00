import { once } from 'node:events'
import { PassThrough, type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as zlib from 'node:zlib'
import { EgressBudgetExceeded, EgressFailed } from '@millrace/egress'
import { expect, test } from 'vitest'
import { egressTo, failureOf, startCanary, startServer } from './support/servers.ts'

const MEGABYTE = 1024 * 1024

/** `megabytes` of zeros, compressed. */
async function bomb(encoder: NodeJS.ReadWriteStream, megabytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  const zeros = Buffer.alloc(MEGABYTE)
  const collect = new Writable({
    write(chunk, _encoding, done) {
      parts.push(chunk)
      done()
    },
  })
  await pipeline(
    (function* () {
      for (let i = 0; i < megabytes; i++) yield zeros
    })(),
    encoder,
    collect,
  )
  return Buffer.concat(parts)
}

/** Only Node 22.15 and newer have zstd, and ask servers for it. */
const { createZstdCompress } = zlib as { createZstdCompress?: () => NodeJS.ReadWriteStream }

const encoders: Record<string, () => NodeJS.ReadWriteStream> = {
  gzip: () => zlib.createGzip({ level: 1 }),
  deflate: () => zlib.createDeflate({ level: 1 }),
  br: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ...(createZstdCompress ? { zstd: () => createZstdCompress() } : {}),
}

test.each(Object.keys(encoders))('a compression bomb in %s is stopped at the budget', async (encoding) => {
  const make = encoders[encoding] as () => NodeJS.ReadWriteStream
  const bytes = await bomb(make(), 256)
  expect(bytes.length).toBeLessThan(2 * MEGABYTE)
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(bytes)
  })
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin, { budget: { maxBytes: MEGABYTE } })
  const before = process.memoryUsage().arrayBuffers
  const error = await failureOf(response.arrayBuffer())
  expect(error).toBeInstanceOf(EgressBudgetExceeded)
  expect(error).toMatchObject({ code: 'too_many_bytes', limit: MEGABYTE })
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * MEGABYTE)
})

test('an answer that is compressed several times is not unpacked', async () => {
  const twice = zlib.gzipSync(zlib.gzipSync('hello'))
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(twice)
  })
  await using egress = egressTo([server])
  expect(await failureOf(egress.fetch(server.origin))).toMatchObject({ code: 'bad_response' })
})

test.each(['gzip', 'deflate', 'br'])('a broken or truncated body in %s is a failure', async (encoding) => {
  const make = encoders[encoding] as () => NodeJS.ReadWriteStream
  const whole = await bomb(make(), 1)
  await using server = await startServer((request, response) => {
    const body = request.url === '/broken' ? Buffer.from('this is not compressed at all') : whole.subarray(0, -5)
    response.writeHead(200, { 'content-encoding': encoding }).end(body)
  })
  await using egress = egressTo([server])
  for (const path of ['/broken', '/truncated']) {
    const error = await failureOf(egress.fetch(server.origin + path).then((response) => response.text()))
    expect(error).toBeInstanceOf(EgressFailed)
    expect(error).toMatchObject({ code: 'bad_response', message: expect.stringContaining('decompressed') })
  }
})

test('an endless body is cut at the budget, and its connection is closed', async () => {
  let closed: Promise<unknown> | undefined
  await using server = await startServer((_request, response) => {
    closed = once(response, 'close')
    const chunk = Buffer.alloc(65_536)
    const write = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', write)
    }
    write()
  })
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin, { budget: { maxBytes: MEGABYTE } })
  expect(await failureOf(response.text())).toMatchObject({ code: 'too_many_bytes' })
  await closed
})

test('a body where none belongs is not read', async () => {
  let closed: Promise<unknown> | undefined
  await using server = await startServer((_request, response) => {
    closed = once(response, 'close')
    response.writeHead(205).write('endless')
  })
  await using egress = egressTo([server])
  expect(await egress.fetch(server.origin)).toMatchObject({ status: 205, body: null })
  await closed
})

test('a declared length beyond the budget is refused before the body is read', async () => {
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-length': 2 * MEGABYTE }).write('x')
  })
  await using egress = egressTo([server])
  const call = egress.fetch(server.origin, { budget: { maxBytes: MEGABYTE } })
  expect(await failureOf(call)).toMatchObject({ code: 'too_many_bytes' })
})

test('a body of exactly the budget passes', async () => {
  await using server = await startServer((_request, response) => response.end(Buffer.alloc(1000)))
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin, { budget: { maxBytes: 1000 } })
  expect((await response.arrayBuffer()).byteLength).toBe(1000)
})

test('slow headers are cut, whether a server is silent or sends them byte by byte', async () => {
  const timers: NodeJS.Timeout[] = []
  await using server = await startServer((request) => {
    const { socket } = request
    if (request.url === '/silent') return
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
    timers.push(setInterval(() => socket.write('x'), 10))
  })
  await using egress = egressTo([server])
  for (const path of ['/silent', '/drip']) {
    const error = await failureOf(egress.fetch(server.origin + path, { budget: { headersMs: 100 } }))
    expect(error).toMatchObject({ code: 'headers_timeout', limit: 100 })
  }
  for (const timer of timers) clearInterval(timer)
})

test('a resolver that never answers is cut by the time for headers', async () => {
  await using egress = egressTo([], { resolve: () => new Promise(() => {}), budget: { headersMs: 50 } })
  expect(await failureOf(egress.fetch('http://example.com/'))).toMatchObject({ code: 'headers_timeout' })
})

test('a silent body is cut by the idle time, a dripping one by the total time', async () => {
  const timers: NodeJS.Timeout[] = []
  await using server = await startServer((request, response) => {
    response.write('begin')
    if (request.url === '/drip') timers.push(setInterval(() => response.write('.'), 10))
  })
  await using egress = egressTo([server])
  const read = (path: string, budget: object) =>
    failureOf(egress.fetch(server.origin + path, { budget }).then((response) => response.text()))
  // The other limit of each is too far away to be met on a busy machine.
  const silent = await read('/silent', { idleMs: 150, totalMs: 20_000 })
  const drip = await read('/drip', { idleMs: 20_000, totalMs: 600 })
  for (const timer of timers) clearInterval(timer)
  expect(silent).toMatchObject({ code: 'idle_timeout', limit: 150 })
  expect(drip).toMatchObject({ code: 'total_timeout', limit: 600 })
})

test('a body that is not read is ended by the total time too', async () => {
  let closed: Promise<unknown> | undefined
  await using server = await startServer((_request, response) => {
    closed = once(response, 'close')
    response.write('begin')
  })
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin, { budget: { totalMs: 800 } })
  await closed
  expect(await failureOf(response.text())).toMatchObject({ code: 'total_timeout' })
})

test('a slow reader is not taken for a slow server', async () => {
  await using server = await startServer((_request, response) => response.end('x'.repeat(500_000)))
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin, { budget: { idleMs: 500 } })
  // Longer than the idle time, while the answer waits to be read.
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect((await response.text()).length).toBe(500_000)
})

test('an abort ends the call with its reason: before it, while connecting, waiting and reading', async () => {
  await using server = await startServer((request, response) => {
    if (request.url === '/body') response.write('begin')
    events.emit(request.url ?? '')
  })
  const events = new PassThrough()
  await using egress = egressTo([server], { resolve: () => new Promise(() => {}) })
  const reason = new Error('shutting down')
  const abort = () => {
    const controller = new AbortController()
    return { signal: controller.signal, now: () => controller.abort(reason) }
  }
  expect(await failureOf(egress.fetch(server.origin, { signal: AbortSignal.abort(reason) }))).toBe(reason)

  const connecting = abort()
  const unresolved = failureOf(egress.fetch('http://example.com/', { signal: connecting.signal }))
  connecting.now()
  expect(await unresolved).toBe(reason)

  const waiting = abort()
  const arrived = once(events, '/silent')
  const silent = failureOf(egress.fetch(`${server.origin}/silent`, { signal: waiting.signal }))
  await arrived
  waiting.now()
  expect(await silent).toBe(reason)

  const reading = abort()
  const response = await egress.fetch(`${server.origin}/body`, { signal: reading.signal })
  const body = failureOf(response.text())
  reading.now()
  expect(await body).toBe(reason)
})

test('a cancelled body closes its connection', async () => {
  let closed: Promise<unknown> | undefined
  await using server = await startServer((_request, response) => {
    closed = once(response, 'close')
    response.write('begin')
  })
  await using egress = egressTo([server])
  const response = await egress.fetch(server.origin)
  await response.body?.cancel()
  await closed
})

test('an answer that breaks off is a failed connection', async () => {
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('begin', () => response.destroy())
  })
  await using egress = egressTo([server])
  const error = await failureOf(egress.fetch(server.origin).then((response) => response.text()))
  expect(error).toMatchObject({ code: 'connection_failed', message: expect.stringContaining('broke off') })
})

test('too many headers, and answers that are no HTTP, are refused', async () => {
  await using server = await startServer((request, response) => {
    if (request.url === '/large') response.writeHead(200, { 'x-large': 'x'.repeat(100_000) }).end()
    else request.socket.end('SSH-2.0-OpenSSH_9.2\r\n')
  })
  await using egress = egressTo([server])
  expect(await failureOf(egress.fetch(`${server.origin}/large`))).toMatchObject({ code: 'too_many_bytes' })
  expect(await failureOf(egress.fetch(server.origin))).toMatchObject({ code: 'bad_response' })
})

test('a port that nobody listens on is a failed connection', async () => {
  const { port } = await (async () => {
    await using canary = await startCanary()
    return { port: canary.port }
  })()
  await using egress = egressTo([{ target: `127.0.0.1:${port}` }])
  const error = await failureOf(egress.fetch(`http://127.0.0.1:${port}/`))
  expect(error).toMatchObject({ code: 'connection_failed', cause: { code: 'ECONNREFUSED' } })
})

test('closing the egress breaks off what still runs', async () => {
  const arrived = new PassThrough() as Readable
  await using server = await startServer(() => arrived.emit('request'))
  const egress = egressTo([server])
  const request = once(arrived, 'request')
  const call = failureOf(egress.fetch(server.origin))
  await request
  await egress.close()
  expect(await call).toBeInstanceOf(EgressFailed)
})
