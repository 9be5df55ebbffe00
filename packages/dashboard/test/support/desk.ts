// A small program for tests: five queues, and jobs that succeed, fail, die and wait.
import { randomUUID } from 'node:crypto'
import { createMillrace, defineJob, defineQueues, implement, type Logger, Unrecoverable } from 'millrace'
import { z } from 'zod'

const queues = defineQueues({
  high: { priority: 0, sla: '30s', concurrency: 5 },
  default: { priority: 5, sla: '5m', concurrency: 5 },
  screenshot: { priority: 5, concurrency: 2 },
  low: { priority: 8, concurrency: 2 },
  bulk: { priority: 9, concurrency: 2 },
})

const letter = z.object({ to: z.email(), subject: z.string() })
const address = z.object({ url: z.url() })

const mail = defineJob({
  type: 'MAIL',
  queue: queues.high,
  payload: letter,
  examples: [{ to: 'ann@example.com', subject: 'Hello' }],
})
const relay = defineJob({ type: 'MESSAGE_RELAY', queue: queues.high, payload: letter, retry: { attempts: 3 } })
const refresh = defineJob({ type: 'RSS_FEED_REFRESH', queue: queues.default, payload: address })
const capture = defineJob({ type: 'LISTING_SCREENSHOT', queue: queues.screenshot, payload: address })
const tidy = defineJob({ type: 'LINK_HEALTH_CHECK', queue: queues.low, payload: address })

export const jobs = [mail, relay, refresh, capture, tidy]

export const handlers = [
  implement(mail, async (_, { log }) => {
    log.info({ size: 2_113 }, 'sent')
    return { messageId: randomUUID() }
  }),
  implement(relay, async () => {
    throw new Error('connect ETIMEDOUT mx2.tallinn.example:587')
  }),
  implement(refresh, async ({ url }) => ({ items: url.length })),
  implement(capture, async ({ url }) => {
    throw new Unrecoverable(`403 Forbidden at ${url}`)
  }),
  implement(tidy, async () => ({ ok: true })),
]

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Jobs in all states, made by enqueueing and running them. */
export async function fill(databaseUrl: string): Promise<void> {
  const millrace = createMillrace({ database: databaseUrl, jobs, logger: silent })
  const tenants = ['org_tallinn', 'org_riga', 'org_vilnius']
  const expected = { completed: 0 }
  const tenant = (i: number) => ({ tenant: tenants[i % tenants.length] as string })
  await millrace.pauses.pause({ queue: 'low' }, { by: 'ann', reason: 'The link checker is being rewritten' })
  for (let i = 0; i < 30; i++) {
    await millrace.enqueue(mail, { to: `p${i}@example.com`, subject: `Letter ${i}` }, tenant(i))
    await millrace.enqueue(refresh, { url: `https://feed-${i}.example/rss` }, tenant(i))
    expected.completed += 2
  }
  for (let i = 0; i < 8; i++) {
    await millrace.enqueue(capture, { url: `https://listing-${i}.example/` }, tenant(i))
    await millrace.enqueue(tidy, { url: `https://link-${i}.example/` }, tenant(i))
    await millrace.enqueue(relay, { to: `q${i}@example.com`, subject: 'Relayed' }, tenant(i))
  }
  const worker = await millrace.work({ handlers, gracePeriod: '5s' })
  const died = async () => (await millrace.jobs({ status: 'dead' })).length
  const done = async () => (await millrace.jobs({ status: 'completed', limit: 100 })).length
  while ((await died()) < 8 || (await done()) < expected.completed) await new Promise((go) => setTimeout(go, 100))
  await worker.stop()
  await millrace.close()
}
