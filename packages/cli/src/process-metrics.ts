// The metrics of this process: there as soon as its client is.
import type { Metrics, Page, Snapshot } from '@millrace/telemetry'
import type { Millrace, Worker } from 'millrace'
import type { Lifecycle } from './lifecycle.ts'
import type { Workload } from './workload.ts'

export class ProcessMetrics {
  readonly #process: string | undefined
  readonly #onLast: (snapshot: Snapshot) => Promise<unknown>
  #metrics: Metrics | undefined

  /** `process`: its number under a supervisor. `onLast`: gets what was counted when everything has stopped. */
  constructor(process?: number, onLast: (snapshot: Snapshot) => Promise<unknown> = async () => {}) {
    this.#process = process === undefined ? undefined : String(process)
    this.#onLast = onLast
  }

  /** Counts from now on, until the lifecycle ends. */
  async start(lifecycle: Lifecycle, millrace: Millrace, { metrics = [] }: Pick<Workload, 'metrics'>): Promise<void> {
    // Only processes that are scraped pay for loading it.
    const { createMetrics } = await import('@millrace/telemetry')
    const process = this.#process
    this.#metrics = await lifecycle.start({
      name: 'metrics',
      begin: async () => createMetrics(millrace, { metrics, ...(process && { process }) }),
      end: async (started) => {
        await this.#onLast(await started.snapshot())
        await started.stop()
      },
    })
  }

  watch(worker: Worker): void {
    this.#metrics?.watch(worker)
  }

  async snapshot(): Promise<Snapshot> {
    return this.#metrics?.snapshot() ?? []
  }

  /** Undefined: it has not come so far. */
  page(accept: string | undefined): Promise<Page> | undefined {
    return this.#metrics?.page(accept)
  }
}
