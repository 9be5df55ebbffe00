// What the demo's jobs do now: they take a while, report progress, call services, and fail as they did all week.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Implementation, implement, type JobContext, type JobContract, Unrecoverable } from 'millrace'
import * as contracts from './contracts.ts'
import { errorOf, FLAWS, type Flaw } from './failures.ts'
import { PROFILES } from './profiles.ts'
import { carrierService, textService } from './queues.ts'
import { logNormal } from './random.ts'

const { random } = Math

/** Who enqueues the jobs of the last minutes: what becomes of them is no matter of chance. */
export const SCRIPTED = 'checkout'

/** Throws as often as jobs of this type have failed lately. */
function maybeFail({ type, createdBy }: JobContext): void {
  if (createdBy === SCRIPTED) return
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

/** As long as such runs usually take, times `pace`. */
async function work(ctx: JobContext, pace: number, steps = 1): Promise<void> {
  const { durationMs } = PROFILES.find(({ contract }) => contract.type === ctx.type) ?? { durationMs: 200 }
  for (let step = 1; step <= steps; step++) {
    await sleep((pace * logNormal(random, durationMs)) / steps, undefined, { signal: ctx.signal })
    if (steps > 1) ctx.progress(step, steps, `${step} of ${steps}`)
  }
}

const plain = (pace: number, contract: JobContract, steps = 1): Implementation =>
  implement(contract, async (_, ctx) => {
    ctx.log.debug({ attempt: ctx.attempt }, 'begun')
    await work(ctx, pace, steps)
    maybeFail(ctx)
  })

/** `pace` 1: runs take as long as such runs usually do. */
export const handlersAt = (pace: number): readonly Implementation[] => [
  plain(pace, contracts.confirmOrder),
  plain(pace, contracts.capturePayment),
  implement(contracts.screenOrder, async (_, ctx) => {
    const cent = await ctx.budget.reserve(1)
    await work(ctx, pace)
    await cent.spend(1)
  }),
  implement(contracts.bookVan, (_, ctx) =>
    ctx.breaker(carrierService, async () => {
      await work(ctx, pace)
      if (ctx.createdBy === SCRIPTED) throw errorOf(FLAWS[0] as Flaw, random)
      maybeFail(ctx)
    }),
  ),
  plain(pace, contracts.sendReceipt),
  implement(contracts.sendText, ({ text }, ctx) =>
    ctx.breaker(textService, async () => {
      await work(ctx, pace)
      if (text === 'outage' && ctx.attempt === 1) throw new Error('Text gateway: connection refused')
      maybeFail(ctx)
    }),
  ),
  plain(pace, contracts.deliverWebhook),
  plain(pace, contracts.printLabel),
  implement(contracts.capturePage, async ({ url }, ctx) => {
    await work(ctx, pace, 4)
    return { file: `pages/${encodeURIComponent(url)}.png`, bytes: 120_000 }
  }),
  implement(contracts.removePage, ({ file }) => {
    if (file.includes('locked')) throw new Unrecoverable(`The store keeps ${file} for legal reasons.`)
    if (file.includes('slow')) throw new Error(`The store is read-only while it moves: ${file} is still there.`)
  }),
  plain(pace, contracts.renderInvoice, 3),
  plain(pace, contracts.reportSales, 10),
  implement(contracts.translateText, async ({ text }, ctx) => {
    await work(ctx, pace)
    await ctx.budget.spend(Math.max(1, Math.round(text.length * 1.3)))
  }),
  implement(contracts.importProduct, async ({ sku }, ctx) => {
    await work(ctx, pace)
    if (sku === 'CO-17') throw new Error(`${sku} has no price`)
    maybeFail(ctx)
  }),
  plain(pace, contracts.sendNewsletter),
  implement(contracts.indexCatalogue, async ({ shop, products }, ctx) => {
    if (shop === 'tin-whistle')
      throw new Unrecoverable(`The index of ${shop} has another layout: expected 4 fields, found 5.`)
    await work(ctx, pace, 20)
    return { indexed: products }
  }),
]
