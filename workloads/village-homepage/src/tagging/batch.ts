// One batch: its items one after the other, each looked at, sent to the model and recorded. An item that fails does not
// stop the others.
import { type JobContext, RetryAfter } from 'millrace'
import { taggedItems, taggingConfidence, taggingCost, taggingTokens } from '../telemetry/metrics.ts'
import { spanEvent } from '../telemetry/span-events.ts'
import type { BatchItems, ClaimedItem } from './item-store.ts'
import { type ModelAnswer, ModelUnwell, type TaggingModel } from './model.ts'
import type { Pace } from './pace.ts'
import { costOf, NO_TOKENS, type Price, type Tokens } from './prices.ts'
import type { TaggingRequest } from './prompt.ts'
import type { AiTags } from './tags.ts'

/** What a run has done so far. */
export interface Tally {
  tagged: number
  reused: number
  failed: number
  batches: number
  microdollars: number
}

export interface Prepared {
  readonly item: ClaimedItem
  readonly request: TaggingRequest
  readonly mostCost: number
}

export interface BatchParts {
  readonly ctx: JobContext
  readonly model: TaggingModel
  readonly pace: Pace
  readonly price: Price
  readonly tally: Tally
  readonly items: BatchItems
}

export class Batch {
  readonly #parts: BatchParts

  constructor(parts: BatchParts) {
    this.#parts = parts
  }

  /** Throws what ends the run. What has not been worked on then must be released. */
  async work(prepared: readonly Prepared[]): Promise<void> {
    const { ctx, pace } = this.#parts
    const queue = [...prepared]
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await pace.wait(ctx.signal)
      const isDone = await this.#tag(next)
      if (!isDone) queue.push(next)
    }
  }

  /** False: the service wants to be asked later. */
  async #tag(prepared: Prepared): Promise<boolean> {
    const { items } = this.#parts
    const { id } = prepared.item
    const begun = await items.begin(id, prepared.mostCost)
    if (begun === undefined) return true
    if ('callId' in begun) return this.#ask(prepared, begun.callId)
    await items.reuse(id, begun.tags)
    this.#tagged(id, begun.tags, 'reused')
    return true
  }

  async #ask({ item, request, mostCost }: Prepared, callId: string): Promise<boolean> {
    const { ctx, model, items, pace } = this.#parts
    let wasSent = false
    let answer: ModelAnswer
    try {
      answer = await ctx.breaker('anthropic', () => {
        wasSent = true
        return model.tag(request, ctx.signal)
      })
    } catch (error) {
      if (error instanceof ModelUnwell) {
        await this.#unanswered(item.id, callId, { error, mostCost })
        return true
      }
      // Broken off on the way, its cost stays noted as the highest that it can be.
      if (!(wasSent && ctx.signal.aborted)) await items.unsent(callId)
      throw error
    }
    if (answer.kind === 'limited') {
      await items.unsent(callId)
      this.#slower(answer.retryAfterMs)
      return false
    }
    pace.accepted()
    await this.#record(item.id, callId, answer)
    return true
  }

  async #record(id: string, callId: string, answer: Exclude<ModelAnswer, { kind: 'limited' }>): Promise<void> {
    const { items, ctx } = this.#parts
    const cost = this.#costing(answer.tokens)
    if (answer.kind === 'tags') {
      await items.tagged(id, callId, { tags: answer.tags, cost })
      this.#tagged(id, answer.tags, 'tagged')
      return
    }
    ctx.log.warn({ item: id, error: answer.why }, 'Failed to parse Claude response')
    await items.failed(id, callId, { outcome: 'invalid', cost, isItsFault: true })
    this.#failed(id, answer.why)
  }

  async #unanswered(
    id: string,
    callId: string,
    { error, mostCost }: { error: ModelUnwell; mostCost: number },
  ): Promise<void> {
    const { items, ctx, tally } = this.#parts
    ctx.log.error({ item: id, error: error.message }, 'an item was not tagged: Anthropic did not answer')
    const microdollars = error.mayBeBilled ? mostCost : 0
    const { isTimeout: isItsFault } = error
    await items.failed(id, callId, { outcome: 'unanswered', cost: { ...NO_TOKENS, microdollars }, isItsFault })
    tally.microdollars += microdollars
    taggingCost.inc(microdollars / 10_000)
    this.#failed(id, error.message)
  }

  #slower(retryAfterMs: number | undefined): void {
    const { ctx, pace } = this.#parts
    const inARow = pace.refused()
    ctx.log.warn({ delay_ms: pace.delayMs }, 'Anthropic limits our calls: the delay between them grows')
    if (inARow > 1)
      throw new RetryAfter(retryAfterMs ?? pace.delayMs, 'Anthropic limits our calls: the job goes on later')
  }

  #costing(tokens: Tokens): Tokens & { microdollars: number } {
    const { price, tally } = this.#parts
    const microdollars = costOf(tokens, price)
    tally.microdollars += microdollars
    taggingCost.inc(microdollars / 10_000)
    taggingTokens.inc({ type: 'input' }, tokens.input)
    taggingTokens.inc({ type: 'output' }, tokens.output)
    return { ...tokens, microdollars }
  }

  #tagged(id: string, { topics, sentiment, categories, confidence }: AiTags, how: 'tagged' | 'reused'): void {
    this.#parts.tally[how] += 1
    taggedItems.inc({ status: 'success' })
    taggingConfidence.observe(confidence)
    spanEvent('item.tagged', { item_id: id, topics, sentiment, categories })
  }

  #failed(id: string, error: string): void {
    this.#parts.tally.failed += 1
    taggedItems.inc({ status: 'failure' })
    spanEvent('item.failed', { item_id: id, error })
  }
}
