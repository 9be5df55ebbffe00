// What the order desk's jobs are called and carry. No handler code: a web process would import only this.
import { defineJob, defineQueues, exponential, fixed } from 'millrace'
import { z } from 'zod'

const queues = defineQueues({
  checkout: { priority: 1, concurrency: 10, timeout: '30s' },
  notifications: { priority: 5, concurrency: 5, timeout: '10s' },
})

const order = z.object({ orderId: z.string(), amountCents: z.int().positive() })

/** Enters the order into the ledger, exactly once, and asks for its receipt. */
export const confirmOrder = defineJob({
  type: 'order.confirm',
  queue: queues.checkout,
  payload: order,
  retry: { attempts: 5, backoff: exponential({ base: '1s' }) },
  examples: [{ orderId: '1', amountCents: 1_999 }],
})

/** Sends the receipt over HTTP. While one for the order waits or runs, asking again changes nothing. */
export const sendReceipt = defineJob({
  type: 'receipt.send',
  queue: queues.notifications,
  payload: order,
  retry: { attempts: 8, backoff: fixed('500ms') },
  dedupe: { key: ({ orderId }) => orderId },
  examples: [{ orderId: '1', amountCents: 1_999 }],
})

/** Sums up one day of the ledger. */
export const reportDay = defineJob({
  type: 'report.daily',
  queue: queues.notifications,
  payload: z.object({ day: z.iso.date() }),
  result: z.object({ day: z.iso.date(), orders: z.int(), totalCents: z.int() }),
  dedupe: { key: ({ day }) => day },
  examples: [{ day: '2026-01-31' }],
})
