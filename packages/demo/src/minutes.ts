// The last minutes of the week, which run for real: a worker, handlers that fail, workflows that end in every way.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, Millrace, WorkflowStatus } from 'millrace'
import { bookVan, screenOrder, sendText } from './contracts.ts'
import { handlersAt, SCRIPTED } from './handlers.ts'
import { escalation } from './people.ts'
import { carrierService, textService } from './queues.ts'
import { importCatalogue, publishPages, sendParcel } from './workflows.ts'

/** Runs take this share of the time that they usually take. */
const PACE = 0.01
const DEADLINE_MS = 60_000
const POLL_MS = 50
const SUPPORT = 'support@fernwick.example'

const by = (tenant: string) => ({ tenant, createdBy: SCRIPTED })

export interface MinutesOptions {
  /** How many products the large import has: a fan-out of as many jobs. */
  readonly products: number
  readonly logger: Logger
}

export async function runMinutes(millrace: Millrace, { products, logger }: MinutesOptions): Promise<void> {
  const delivery = escalation.attach({ millrace, logger })
  await millrace.breakers.configure(textService.name, { by: SUPPORT, openFor: '1s' })
  const concurrency = { high: 40, default: 40, screenshot: 10, low: 20, bulk: 60 }
  const worker = await millrace.work({
    handlers: [...handlersAt(PACE), ...delivery.handlers],
    concurrency,
    gracePeriod: '2s',
  })
  try {
    await Promise.all([workflows(millrace, products), services(millrace), spend(millrace)])
    await delivery.tick()
  } finally {
    await delivery.stop()
    await worker.stop()
  }
}

async function workflows(millrace: Millrace, products: number): Promise<void> {
  const { workflows: client } = millrace
  const started: [id: string, expected: WorkflowStatus][] = []
  const pages = (kind: string) => ['front', kind, 'basket'].map((page) => `https://shop.example/${page}`)
  const start = {
    import: async (shop: string, count: number) =>
      (await client.start(importCatalogue, { shop, products: count, prefix: shop.slice(0, 2).toUpperCase() }, by(shop)))
        .id,
    publish: async (shop: string, kind: string) =>
      (await client.start(publishPages, { shop, urls: pages(kind) }, by(shop))).id,
  }
  const large = await start.import('copper-kettle', products)
  started.push([await start.import('tin-whistle', 12), 'failed'])
  started.push([await start.publish('tin-whistle', 'toys'), 'rolled back'])
  started.push([await start.publish('tin-whistle', 'locked'), 'rollback failed'])
  started.push([await start.publish('tin-whistle', 'slow'), 'rolling back'])
  started.push([await start.publish('amber-kiln', 'lamps'), 'completed'])
  const [approved, refused, waiting] = [
    await start.import('amber-kiln', 30),
    await start.import('night-market', 20),
    await start.import('paper-crane', 25),
  ]
  for (let parcel = 1; parcel <= 6; parcel++) {
    const input = { orderId: `FW-${70_000 + parcel}`, parcelId: `P-${700_000 + parcel}` }
    await client.start(sendParcel, input, by('blue-heron-books'))
  }
  for (const id of [approved, refused, waiting]) await until(() => hasStep(millrace, id, 'approval'))
  await client.signal(approved, 'approval', undefined, { by: SUPPORT })
  await client.cancel(refused, { by: SUPPORT, reason: 'the shop sends its catalogue again tomorrow' })
  started.push([approved, 'completed'], [refused, 'cancelled'])
  for (const [id, expected] of started) await until(async () => (await client.get(id))?.status === expected)
  // One product has no price: it is tried again later, and its workflow goes on then.
  await until(async () => (await client.get(large))?.steps[0]?.running === 1)
}

async function hasStep(millrace: Millrace, id: string, name: string): Promise<boolean> {
  const steps = (await millrace.workflows.get(id))?.steps ?? []
  return steps.some((step) => step.name === name && step.status === 'running')
}

/** The carrier's breaker opens; the one of the text gateway has opened, and one try after the other succeeds again. */
async function services(millrace: Millrace): Promise<void> {
  const text = (parcel: number, words: string) =>
    millrace.enqueue(sendText, { parcelId: `P-${parcel}`, text: words }, by('juniper-supply'))
  for (let parcel = 1; parcel <= 30; parcel++) {
    const booking = { parcelId: `P-${600_000 + parcel}`, postcode: 'FW4 2RN', kilograms: 2 }
    await millrace.enqueue(bookVan, booking, by('velvet-anchor'))
  }
  for (let parcel = 1; parcel <= 3; parcel++) await text(parcel, 'outage')
  await until(async () => (await millrace.breakers.get(textService.name))?.state === 'open')
  await text(4, 'Your parcel comes tomorrow.')
  await until(async () => (await millrace.breakers.get(textService.name))?.state === 'half_open')
  await until(async () => (await millrace.breakers.get(carrierService.name))?.state === 'open')
}

/** So much of the month's budget is spent that jobs wait for it, and people are told. */
async function spend(millrace: Millrace): Promise<void> {
  const order = { orderId: 'FW-80001', amountCents: 4_950 }
  const { id } = await millrace.enqueue(screenOrder, order, by('gable-end-lamps'))
  await until(async () => Number((await millrace.job(id))?.runAt) > Date.now())
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const begun = performance.now()
  while (!(await condition())) {
    if (performance.now() - begun > DEADLINE_MS)
      throw new Error(
        `The demo's own jobs did not get where they were expected within ${DEADLINE_MS / 1_000} s: ${condition}`,
      )
    await sleep(POLL_MS)
  }
}
