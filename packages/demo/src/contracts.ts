// The job types of Fernwick Parcels.
import { defineJob, exponential, fixed } from 'millrace'
import { z } from 'zod'
import {
  browsers,
  carrierService,
  newsletterRate,
  paymentService,
  printer,
  queues,
  screening,
  textRate,
  textService,
  translation,
} from './queues.ts'

const order = z.object({ orderId: z.string(), amountCents: z.int().positive(), note: z.string().optional() })
const examples = [{ orderId: 'FW-20431', amountCents: 4_950 }]
const quick = { attempts: 5, backoff: exponential({ base: '5s', jitter: 0.25 }) }
const slow = { attempts: 4, backoff: exponential({ base: '1m', jitter: 0.25 }) }

export const confirmOrder = defineJob({
  type: 'order.confirm',
  queue: queues.high,
  payload: order,
  retry: quick,
  examples,
})
export const capturePayment = defineJob({
  type: 'payment.capture',
  queue: queues.high,
  payload: order,
  retry: quick,
  services: [paymentService],
  dedupe: { key: ({ orderId }) => orderId },
  examples,
})
export const screenOrder = defineJob({
  type: 'order.screen',
  queue: queues.high,
  payload: order,
  retry: quick,
  budget: screening,
  examples,
})
export const bookVan = defineJob({
  type: 'van.book',
  queue: queues.default,
  payload: z.object({ parcelId: z.string(), postcode: z.string(), kilograms: z.number() }),
  retry: { attempts: 4, backoff: exponential({ base: '2m', jitter: 0.25 }) },
  services: [carrierService],
  attributes: ['parcelId'],
  examples: [{ parcelId: 'P-100231', postcode: 'FW4 2RN', kilograms: 1.4 }],
})
export const sendReceipt = defineJob({
  type: 'receipt.send',
  queue: queues.default,
  payload: z.object({ orderId: z.string(), to: z.string(), subject: z.string().optional() }),
  retry: quick,
  examples: [{ orderId: 'FW-20431', to: 'customer-77@example.com' }],
})
export const sendText = defineJob({
  type: 'text.send',
  queue: queues.default,
  payload: z.object({ parcelId: z.string(), text: z.string() }),
  retry: quick,
  services: [textService],
  limits: [textRate],
  examples: [{ parcelId: 'P-100231', text: 'Your parcel comes tomorrow.' }],
})
export const deliverWebhook = defineJob({
  type: 'webhook.deliver',
  queue: queues.default,
  payload: z.object({ event: z.string(), url: z.string(), parcelId: z.string() }),
  retry: { attempts: 6, backoff: exponential({ base: '30s', jitter: 0.25 }) },
  order: { key: ({ parcelId }) => parcelId, onDead: 'continue' },
  attributes: ['event'],
  examples: [{ event: 'parcel.delivered', url: 'https://shop.example/hooks', parcelId: 'P-100231' }],
})
export const printLabel = defineJob({
  type: 'label.print',
  queue: queues.default,
  payload: z.object({ parcelId: z.string(), format: z.enum(['a6', 'roll']) }),
  retry: { attempts: 3, backoff: fixed('10s') },
  limits: [printer],
  examples: [{ parcelId: 'P-100231', format: 'a6' }],
})
export const capturePage = defineJob({
  type: 'page.capture',
  queue: queues.screenshot,
  payload: z.object({ url: z.string(), width: z.int().default(1_280) }),
  result: z.object({ file: z.string(), bytes: z.int() }),
  retry: slow,
  limits: [browsers],
  examples: [{ url: 'https://shop.example/products/41', width: 1_280 }],
})
export const removePage = defineJob({
  type: 'page.remove',
  queue: queues.screenshot,
  payload: z.object({ file: z.string() }),
  retry: { attempts: 6, backoff: fixed('20m') },
  examples: [{ file: 'pages/41.png' }],
})
export const renderInvoice = defineJob({
  type: 'invoice.render',
  queue: queues.low,
  payload: z.object({ invoiceId: z.string(), lines: z.int() }),
  retry: slow,
  examples: [{ invoiceId: 'INV-8812', lines: 14 }],
})
export const reportSales = defineJob({
  type: 'report.sales',
  queue: queues.low,
  payload: z.object({ day: z.string(), shop: z.string().optional() }),
  retry: slow,
  examples: [{ day: '2026-11-17' }],
})
export const translateText = defineJob({
  type: 'text.translate',
  queue: queues.low,
  payload: z.object({ productId: z.string(), language: z.string(), text: z.string() }),
  retry: slow,
  budget: translation,
  examples: [{ productId: '41', language: 'sv', text: 'A kettle of copper' }],
})
export const importProduct = defineJob({
  type: 'product.import',
  queue: queues.bulk,
  payload: z.object({ sku: z.string(), row: z.int(), title: z.string().optional() }),
  retry: slow,
  retention: 'short',
  examples: [{ sku: 'CK-4410', row: 17 }],
})
export const sendNewsletter = defineJob({
  type: 'newsletter.send',
  queue: queues.bulk,
  payload: z.object({ campaign: z.string(), to: z.string() }),
  retry: slow,
  limits: [newsletterRate],
  examples: [{ campaign: 'autumn', to: 'customer-77@example.com' }],
})
export const indexCatalogue = defineJob({
  type: 'catalogue.index',
  queue: queues.bulk,
  payload: z.object({ shop: z.string(), products: z.int() }),
  result: z.object({ indexed: z.int() }),
  retry: slow,
  history: 'full',
  examples: [{ shop: 'copper-kettle', products: 500 }],
})
