// Redrives dead letters by themselves, as often as their contract allows.
//
// Runs every half minute in every worker process, all at once: the lock on the letter decides who creates the job, and
// the others find it done. A letter that a person has acknowledged is left alone. If it dies halfway, the letters of
// the batch under way are untouched and the next pass, anywhere, does them.
import { type RedriveResult, type RedriveServices, redrive } from '../client/redrive.ts'
import type { Registry } from '../contract/registry.ts'
import { deadLetterDue, deadLetterPostpone, type RedriveRule } from '../store/dead-letters.ts'
import type { Ticker } from './loop.ts'

const BATCH = 100
const INTERVAL_MS = 30_000
const VAIN_PAUSE_MS = 1_000
/** Who decided, on the letter and on the new job. */
const BY = 'millrace: redrive rule'

export interface RedriverResult {
  redriven: number
  /** Tried in vain: they wait anew. */
  postponed: number
  isMore: boolean
}

export class Redriver implements Ticker<RedriverResult> {
  readonly name = 'redrive'
  readonly #services: RedriveServices
  readonly #rules: readonly RedriveRule[]

  constructor(services: RedriveServices) {
    this.#services = services
    this.#rules = rulesOf(services.registry)
  }

  async tick(): Promise<RedriverResult> {
    if (this.#rules.length === 0) return { redriven: 0, postponed: 0, isMore: false }
    const { db, clock } = this.#services
    const due = await deadLetterDue(db, clock.databaseNow(), this.#rules, BATCH)
    const results = [...(await redrive(this.#services, due, { by: BY, isAutomatic: true })).values()]
    const inVain = results.filter(isInVain).map(({ id }) => id)
    // A payload that does not fit today may fit after the next deployment, and a key may be free later.
    if (inVain.length > 0) await deadLetterPostpone(db, clock.databaseNow(), inVain)
    const redriven = results.filter(({ status }) => status === 'redriven').length
    return { redriven, postponed: inVain.length, isMore: due.length === BATCH }
  }

  delayAfter(result: RedriverResult): number {
    if (!result.isMore) return INTERVAL_MS
    // Whole batches in vain must not become a loop without a pause.
    return result.redriven > 0 ? 0 : VAIN_PAUSE_MS
  }
}

const isInVain = ({ status }: RedriveResult): boolean => status === 'refused' || status === 'duplicate'

function rulesOf(registry: Registry): RedriveRule[] {
  return registry.redrives.flatMap(({ type, redrive: { afterMs, atMost, reasons } }) =>
    reasons.map((reason) => ({ type, reason, atMost, afterMs })),
  )
}
