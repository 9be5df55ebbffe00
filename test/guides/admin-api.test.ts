import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { admin, type OwnAuth, type Route } from '@millrace/admin'
import { defineJob, defineQueues, type Millrace } from 'millrace'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type Setup, setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

type Guide = Awaited<ReturnType<typeof openDocument>>
type FetchApp = { fetch(request: Request): Response | Promise<Response> }

const queues = defineQueues({ mail: {} })
const welcome = defineJob({ type: 'WELCOME_MAIL', queue: queues.mail, payload: z.object({ to: z.string() }) })

let t: Setup
let guide: Guide
let millrace: Millrace
let token: string

beforeAll(async () => {
  t = await setup()
  guide = await openDocument('docs/guides/admin-api.md')
  millrace = t.client([welcome])
  token = (await millrace.tokens.create({ name: 'guide', role: 'operator', by: 'test' })).secret
})
afterAll(async () => {
  await guide[Symbol.asyncDispose]()
  await t[Symbol.asyncDispose]()
})

/** Looks, changes something and follows a topic under /ops. */
async function works(send: (path: string, init?: RequestInit) => Promise<Response>): Promise<void> {
  const authorization = `Bearer ${token}`
  expect((await send('/ops/admin/api/me')).status).toBe(401)
  const me = await send('/ops/admin/api/me', { headers: { authorization } })
  expect(await me.json()).toMatchObject({ name: 'guide', role: 'operator' })
  const enqueued = await send('/ops/admin/api/jobs/enqueue', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ job_type: 'WELCOME_MAIL', payload: { to: 'ann' } }),
  })
  expect(enqueued.status).toBe(201)
  const { id } = (await enqueued.json()) as { id: string }
  expect(await millrace.job(id)).toMatchObject({ payload: { to: 'ann' }, createdBy: 'guide' })
  const stream = await send('/ops/admin/api/stream?topics=queues', { headers: { authorization } })
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('event: queues')) text += new TextDecoder().decode((await reader.read()).value)
  await reader.cancel()
  const home = await send('/ops/admin', { redirect: 'manual' })
  expect(home.headers.get('location')).toBe('/ops/admin/')
}

async function overSocket(listener: RequestListener): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await works((path, init) => fetch(`http://127.0.0.1:${port}${path}`, init))
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

test('it works under a path of a Hono app, with the own auth of the program', async () => {
  const { honoApp } = await guide.load<{ honoApp(millrace: Millrace, auth: OwnAuth): FetchApp }>('hono.ts')
  const auth: OwnAuth = ({ headers }) => (headers.get('x-user') ? { name: 'bob', role: 'viewer' } : null)
  const app = honoApp(millrace, auth)
  await works(async (path, init) => app.fetch(new Request(`http://localhost${path}`, init)))
  const own = await app.fetch(new Request('http://localhost/ops/admin/api/me', { headers: { 'x-user': 'bob' } }))
  expect(await own.json()).toMatchObject({ name: 'bob', via: 'own' })
})

test('it works under a path of an Express app', async () => {
  const { expressApp } = await guide.load<{ expressApp(millrace: Millrace): RequestListener }>('express.ts')
  await overSocket(expressApp(millrace))
})

test('it works under a path of a Fastify app', async () => {
  interface Fastify {
    listen(options: { port: number; host: string }): Promise<string>
    close(): Promise<void>
  }
  const { fastifyApp } = await guide.load<{ fastifyApp(millrace: Millrace): Fastify }>('fastify.ts')
  const app = fastifyApp(millrace)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    await works((path, init) => fetch(`${url}${path}`, init))
  } finally {
    await app.close()
  }
})

test('it works as a route handler of Next.js', async () => {
  type Handlers = Record<'GET' | 'POST', (request: Request) => Promise<Response>> & { close(): Promise<void> }
  const { GET, close } = await guide.load<Handlers>('next.ts', { DATABASE_URL: t.url })
  const request = new Request('http://localhost/ops/admin/api/me', { headers: { authorization: `Bearer ${token}` } })
  expect(await (await GET(request)).json()).toMatchObject({ name: 'guide' })
  await close()
})

test('the typed client of the guide lists failed mails', async () => {
  const { failedMails } = await guide.load<{ failedMails(url: string, token: string): Promise<string[]> }>('look.ts')
  const { id } = await millrace.enqueue(welcome, { to: 'bob' })
  await millrace.fail(id, { by: 'test', reason: 'the line is dead' })
  const handler = admin(millrace)
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => handler(new Request(url, init)))
  try {
    expect(await failedMails('http://jobs.example.com', token)).toEqual([`${id}: the line is dead (failed by test)`])
    await expect(failedMails('http://jobs.example.com', 'wrong')).rejects.toMatchObject({
      status: 401,
      code: 'token_invalid',
    })
  } finally {
    vi.unstubAllGlobals()
  }
})

test('the operation of the guide is served and audited', async () => {
  const { routes } = await guide.load<{ routes: readonly Route[] }>('sources.ts')
  const response = await admin(millrace, { routes })(
    new Request('http://localhost/admin/api/sources/7', {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'News' }),
    }),
  )
  expect(await response.json()).toEqual({ id: '7', name: 'News' })
  expect(await millrace.audit.list({ action: 'source.rename' })).toMatchObject([{ target: '7', by: 'guide' }])
})
