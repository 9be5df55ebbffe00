// What the order desk's jobs are called and carry, and the rules they are under. No handler code: a web process would import only this.
import { defineBudget, defineJob, defineLimit, defineQueues, defineService, exponential, fixed } from 'millrace'
import { z } from 'zod'

const queues = defineQueues({
  checkout: { priority: 1, concurrency: 10, timeout: '30s' },
  notifications: { priority: 5, concurrency: 5, timeout: '10s' },
  labels: { priority: 3, concurrency: 4, timeout: '10s', tenant: 'required' },
})

/** The shop's mail service: after three failures in a row no worker calls it for five seconds. */
export const receiptService = defineService('receipt-service', { failures: 3, openFor: '5s' })

/** Each shop has one label printer. The busy shop waits for its own, and the quiet shop never waits for another's. */
const printer = defineLimit('printer', { running: 1, per: 'tenant' })

/** The screening service charges a cent for each order. */
const screening = defineBudget('fraud-screening', { limit: 5_000, per: 'day', unit: 'cents' })

const order = z.object({ orderId: z.string(), amountCents: z.int().positive() })
const examples = [{ orderId: '1', amountCents: 1_999 }]

/** Enters the order into the ledger, exactly once, and asks for its label, its receipt and, if it is large, its screening. */
export const confirmOrder = defineJob({
  type: 'order.confirm',
  queue: queues.checkout,
  payload: order,
  retry: { attempts: 5, backoff: exponential({ base: '1s' }) },
  examples,
})

/** Has a large order looked at for fraud, within a budget. */
export const screenOrder = defineJob({
  type: 'order.screen',
  queue: queues.checkout,
  payload: order,
  result: z.object({ isSuspicious: z.boolean() }),
  retry: { attempts: 5, backoff: exponential({ base: '1s' }) },
  budget: screening,
  examples,
})

/** Prints the label of the parcel on the printer of the shop. */
export const printLabel = defineJob({
  type: 'label.print',
  queue: queues.labels,
  payload: z.object({ orderId: z.string() }),
  retry: { attempts: 3, backoff: fixed('1s') },
  limits: [printer],
  examples: [{ orderId: '1' }],
})

/** Sends the receipt over HTTP. While one for the order waits or runs, asking again changes nothing. */
export const sendReceipt = defineJob({
  type: 'receipt.send',
  queue: queues.notifications,
  payload: order,
  retry: { attempts: 8, backoff: fixed('500ms') },
  dedupe: { key: ({ orderId }) => orderId },
  services: [receiptService],
  examples,
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
