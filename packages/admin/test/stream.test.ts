// Server-sent events, read from the response without a socket.
import { defineJob, defineQueues } from 'millrace'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Channel, Listener } from '#src/server/stream/channel'
import { Connection } from '#src/server/stream/connection'
import { type AdminSetup, requestOf, setup } from './support/setup.ts'

const queues = defineQueues({ mail: { priority: 50, concurrency: 5 } })
const mail = defineJob({ type: 'MAIL', queue: queues.mail, payload: z.object({ to: z.string().optional() }) })

let t: AdminSetup
let token: string

beforeAll(async () => {
  t = await setup([mail])
  token = await t.token('viewer')
})
afterAll(() => t[Symbol.asyncDispose]())

interface Event {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: of any topic
  data: any
}

async function open(topics: string, { lastEventId, as = token }: { lastEventId?: string; as?: string } = {}) {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const response = await t.handler(requestOf(`GET /admin/api/stream?topics=${topics}`, { token: as, headers }))
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  return {
    /** The next event that is no beat; undefined at the end. */
    async next(): Promise<Event | undefined> {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const lines = Object.fromEntries(
            text
              .slice(0, end)
              .split('\n')
              .map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]),
          )
          text = text.slice(end + 2)
          if (lines.event === undefined || lines.event === 'beat') continue
          return { id: lines.id ?? '', event: lines.event, data: JSON.parse(lines.data ?? 'null') }
        }
        const { done, value } = await reader.read()
        if (done) return undefined
        text += new TextDecoder().decode(value)
      }
    },
    [Symbol.asyncDispose]: () => reader.cancel(),
  }
}

test('a topic begins with a snapshot, and changes follow without payloads', async () => {
  await using stream = await open('jobs')
  const first = await stream.next()
  expect(first).toMatchObject({ event: 'jobs', data: { topic: 'jobs', kind: 'snapshot' } })
  const { id } = await t.millrace.enqueue(mail, { to: 'canary' })
  const change = await stream.next()
  expect(change).toMatchObject({ event: 'jobs', data: { kind: 'change', value: [{ id, status: 'pending' }] } })
  expect(JSON.stringify(change)).not.toContain('canary')
  await t.millrace.cancel(id, { by: 'ann' })
  expect(await stream.next()).toMatchObject({ data: { kind: 'change', value: [{ id, status: 'cancelled' }] } })
})

test('one job can be followed, and several topics at once', async () => {
  const { id } = await t.millrace.enqueue(mail, {})
  await using stream = await open(`job:${id},queues`)
  const seen = [await stream.next(), await stream.next()]
  expect(seen.map((each) => each?.event).sort()).toEqual([`job:${id}`, 'queues'])
  await t.millrace.prioritise(id, 3, { by: 'ann' })
  for (;;) {
    const next = await stream.next()
    if (next?.event !== `job:${id}`) continue
    expect(next.data.value).toMatchObject({ id, priority: 3 })
    break
  }
})

test('however many listen, one poller reads a topic, and none once they are gone', async () => {
  // The poller's clock stands still until it is moved.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const read = vi.spyOn(t.millrace, 'jobs')
    const streams = await Promise.all(Array.from({ length: 20 }, () => open('jobs')))
    for (const stream of streams) expect(await stream.next()).toMatchObject({ event: 'jobs' })
    expect(read).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(read).toHaveBeenCalledTimes(2)
    await read.mock.results[1]?.value
    for (const stream of streams) await stream[Symbol.asyncDispose]()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(read).toHaveBeenCalledTimes(2)
  } finally {
    vi.useRealTimers()
  }
})

test('a listener that comes back gets what it missed, and no snapshot', async () => {
  await using other = await open('jobs')
  await other.next()
  const stream = await open('jobs')
  const snapshot = await stream.next()
  await stream[Symbol.asyncDispose]()
  const { id } = await t.millrace.enqueue(mail, {})
  expect(await other.next()).toMatchObject({ data: { kind: 'change' } })
  await using again = await open('jobs', { lastEventId: snapshot?.id ?? '' })
  expect(await again.next()).toMatchObject({ data: { kind: 'change', value: [{ id }] } })
  await using stranger = await open('jobs', { lastEventId: 'jobs=ffffffff-3,x' })
  expect(await stranger.next()).toMatchObject({ data: { kind: 'snapshot' } })
})

