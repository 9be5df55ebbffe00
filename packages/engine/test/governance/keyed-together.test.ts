// Keys of work together with tenants, limits on tenants, encryption and erasure.
import { defineJob, defineQueues, implement, TenantLimitReached } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { everyText } from '../support/every-text.ts'
import { ringOf } from '../support/keys.ts'
import { eventually, jobEvent, type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({ ledger: { concurrency: 20 }, small: { tenantJobs: { max: 3, over: 'reject' } } })
const payload = z.object({ account: z.string(), n: z.int() })
const key = ({ account }: { account: string }) => account
const entry = defineJob({ type: 'entry', queue: queues.ledger, payload, order: { key } })
const hosted = defineJob({ type: 'hosted', queue: queues.ledger, payload, keyLimit: { key, concurrency: 2 } })
const ordered = defineJob({ type: 'ordered', queue: queues.small, payload, order: { key } })
const limited = defineJob({ type: 'limited', queue: queues.small, payload, keyLimit: { key, concurrency: 1 } })
const secret = defineJob({
  type: 'secret',
  queue: queues.ledger,
  payload,
  retry: { attempts: 1 },
  sensitive: ['account'],
  order: { key, onDead: 'stop' },
})

const of = (account: string, count: number) => Array.from({ length: count }, (_, n) => ({ account, n }))
const allDone = (t: Setup) => eventually(async () => (await t.sql('select from millrace.job')).length === 0, 30_000)

test('jobs of tenants keep to their keys, each tenant to its own', async () => {
  await using t = await setup()
  const running = new Map<string, number>()
  const ran: string[] = []
  let most = 0
  const handle = async (n: number, name: string) => {
    running.set(name, (running.get(name) ?? 0) + 1)
    most = Math.max(most, running.get(name) ?? 0)
    await new Promise((resolve) => setImmediate(resolve))
    running.set(name, (running.get(name) ?? 0) - 1)
    ran.push(`${name} ${n}`)
  }
  const handlers = [implement(entry, ({ n }, ctx) => handle(n, `${ctx.tenant}`)), implement(hosted, async () => {})]
  const { millrace } = await t.working(handlers)
  await t.working(handlers)
  for (const tenant of ['x', 'y']) {
    await millrace.enqueueMany(entry, of('a', 10), { tenant })
    await millrace.enqueueMany(hosted, of('a', 10), { tenant })
  }
  await allDone(t)
  expect(most).toBe(1)
  for (const tenant of ['x', 'y'])
    expect(ran.filter((line) => line.startsWith(tenant))).toEqual(of('a', 10).map(({ n }) => `${tenant} ${n}`))
})

test.each([
  ['order', ordered],
  ['limit', limited],
])('jobs that are blocked by an %s key count as jobs of their tenant', async (_, contract) => {
  await using t = await setup()
  const millrace = t.client([contract])
  await millrace.enqueueMany(contract, of('a', 3), { tenant: 'x' })
  await expect(millrace.enqueue(contract, { account: 'b', n: 0 }, { tenant: 'x' })).rejects.toThrow(TenantLimitReached)
  expect((await millrace.enqueue(contract, { account: 'b', n: 0 }, { tenant: 'y' })).status).toBe('queued')
})

const deduped = (mode: 'live' | 'waiting' | 'window') =>
  defineJob({
    type: `deduped-${mode}`,
    queue: queues.ledger,
    payload,
    order: { key: () => 'k' },
    dedupe: { key, ...(mode === 'window' ? { mode, window: '1h' as const } : { mode }) },
  })

test.each(['live', 'waiting', 'window'] as const)(
  'ordered jobs are deduplicated in mode %s, and run as they were given',
  async (mode) => {
    await using t = await setup()
    const contract = deduped(mode)
    const millrace = t.client([contract])
    const accounts = ['z', 'y', 'z', 'x']
    const results = await millrace.enqueueMany(
      contract,
      accounts.map((account, n) => ({ account, n })),
      { tenant: 'acme' },
    )
    expect(results.map(({ status }) => status)).toEqual(['queued', 'queued', 'duplicate', 'queued'])
    const ran: string[] = []
    await millrace.work({ handlers: [implement(contract, ({ account }) => void ran.push(account))] })
    await allDone(t)
    expect(ran).toEqual(['z', 'y', 'x'])
  },
)

test.each(['debounce', 'latest'])('a job that is replaced while it waits (%s) has no key of work', (mode) => {
  const dedupe = { key, mode, ...(mode === 'debounce' ? { wait: '1s' } : {}) } as never
  const define = () => defineJob({ type: 'odd', queue: queues.ledger, payload, order: { key }, dedupe })
  expect(define).toThrow(`has dedupe mode '${mode}' and order`)
})

test('the keys of sensitive types are HMACs, keep the order, and go on when the job that stopped them is erased', async () => {
  await using t = await setup()
  const millrace = t.client([secret], { encryption: ringOf('a') })
  const [first, second] = await millrace.enqueueMany(secret, of('canary', 2))
  const died = jobEvent(millrace, 'job_died', first?.id ?? '')
  const worker = await millrace.work({
    handlers: [
      implement(secret, ({ n }) => {
        if (n === 0) throw new Error('no')
      }),
    ],
  })
  await died
  expect(await millrace.keys.stopped()).toMatchObject([{ key: expect.stringMatching(/^hmac:/), jobId: first?.id }])
  expect(await everyText(t)).not.toContain('canary')
  const { reasons } = await millrace.explain(second?.id ?? '')
  expect(reasons).toContainEqual(expect.objectContaining({ mechanism: 'order' }))
  const completed = jobEvent(millrace, 'job_completed', second?.id ?? '')
  await millrace.erase({ ids: [first?.id ?? ''], by: 'ann', reason: 'asked to' })
  await completed
  expect(await millrace.keys.stopped()).toEqual([])
  await worker.stop()
})
