import { defineJob, defineQueues, discard, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ ledger: {}, crawl: {} })
const payload = z.object({ key: z.string(), n: z.int() })
const key = ({ key: of }: { key: string }) => of
const entry = defineJob({ type: 'entry', queue: queues.ledger, payload, order: { key, onDead: 'stop' } })
const page = defineJob({ type: 'page', queue: queues.crawl, payload, keyLimit: { key, concurrency: 2 } })

const setup = () => base({ jobs: [entry, page] })

test('keys shows what is stopped, and lets it go on', async () => {
  await using t = await setup()
  expect((await t.run('keys')).out).toBe('No key is stopped and no limit is set.\n')
  await t.millrace.work({ handlers: [implement(entry, ({ n }) => (n === 0 ? discard('no') : n))] })
  const died = t.millrace.events.next('job_died')
  const jobs = await t.millrace.enqueueMany(
    entry,
    [0, 1].map((n) => ({ key: 'a b', n })),
    { tenant: 'acme' },
  )
  await died
  const { out } = await t.run('keys')
  expect(out).toMatch(/^QUEUE +STOPPED KEY +TENANT +WAITING +WHEN +DEAD JOB$/m)
  expect(out).toMatch(new RegExp(`^ledger +a b +acme +1 +\\w.* +${jobs[0]?.id}$`, 'm'))
  expect((await t.run('jobs', '--status', 'blocked')).out).toMatch(new RegExp(`^${jobs[1]?.id} +blocked`, 'm'))
  expect((await t.run('queues')).out).toMatch(/^ledger +0 +0 +0 +1$/m)
  expect(await t.run('keys', 'continue', 'ledger', 'a b')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/is not stopped; if its jobs have a tenant, pass --tenant/),
  })
  const ended = t.millrace.events.next('job_completed')
  const continued = await t.run('keys', 'continue', 'ledger', 'a b', '--tenant', 'acme', '--by', 'rosa', '--json')
  expect(JSON.parse(continued.out)).toEqual({ queue: 'ledger', key: 'a b', tenant: 'acme', continued: true })
  expect((await ended).job.id).toBe(jobs[1]?.id)
})

test('keys limit changes how many run at once, and takes it back', async () => {
  await using t = await setup()
  expect((await t.run('keys', 'limit', 'crawl', '5')).out).toBe('Of every key of queue crawl run 5 at once.\n')
  const one = await t.run('keys', 'limit', 'crawl', '0', '--key', 'example.com', '--by', 'ops')
  expect(one.out).toBe('Of key example.com of queue crawl run 0 at once.\n')
  const { out } = await t.run('keys')
  expect(out).toMatch(/^crawl +\(every key\) +5 /m)
  expect(out).toMatch(/^crawl +example\.com +0 +ops /m)
  await t.run('keys', 'limit', 'crawl', 'default')
  expect(JSON.parse((await t.run('keys', '--json')).out)).toMatchObject({
    stopped: [],
    limits: [{ queue: 'crawl', key: 'example.com', concurrency: 0 }],
  })
  expect(await t.run('keys', 'limit', 'crawl', 'many')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/Expected a number from 0 to 10000, or "default"/),
  })
})
