// How jobs of the demo fail: what handlers throw now, and what they threw during the past week.

import { HOSTILE_TEXTS, LONG_TEXT } from './hostile.ts'
import { type Dice, pick } from './random.ts'

export interface Flaw {
  readonly type: string
  /** The error's name. */
  readonly name: string
  readonly message: (roll: Dice) => string
  /** Innermost first: `function (file:line:column)`. */
  readonly frames: readonly string[]
  /** How many of its type's runs end so, while it lasts. */
  readonly share: number
  /** In hours before now. Default: the whole week. */
  readonly from?: number
  readonly to?: number
  /** No other attempt would help: the job dies at once. */
  readonly isFinal?: boolean
  /** It stays with the job: all of its attempts fail alike. */
  readonly isLasting?: boolean
}

const n = (roll: Dice, most: number) => Math.floor(roll() * most) + 1

/** The deployment of version 2.8.0 brought a bug that 2.8.1 mended. */
export const DEPLOYED_HOURS_AGO = 30
export const MENDED_HOURS_AGO = 18
/** Since then the carrier answers 503. */
export const CARRIER_DOWN_HOURS_AGO = 16

export const FLAWS: readonly Flaw[] = [
  {
    type: 'van.book',
    name: 'CarrierUnavailable',
    message: (roll) => `Kestrel answered 503 to booking ${n(roll, 90_000)}: upstream connect error`,
    frames: [
      'callKestrel (/srv/fernwick/dist/carriers/kestrel.js:41:11)',
      'bookVan (/srv/fernwick/dist/handlers.js:88:5)',
    ],
    share: 0.82,
    from: CARRIER_DOWN_HOURS_AGO,
    isLasting: true,
  },
  {
    type: 'van.book',
    name: 'UnknownPostcode',
    message: (roll) => `Kestrel does not deliver to "FW${n(roll, 90)} ${n(roll, 9)}XX"`,
    frames: ['checkArea (/srv/fernwick/dist/carriers/areas.js:19:9)', 'bookVan (/srv/fernwick/dist/handlers.js:80:5)'],
    share: 0.006,
    isFinal: true,
  },
  {
    type: 'invoice.render',
    name: 'TypeError',
    message: () => "Cannot read properties of undefined (reading 'currency')",
    frames: [
      'totalOf (/srv/fernwick/dist/invoices/total.js:12:31)',
      'renderInvoice (/srv/fernwick/dist/invoices/render.js:54:18)',
    ],
    share: 0.55,
    from: DEPLOYED_HOURS_AGO,
    to: MENDED_HOURS_AGO,
    isLasting: true,
  },
  {
    type: 'webhook.deliver',
    name: 'WebhookRefused',
    message: (roll) => `https://shop-${n(roll, 40)}.example/hooks answered 410 Gone`,
    frames: [
      'post (/srv/fernwick/dist/webhooks/post.js:33:9)',
      'deliverWebhook (/srv/fernwick/dist/handlers.js:120:3)',
    ],
    share: 0.012,
    isFinal: true,
  },
  {
    type: 'webhook.deliver',
    name: 'TimeoutError',
    message: () => 'The operation was aborted due to timeout',
    frames: [
      'post (/srv/fernwick/dist/webhooks/post.js:27:22)',
      'deliverWebhook (/srv/fernwick/dist/handlers.js:120:3)',
    ],
    share: 0.05,
  },
  {
    type: 'text.send',
    name: 'GatewayError',
    message: (roll) => `Text gateway: throttled, try again in ${n(roll, 30)} s`,
    frames: ['sendText (/srv/fernwick/dist/texts/gateway.js:61:13)'],
    share: 0.35,
    from: 3,
  },
  {
    type: 'text.send',
    name: 'GatewayError',
    message: (roll) => `Text gateway: number +999${n(roll, 9_000_000)} is not in service`,
    frames: ['sendText (/srv/fernwick/dist/texts/gateway.js:48:11)'],
    share: 0.01,
    isFinal: true,
  },
  {
    type: 'product.import',
    name: 'ImportError',
    message: (roll) => `Row ${n(roll, 9_000)}: ${pick(roll, Object.values(HOSTILE_TEXTS))} is no price`,
    frames: [
      'parsePrice (/srv/fernwick/dist/imports/price.js:8:9)',
      'importProduct (/srv/fernwick/dist/imports/product.js:30:20)',
    ],
    share: 0.004,
    isFinal: true,
  },
  {
    type: 'product.import',
    name: 'SyntaxError',
    message: (roll) => `Unexpected end of feed ${n(roll, 400)}\n${LONG_TEXT}`,
    frames: [
      'parseFeed (/srv/fernwick/dist/imports/feed.js:102:15)',
      'importProduct (/srv/fernwick/dist/imports/product.js:22:20)',
    ],
    share: 0.0015,
    isFinal: true,
  },
  {
    type: 'page.capture',
    name: 'NavigationError',
    message: (roll) => `net::ERR_CERT_DATE_INVALID at https://shop-${n(roll, 40)}.example/products/${n(roll, 900)}`,
    frames: [
      'open (/srv/fernwick/dist/pages/browser.js:77:11)',
      'capturePage (/srv/fernwick/dist/pages/capture.js:15:3)',
    ],
    share: 0.03,
    isLasting: true,
  },
  {
    type: 'receipt.send',
    name: 'SmtpError',
    message: (roll) => `450 4.2.1 mailbox of customer-${n(roll, 9_000)}@example.com is busy`,
    frames: ['deliver (/srv/fernwick/dist/mail/smtp.js:140:13)', 'sendReceipt (/srv/fernwick/dist/handlers.js:44:3)'],
    share: 0.03,
  },
  {
    type: 'payment.capture',
    name: 'CardDeclined',
    message: (roll) => `The bank declined the card of order FW-${n(roll, 90_000)}: insufficient funds`,
    frames: [
      'capture (/srv/fernwick/dist/payments/cards.js:58:11)',
      'capturePayment (/srv/fernwick/dist/handlers.js:31:5)',
    ],
    share: 0.008,
    isFinal: true,
  },
  {
    type: 'report.sales',
    name: 'DatabaseError',
    message: () => 'canceling statement due to statement timeout',
    frames: ['query (/srv/fernwick/dist/db.js:12:9)', 'reportSales (/srv/fernwick/dist/reports/sales.js:40:17)'],
    share: 0.06,
  },
  {
    type: 'order.confirm',
    name: 'SerializationFailure',
    message: () => 'could not serialize access due to concurrent update',
    frames: ['commit (/srv/fernwick/dist/db.js:31:9)', 'confirmOrder (/srv/fernwick/dist/handlers.js:12:3)'],
    share: 0.01,
  },
]

/** As the handler would have thrown it. */
export function errorOf({ name, message, frames }: Flaw, roll: Dice): Error {
  const text = message(roll)
  const error = new Error(text)
  error.name = name
  error.stack = `${name}: ${text}\n${frames.map((frame) => `    at ${frame}`).join('\n')}`
  return error
}
