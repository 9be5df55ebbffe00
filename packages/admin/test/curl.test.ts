// Requests as other systems' documents write them, sent by the real curl.
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { nodeListener } from '@millrace/admin'
import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent } from '../../engine/test/support/setup.ts'
import { type AdminSetup, setup } from './support/setup.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0
if (!hasCurl) console.warn('SKIPPED: curl is not installed, so its requests are not tested.')

const queues = defineQueues({ DEFAULT: { priority: 50, concurrency: 5 } })
const refresh = defineJob({
  type: 'RSS_FEED_REFRESH',
  queue: queues.DEFAULT,
  payload: z.strictObject({ source_id: z.uuid(), force_refresh: z.boolean() }),
})
const tagging = defineJob({ type: 'AI_TAGGING', queue: queues.DEFAULT, payload: z.object({ trigger: z.string() }) })
const doomed = defineJob({ type: 'DOOMED', queue: queues.DEFAULT, payload: z.object({}) })

describe.skipIf(!hasCurl)('curl', () => {
  let t: AdminSetup
  let host: string
  let letters: string[]
  let stop: () => void

  beforeAll(async () => {
    // As under `dev` without tokens: these requests carry none.
    t = await setup([refresh, tagging, doomed], { admin: { isDevelopment: true } })
    const server = createServer(nodeListener(t.handler)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    host = `http://localhost:${(server.address() as AddressInfo).port}`
    stop = () => {
      server.closeAllConnections()
      server.close()
    }
    const fail = implement(doomed, () => {
      throw new Unrecoverable('no such feed')
    })
    const worker = await t.millrace.work({ handlers: [fail] })
    letters = []
    for (let i = 0; i < 2; i++) {
      const { id } = await t.millrace.enqueue(doomed, {})
      await jobEvent(t.millrace, 'job_died', id)
      letters.push((await t.millrace.deadLetters.ofJob(id))?.id ?? '')
    }
    await worker.stop()
  })
  afterAll(async () => {
    stop()
    await t[Symbol.asyncDispose]()
  })

  /** A command line as it is written, but for the host. Answers with status and body. */
  async function sh(command: string) {
    const line = command
      .replaceAll('http://localhost:8080', host)
      .replace(/^curl/, String.raw`curl -sS -w '\n%{http_code}'`)
    const { stdout } = await promisify(execFile)('sh', ['-c', line])
    const [, text = '', status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? []
    return { status: Number(status), body: JSON.parse(text) }
  }
  const post = (path: string, body: string) =>
    sh(`curl -X POST http://localhost:8080/api/actions/${path} -H "Content-Type: application/json" -d '${body}'`)

  test('enqueues a job', async () => {
    const uuid = '5f3c1b9e-7a44-4c8e-9f01-1c2d3e4f5a6b'
    const answer = await sh(`curl -X POST http://localhost:8080/admin/api/jobs/enqueue \\
  -H "Content-Type: application/json" \\
  -d '{
    "job_type": "RSS_FEED_REFRESH",
    "payload": {
      "source_id": "${uuid}",
      "force_refresh": true
    }
  }'`)
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      ...{ status: 'queued', id: expect.any(String), job_type: 'RSS_FEED_REFRESH', queue: 'DEFAULT', warnings: [] },
    })
    const tag = await sh(`curl -X POST http://localhost:8080/admin/api/jobs/enqueue \\
  -H "Authorization: Bearer $NO_SUCH_VARIABLE" \\
  -H "Content-Type: application/json" \\
  -d '{"job_type": "AI_TAGGING", "payload": {"trigger": "manual"}}'`)
    expect(tag.status).toBe(201)
    const bad = await sh(`curl -X POST http://localhost:8080/admin/api/jobs/enqueue \\
  -H "Content-Type: application/json" -d '{"job_type": "RSS_FEED_REFRESH", "payload": {"source_id": "x", "force_refresh": true}}'`)
    expect(bad).toMatchObject({ status: 400, body: { code: 'invalid_payload' } })
  })

  test('gets a metrics report', async () => {
    const { status, body } = await post('create-jobs-metrics-report', '{"from-hours-ago": 24, "to-hours-ago": 0}')
    expect(status).toBe(200)
    expect(body['current-stats']).toMatchObject({ pending: { count: expect.any(Number) }, dead: { count: 2 } })
    expect(['ok', 'degraded', 'failing']).toContain(body.health)
    expect(Object.keys(body)).toEqual(
      expect.arrayContaining(['performance-metrics', 'hourly-throughput', 'generated-at']),
    )
    for (const span of [
      '{"from-hours-ago":0,"to-hours-ago":24}',
      '{"from-hours-ago":169}',
      '{"from-hours-ago":5,"to-hours-ago":5}',
    ])
      expect((await post('create-jobs-metrics-report', span)).status, span).toBe(400)
  })

  test('gets the health status', async () => {
    const { status, body } = await post('get-jobs-health-status', '{}')
    expect(status).toBe(200)
    expect(body).toMatchObject({ 'dead-count': 2, reasons: expect.any(Array), breakers: [] })
  })

  test('lists, acknowledges and reprocesses dead letters', async () => {
    const list = () => sh('curl "http://localhost:8080/api/actions/get-dead-letter-jobs?acknowledged=false"')
    const { body } = await list()
    expect(body.map(({ id }: { id: string }) => id)).toEqual([...letters].reverse())
    expect(body[0]).toMatchObject({
      'original-job': { type: 'DOOMED' },
      'error-message': 'no such feed',
      acknowledged: false,
    })
    const [first, second] = letters
    const seen = await post('acknowledge-dead-letter-jobs', `{"dead-letter-ids": [${first}, "999999"]}`)
    expect(seen.body).toMatchObject([
      { id: first, status: 'acknowledged' },
      { id: '999999', status: 'not_found' },
    ])
    expect((await list()).body).toMatchObject([{ id: second }])
    const body2 = `{"dead-letter-ids": [${first}, ${second}], "max-attempts": 3}`
    const both = await Promise.all([1, 2].map(() => post('reprocess-dead-letter-jobs', body2)))
    const statuses = both.flatMap((answer) => answer.body.map((each: { status: string }) => each.status)).sort()
    expect(statuses).toEqual(['already_redriven', 'already_redriven', 'redriven', 'redriven'])
    for (const wrong of ['{"dead-letter-ids": ["abc"]}', `{"dead-letter-ids": [${first}], "max-attempts": 0}`])
      expect(await post('reprocess-dead-letter-jobs', wrong)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      })
  })
})
