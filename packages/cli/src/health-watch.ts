// The verdict on the whole platform, for the bodies of probes. It is read at most every half minute, and no probe waits for long.
import type { Health, Millrace } from 'millrace'

/** How old a reading may be before the next one begins. */
const FRESH_MS = 30_000
/** A probe waits so long for the first reading, and not at all for later ones. */
const PATIENCE_MS = 1_000

export type ShownHealth = Pick<Health, 'verdict' | 'at' | 'summary'> & {
  readonly reasons: readonly Pick<Health['reasons'][number], 'check' | 'verdict' | 'says' | 'remedy'>[]
}

export class HealthWatch {
  readonly #millrace: Millrace
  #last: ShownHealth | undefined
  #lastAtMs = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(millrace: Millrace) {
    this.#millrace = millrace
  }

  /** The last reading, or undefined before there is one. Never rejects. */
  async look(): Promise<ShownHealth | undefined> {
    if (performance.now() - this.#lastAtMs >= FRESH_MS) this.#reading ??= this.#read()
    if (this.#last === undefined && this.#reading !== undefined) await within(PATIENCE_MS, this.#reading)
    return this.#last
  }

  async #read(): Promise<void> {
    try {
      const { verdict, at, summary, reasons } = await this.#millrace.health()
      const shown = reasons.map(({ check, verdict: each, says, remedy }) => ({ check, verdict: each, says, remedy }))
      this.#last = { verdict, at, summary, reasons: shown }
      this.#lastAtMs = performance.now()
    } finally {
      this.#reading = undefined
    }
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
