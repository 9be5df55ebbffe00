import { randomBytes } from 'node:crypto'
import { createMillrace, defineJob, defineQueues, fixed, implement, type Logger } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { traced } from '../support/traced.ts'

const CANARY = 'canary-7f3a9c41d2'
const { mail: queue } = defineQueues({ mail: {} })
const payload = z.object({ url: z.string(), password: z.string(), card: z.string() })
const retry = { attempts: 1, backoff: fixed('1ms') }
const attributes = ['url']
const open = defineJob({ type: 'open', queue, payload, retry, attributes, allowSecrets: ['password'] })
const sealed = defineJob({ type: 'sealed', queue, payload, retry, attributes, sensitive: ['password', 'card'] })

test('a secret in a payload, an error text or the query of a URL appears in no span and no log line', async () => {
  await using t = await traced()
  const lines: string[] = []
  const write = (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message }))
  const logger: Logger = { debug: write, info: write, warn: write, error: write }
  const encryption = { keys: [{ id: 'k1', key: randomBytes(32) }] }
  const millrace = createMillrace({ database: t.url, jobs: [open, sealed], logger, encryption })
  const fails = ({ password, url }: z.infer<typeof payload>, ctx: { log: Logger }) => {
    ctx.log.warn({ password, url, header: `Bearer ${CANARY}.${'x'.repeat(20)}` }, `could not log in with ${password}`)
    throw new Error(`GET ${url} failed for password ${password}`)
  }
  await millrace.work({ handlers: [implement(open, fails), implement(sealed, fails)] })
  const given = { url: `https://api.example/v1?access_token=${CANARY}&page=2`, password: `${CANARY}!`, card: CANARY }
  for (const contract of [open, sealed]) {
    const { id } = await millrace.enqueue(contract, given)
    await millrace.events.next('job_died', ({ job }) => job.id === id).catch(() => {})
  }
  await expect(
    millrace.enqueue(open, { ...given, card: `sk_live_${CANARY.replaceAll('-', '')}aaaa` }),
  ).rejects.toThrow()
  const runs = await t.received('process mail', 2)
  await t.telemetry.flush()
  await millrace.close()
  expect(runs.map((run) => run.attributes['job.payload.url'])).toEqual([
    expect.stringContaining('page=2'),
    expect.stringContaining('page=2'),
  ])
  expect(runs.map(({ status }) => status.message)).toContainEqual(expect.stringContaining('withheld'))
  expect(lines.length).toBeGreaterThan(1)
  expect(t.receiver.bodies.join('\n')).not.toContain(CANARY)
  expect(lines.join('\n')).not.toContain(CANARY)
})