test('a listener that does not read is bounded, and gets the present state when it reads again', async () => {
  let tell: Listener = () => {}
  const channel = {
    join: (listener: Listener) => {
      tell = listener
    },
    leave: () => {},
    snapshot: () => ({ kind: 'snapshot', version: 'e-500', value: 'the present state' }),
  } as unknown as Channel
  const connection = new Connection({ isStillValid: async () => true, onEnd: () => {} })
  connection.follow('jobs', channel, undefined)
  for (let i = 0; i < 500; i++) tell({ kind: 'change', version: `e-${i}`, value: i })
  const reader = (connection.response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  let chunks = 0
  for (; !text.includes('the present state'); chunks++) text += new TextDecoder().decode((await reader.read()).value)
  expect(chunks).toBeLessThan(100)
  expect(text).not.toContain('e-499')
  tell({ kind: 'change', version: 'e-501', value: 'and on it goes' })
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('and on it goes')
  await reader.cancel()
})

test("a tenant's caller follows its own jobs, and nothing of the others", async () => {
  const as = await t.token('viewer', ['acme'])
  await using stream = await open('jobs', { as })
  expect(await stream.next()).toMatchObject({ data: { kind: 'snapshot', value: [] } })
  await t.millrace.enqueue(mail, {}, { tenant: 'other' })
  const { id } = await t.millrace.enqueue(mail, {}, { tenant: 'acme' })
  expect((await stream.next())?.data.value.map((job: { id: string }) => job.id)).toEqual([id])
  for (const topic of ['queues', 'overview', 'workers', 'dead-letters', 'health', 'alerts'])
    expect(await t.call(`GET /admin/api/stream?topics=${topic}`, { token: as })).toMatchObject({ status: 403 })
  const foreign = await t.millrace.enqueue(mail, {}, { tenant: 'other' })
  await using hidden = await open(`job:${foreign.id}`, { as })
  expect(await hidden.next()).toMatchObject({ data: { value: null } })
})

test('a stream ends at its next check once its token is revoked', async () => {
  const { secret } = await t.millrace.tokens.create({ name: 'leaver', role: 'viewer', by: 'test' })
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await using stream = await open('queues', { as: secret })
    await using other = await open('jobs')
    expect(await stream.next()).toMatchObject({ event: 'queues' })
    expect(await other.next()).toMatchObject({ event: 'jobs' })
    await t.millrace.tokens.revoke('leaver', { by: 'test' })
    vi.advanceTimersByTime(60_000)
    const rest: string[] = []
    for (let next = await stream.next(); next !== undefined; next = await stream.next())
      rest.push(next.event === 'end' ? next.data.reason : next.event)
    expect(rest.at(-1)).toBe('the token or session is not valid any more')
    // The stream of a token that is in force goes on.
    const { id } = await t.millrace.enqueue(mail, {})
    expect(await other.next()).toMatchObject({ data: { kind: 'change', value: [{ id }] } })
  } finally {
    vi.useRealTimers()
  }
})

test('an unknown topic is refused with those that exist', async () => {
  const answer = await t.call('GET /admin/api/stream?topics=weather', { token })
  expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('queues') } })
})

test('streams end with the server, and say so', async () => {
  await using own = await setup([mail])
  const secret = await own.token('viewer')
  const response = await own.handler(requestOf('GET /admin/api/stream?topics=queues', { token: secret }))
  await own.handler.close()
  expect(await response.text()).toContain('event: end')
  expect(await own.call('GET /admin/api/stream?topics=queues', { token: secret })).toMatchObject({ status: 503 })
})

test('a stream follows few single jobs, and a server not many more, as each is read every second', async () => {
  await using own = await setup([mail])
  const { secret } = await own.millrace.tokens.create({ name: 'v', role: 'viewer', by: 'test' })
  const topics = (from: number, count: number) => Array.from({ length: count }, (_, i) => `job:${from + i}`).join(',')
  const line = (from: number, count: number) => `GET /admin/api/stream?topics=${topics(from, count)}`
  expect(await own.call(line(1, 6), { token: secret })).toMatchObject({
    status: 400,
    body: { code: 'too_many_topics' },
  })
  const opened = []
  for (let i = 0; i < 20; i++) opened.push(await own.handler(requestOf(line(1 + i * 5, 5), { token: secret })))
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]))
  const more = await own.call(line(500, 1), { token: secret })
  expect(more).toMatchObject({ status: 503, body: { code: 'too_many_streams' } })
  await opened[0]?.body?.cancel()
  const room = await own.handler(requestOf(line(500, 1), { token: secret }))
  expect(room.status).toBe(200)
  await own.handler.close()
})

test('one caller cannot take the streams of all others', async () => {
  await using own = await setup([mail])
  const [greedy, other] = [await own.token('viewer', ['acme']), await own.token('viewer')]
  const open = (token: string) => own.handler(requestOf('GET /admin/api/stream?topics=jobs', { token }))
  const opened = []
  for (let i = 0; i < 50; i++) opened.push(await open(greedy))
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await own.call('GET /admin/api/stream?topics=jobs', { token: greedy })).toMatchObject({
    status: 429,
    body: { code: 'too_many_streams' },
  })
  expect((await open(other)).status).toBe(200)
  await opened[0]?.body?.cancel()
  expect((await open(greedy)).status).toBe(200)
  await own.handler.close()
})

test('a stream that is refused leaves no timer behind', async () => {
  const started = vi.spyOn(globalThis, 'setInterval')
  expect(await t.call('GET /admin/api/stream?topics=jobs,weather', { token })).toMatchObject({ status: 400 })
  expect(started).not.toHaveBeenCalled()
})
