// What the demo's jobs do now: they take a while, report progress, call services, and fail as they did all week.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Implementation, implement, type JobContext, type JobContract, Unrecoverable } from 'millrace'
import * as contracts from './contracts.ts'
import { errorOf, FLAWS } from './failures.ts'
import { PROFILES } from './profiles.ts'
import { carrierService, textService } from './queues.ts'
import { logNormal } from './random.ts'

const { random } = Math

/** Throws as often as jobs of this type have failed lately. */
function maybeFail(type: string): void {
  let at = random()
  for (const flaw of FLAWS) {
    if (flaw.type !== type || flaw.to !== undefined) continue
    if (at < flaw.share) {
      const error = errorOf(flaw, random)
      if (flaw.isFinal !== true) throw error
      const final = new Unrecoverable(error.message)
      final.stack = error.stack ?? ''
      throw Object.assign(final, { name: flaw.name })
    }
    at -= flaw.share
  }
}

async function work(ctx: JobContext, steps = 1): Promise<void> {
  const { durationMs } = PROFILES.find(({ contract }) => contract.type === ctx.type) ?? { durationMs: 200 }
  for (let step = 1; step <= steps; step++) {
    await sleep(logNormal(random, durationMs) / steps, undefined, { signal: ctx.signal })
    if (steps > 1) ctx.progress(step, steps, `${step} of ${steps}`)
  }
}

const plain = (contract: JobContract, steps = 1): Implementation =>
  implement(contract, async (_, ctx) => {
    ctx.log.debug({ attempt: ctx.attempt }, 'begun')
    await work(ctx, steps)
    maybeFail(ctx.type)
  })

export const handlers: readonly Implementation[] = [
  plain(contracts.confirmOrder),
  plain(contracts.capturePayment),
  implement(contracts.screenOrder, async (_, ctx) => {
    const cent = await ctx.budget.reserve(1)
    await work(ctx)
    await cent.spend(1)
  }),
  implement(contracts.bookVan, (_, ctx) =>
    ctx.breaker(carrierService, async () => {
      await work(ctx)
      maybeFail(ctx.type)
    }),
  ),
  plain(contracts.sendReceipt),
  implement(contracts.sendText, (_, ctx) =>
    ctx.breaker(textService, async () => {
      await work(ctx)
      maybeFail(ctx.type)
    }),
  ),
  plain(contracts.deliverWebhook),
  plain(contracts.printLabel),
  implement(contracts.capturePage, async ({ url }, ctx) => {
    await work(ctx, 4)
    return { file: `pages/${encodeURIComponent(url)}.png`, bytes: 120_000 }
  }),
  implement(contracts.removePage, ({ file }) => {
    if (file.includes('locked')) throw new Unrecoverable(`The store keeps ${file} for legal reasons.`)
    if (file.includes('slow')) throw new Error(`The store is read-only while it moves: ${file} is still there.`)
  }),
  plain(contracts.renderInvoice, 3),
  plain(contracts.reportSales, 10),
  implement(contracts.translateText, async ({ text }, ctx) => {
    await work(ctx)
    await ctx.budget.spend(Math.max(1, Math.round(text.length * 1.3)))
  }),
  implement(contracts.importProduct, async ({ sku }, ctx) => {
    await work(ctx)
    if (sku.endsWith('-66')) throw new Error(`${sku} has no price`)
    maybeFail(ctx.type)
  }),
  plain(contracts.sendNewsletter),
  implement(contracts.indexCatalogue, async ({ shop, products }, ctx) => {
    if (shop === 'tin-whistle')
      throw new Unrecoverable(`The index of ${shop} has another layout: expected 4 fields, found 5.`)
    await work(ctx, 20)
    return { indexed: products }
  }),
]
