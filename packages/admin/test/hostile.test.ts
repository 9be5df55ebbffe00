// Texts that anybody may have written come back as data: JSON that is whole, and that no browser takes for a page.
import { operations } from '@millrace/admin/contract'
import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent } from '../../engine/test/support/setup.ts'
import { leastRequest, type Things } from './support/least-request.ts'
import { type AdminSetup, requestOf, setup } from './support/setup.ts'

/** Ends a script and an attribute, commands a terminal, forges an event of a stream, and turns text around. */
const HOSTILE = '</script><img src=x onerror=alert(1)>"\'\u001b[2J\n\nevent: end\ndata: {}\n\n\u2028\u202e'

const queues = defineQueues({ mail: {} })
const doomed = defineJob({ type: 'DOOMED', queue: queues.mail, payload: z.record(z.string(), z.string()) })

let t: AdminSetup
let token: string
let things: Things

beforeAll(async () => {
  t = await setup([doomed])
  token = await t.token('admin')
  const { millrace } = t
  const worker = await millrace.work({
    handlers: [
      implement(doomed, (_, { log }) => {
        log.warn({ text: HOSTILE }, HOSTILE)
        throw new Unrecoverable(HOSTILE)
      }),
    ],
  })
  const options = { tenant: HOSTILE, createdBy: HOSTILE, correlationId: HOSTILE }
  const { id: job } = await millrace.enqueue(doomed, { [HOSTILE]: HOSTILE }, options)
  await jobEvent(millrace, 'job_died', job)
  await worker.stop()
  await millrace.pauses.pause({ tenant: HOSTILE }, { reason: HOSTILE, by: HOSTILE })
  // No program declares such a type, but SQL can write it.
  await t.sql('update millrace.job_archive set type = $1 where id = $2', [HOSTILE, job])
  things = {
    ...{ job, tenant: HOSTILE, workflow: '1', schedule: HOSTILE, type: HOSTILE, correlation: HOSTILE },
    letter: (await millrace.deadLetters.ofJob(job))?.id ?? '',
    bulk: (await millrace.bulk.start({ action: 'fail', ids: [job], reason: HOSTILE }, { by: HOSTILE })).id,
  }
})
afterAll(() => t[Symbol.asyncDispose]())

test('every answer is JSON or a problem, and says that it is nothing else', async () => {
  const withText: string[] = []
  for (const each of operations()) {
    if (each.endpoint.method !== 'GET' || each.endpoint.media !== undefined) continue
    const response = await t.handler(requestOf(leastRequest(each, things).line, { token }))
    const text = await response.text()
    expect(response.status, `${each.name}: ${text}`).toBeLessThan(500)
    expect(response.headers.get('content-type'), each.name).toMatch(
      response.ok ? /^application\/json; charset=utf-8$/ : /^application\/problem\+json; charset=utf-8$/,
    )
    expect(response.headers.get('x-content-type-options'), each.name).toBe('nosniff')
    // Control characters stand in JSON only as escapes.
    expect(text.trimEnd(), each.name).not.toMatch(response.ok ? /[\p{Cc}]/u : /(?!\n)[\p{Cc}]/u)
    if (JSON.stringify(JSON.parse(text)).includes(JSON.stringify(HOSTILE).slice(1, -1))) withText.push(each.name)
  }
  expect(withText).toEqual(
    expect.arrayContaining(['jobs.list', 'jobs.get', 'jobs.correlation', 'deadLetters.get', 'bulk.get', 'audit.list']),
  )
})

test('texts come back as they were written', async () => {
  const { body } = await t.call(`GET /admin/api/jobs/${things.job}`, { token })
  expect(body).toMatchObject({ type: HOSTILE, tenant: HOSTILE, createdBy: HOSTILE, lastError: HOSTILE })
  expect(body.payload[HOSTILE]).toBe(HOSTILE)
  const letter = await t.call(`GET /admin/api/dead-letters/${things.letter}`, { token })
  expect(letter.body).toMatchObject({ tenant: HOSTILE, errorMessage: HOSTILE })
})

test.each([
  ['an unknown type', 'POST /admin/api/jobs/enqueue', { job_type: HOSTILE, payload: {} }],
  ['an unknown field', 'POST /admin/api/jobs/enqueue', { job_type: 'DOOMED', [HOSTILE]: 1 }],
  ['an unknown path', `GET /admin/api/${encodeURIComponent(HOSTILE)}`, undefined],
  ['a query that cannot be read', `GET /admin/api/jobs?q=${encodeURIComponent(HOSTILE)}`, undefined],
  ['an unknown parameter', `GET /admin/api/jobs?${encodeURIComponent(HOSTILE)}=1`, undefined],
  ['an unknown topic', `GET /admin/api/stream?topics=${encodeURIComponent(HOSTILE)}`, undefined],
])('%s is a problem that only quotes it', async (_, line, body) => {
  const response = await t.handler(requestOf(line, { token, body }))
  const text = await response.text()
  expect([400, 404]).toContain(response.status)
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(text).not.toMatch(/(?!\n)[\p{Cc}]/u)
  expect(JSON.parse(text)).toMatchObject({ status: response.status, detail: expect.any(String) })
})

test('a text cannot forge an event of a stream', async () => {
  const response = await t.handler(requestOf(`GET /admin/api/stream?topics=job:${things.job}`, { token }))
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  // Only line feeds end a line of a stream: `.` and `$` would stop at other characters as well.
  while (!/\ndata: [^\n]*\n\n/.test(text)) {
    const { done, value } = await reader.read()
    expect(done).toBe(false)
    text += new TextDecoder().decode(value)
  }
  await reader.cancel()
  const lines = text.split('\n')
  expect(lines.filter((line) => line.startsWith('event: '))).toEqual([`event: job:${things.job}`])
  const data = lines.find((line) => line.startsWith('data: '))?.slice(6) ?? ''
  expect(JSON.parse(data).value).toMatchObject({ id: things.job, lastError: HOSTILE })
})
