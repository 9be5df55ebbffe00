// One job type for each dedupe mode, and the races for their keys.
import { defineJob, defineQueues, type Millrace } from 'millrace'
import pg from 'pg'
import { z } from 'zod'
import { type Hands, hands } from './hands.ts'

const { default: queue } = defineQueues({ default: {} })
const payload = z.object({ key: z.string(), n: z.number().default(0) })
const key = ({ key }: { key: string }) => key
export const live = defineJob({ type: 'live', queue, payload, dedupe: { key } })
export const windowed = defineJob({ type: 'windowed', queue, payload, dedupe: { key, mode: 'window', window: '1h' } })
export const waiting = defineJob({ type: 'waiting', queue, payload, dedupe: { key, mode: 'waiting' } })
export const debounced = defineJob({
  type: 'debounced',
  queue,
  payload,
  dedupe: { key, mode: 'debounce', wait: '5s', maxWait: '12s' },
})
export const latest = defineJob({ type: 'latest', queue, payload, dedupe: { key, mode: 'latest' } })
const contracts = [live, windowed, waiting, debounced, latest]
export const setup = () => hands(contracts)

export const statuses = (results: readonly { status: string }[]) => results.map(({ status }) => status)
export const ids = (results: readonly { id: string }[]) => new Set(results.map(({ id }) => id))

export async function inTransaction<Value>(
  url: string,
  end: string,
  work: (tx: pg.Client) => Promise<Value>,
): Promise<Value> {
  const tx = new pg.Client(url)
  await tx.connect()
  await tx.query('begin')
  const value = await work(tx)
  await tx.query(end)
  await tx.end()
  return value
}

/** Fifty enqueues at once on several connections, with jobs and rollbacks of the same key among them. */
export async function race(t: Hands, contract: typeof live) {
  const others: Millrace[] = [
    t.millrace,
    t.client(contracts, { clock: t.clock }),
    t.client(contracts, { clock: t.clock }),
  ]
  const enqueues = Array.from({ length: 50 }, (_, n) => {
    const millrace = others[n % others.length] as Millrace
    if (n % 10 === 7) {
      return inTransaction(t.url, 'rollback', (tx) => millrace.enqueue(contract, { key: 'a', n }, { tx })).then(
        () => [],
      )
    }
    if (n % 10 === 3)
      return millrace.enqueueMany(contract, [
        { key: 'a', n },
        { key: 'a', n: n + 100 },
      ])
    return millrace.enqueue(contract, { key: 'a', n }).then((result) => [result])
  })
  return (await Promise.all(enqueues)).flat()
}
