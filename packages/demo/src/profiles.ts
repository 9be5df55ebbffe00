// How busy each job type of the demo is, how long its runs take, and what its jobs carry.
import type { JobContract } from 'millrace'
import * as contracts from './contracts.ts'
import { HOSTILE_TEXTS, LONG_WORD } from './hostile.ts'
import { between, type Dice, pick } from './random.ts'

export interface Profile {
  readonly contract: JobContract
  /** How many there are, against the other types. */
  readonly share: number
  readonly durationMs: number
  readonly waitMs: number
  /** 'day': when shops sell. 'night': reports. */
  readonly busy: 'day' | 'night'
  readonly hasTenant: boolean
  /** The noisy shop has most of them while it is noisy. */
  readonly isNoisy?: boolean
  payload(roll: Dice, shop: string): Record<string, unknown>
  result?(roll: Dice): unknown
}

const n = (roll: Dice, most: number) => Math.floor(roll() * most) + 1
const parcelId = (roll: Dice) => `P-${100_000 + n(roll, 800_000)}`
const orderId = (roll: Dice) => `FW-${10_000 + n(roll, 80_000)}`
const customer = (roll: Dice) => `customer-${n(roll, 9_000)}@example.com`
const domain = (shop: string) => `${shop.replace(/[^a-z-]+/gi, '').toLowerCase() || 'shop'}.example`

/** Now and then a customer writes what screens must show as text. */
const noted = (roll: Dice, payload: Record<string, unknown>, key: string) =>
  roll() < 0.01 ? { ...payload, [key]: pick(roll, [...Object.values(HOSTILE_TEXTS), LONG_WORD]) } : payload

const order = (roll: Dice) => noted(roll, { orderId: orderId(roll), amountCents: n(roll, 30_000) }, 'note')

export const PROFILES: readonly Profile[] = [
  {
    contract: contracts.confirmOrder,
    share: 18,
    durationMs: 60,
    waitMs: 40,
    busy: 'day',
    hasTenant: true,
    payload: order,
  },
  {
    contract: contracts.capturePayment,
    share: 14,
    durationMs: 420,
    waitMs: 50,
    busy: 'day',
    hasTenant: true,
    payload: order,
  },
  {
    contract: contracts.screenOrder,
    share: 4,
    durationMs: 900,
    waitMs: 60,
    busy: 'day',
    hasTenant: true,
    payload: order,
  },
  {
    ...{ contract: contracts.bookVan, share: 11, durationMs: 650, waitMs: 300, busy: 'day', hasTenant: true },
    payload: (roll) => ({
      parcelId: parcelId(roll),
      postcode: `FW${n(roll, 9)} ${n(roll, 9)}RN`,
      kilograms: Math.round(between(roll, 1, 200)) / 10,
    }),
  },
  {
    ...{ contract: contracts.sendReceipt, share: 14, durationMs: 180, waitMs: 250, busy: 'day', hasTenant: true },
    payload: (roll) => noted(roll, { orderId: orderId(roll), to: customer(roll) }, 'subject'),
  },
  {
    ...{ contract: contracts.sendText, share: 7, durationMs: 240, waitMs: 900, busy: 'day', hasTenant: true },
    payload: (roll) => noted(roll, { parcelId: parcelId(roll), text: 'Your parcel comes tomorrow.' }, 'text'),
  },
  {
    ...{ contract: contracts.deliverWebhook, share: 12, durationMs: 310, waitMs: 200, busy: 'day', hasTenant: true },
    payload: (roll, shop) => ({
      event: pick(roll, ['parcel.booked', 'parcel.collected', 'parcel.delivered']),
      url: `https://${domain(shop)}/hooks/parcels`,
      parcelId: parcelId(roll),
    }),
  },
  {
    ...{ contract: contracts.printLabel, share: 9, durationMs: 1_400, waitMs: 700, busy: 'day', hasTenant: true },
    payload: (roll) => ({ parcelId: parcelId(roll), format: pick(roll, ['a6', 'roll']) }),
  },
  {
    ...{ contract: contracts.capturePage, share: 3, durationMs: 5_200, waitMs: 4_000, busy: 'day', hasTenant: true },
    payload: (roll, shop) => ({
      url: `https://${domain(shop)}/products/${n(roll, 900)}`,
      width: pick(roll, [390, 1_280]),
    }),
    result: (roll) => ({ file: `pages/${n(roll, 90_000)}.png`, bytes: n(roll, 900_000) }),
  },
  {
    ...{
      contract: contracts.renderInvoice,
      share: 3,
      durationMs: 2_100,
      waitMs: 2_000,
      busy: 'night',
      hasTenant: true,
    },
    payload: (roll) => ({ invoiceId: `INV-${n(roll, 90_000)}`, lines: n(roll, 60) }),
  },
  {
    ...{
      contract: contracts.reportSales,
      share: 1,
      durationMs: 14_000,
      waitMs: 3_000,
      busy: 'night',
      hasTenant: false,
    },
    payload: (roll) => ({ day: `2026-11-${String(n(roll, 28)).padStart(2, '0')}` }),
  },
  {
    ...{
      contract: contracts.translateText,
      share: 2,
      durationMs: 3_300,
      waitMs: 2_500,
      busy: 'night',
      hasTenant: true,
    },
    payload: (roll) => ({
      productId: String(n(roll, 900)),
      language: pick(roll, ['sv', 'fi', 'de', 'ar']),
      text: pick(roll, ['A kettle of copper', 'Blue rope, 12 m', HOSTILE_TEXTS.rightToLeft]),
    }),
  },
  {
    ...{ contract: contracts.importProduct, share: 14, durationMs: 130, waitMs: 1_500, busy: 'night', hasTenant: true },
    ...{ isNoisy: true },
    payload: (roll) => noted(roll, { sku: `SKU-${n(roll, 90_000)}`, row: n(roll, 9_000) }, 'title'),
  },
  {
    ...{ contract: contracts.sendNewsletter, share: 8, durationMs: 220, waitMs: 6_000, busy: 'day', hasTenant: true },
    ...{ isNoisy: true },
    payload: (roll) => ({ campaign: pick(roll, ['autumn', 'gifts', 'back-in-stock']), to: customer(roll) }),
  },
  {
    ...{
      contract: contracts.indexCatalogue,
      share: 1,
      durationMs: 8_000,
      waitMs: 2_000,
      busy: 'night',
      hasTenant: true,
    },
    payload: (roll, shop) => ({ shop, products: n(roll, 900) }),
    result: (roll) => ({ indexed: n(roll, 900) }),
  },
]
