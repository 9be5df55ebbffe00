// The metrics of all worker processes on one page.
//
// Each scrape asks every process for its own. One that does not answer in time counts with what it sent last. Counters and
// histograms of processes that have ended stay in the sum, so that no counter falls when a process is replaced.
import type { Page, Snapshot } from '@millrace/telemetry'
import type { Child } from './child.ts'

const ANSWER_MS = 1_000

export class CollectedMetrics {
  readonly #children: () => readonly Child[]
  readonly #known = new Set<Child>()
  #ended: Snapshot = []

  /** `children`: the processes that live. */
  constructor(children: () => readonly Child[]) {
    this.#children = children
  }

  async page(accept: string | undefined): Promise<Page> {
    const { merged, lasting, pageOf } = await import('@millrace/telemetry')
    const living = this.#children()
    const snapshots = await Promise.all(living.map((child) => child.metrics(ANSWER_MS)))
    for (const child of living) this.#known.add(child)
    for (const child of this.#known) {
      if (living.includes(child)) continue
      this.#ended = merged([this.#ended, lasting(child.lastMetrics)])
      this.#known.delete(child)
    }
    return pageOf(merged([this.#ended, ...snapshots]), accept)
  }
}
