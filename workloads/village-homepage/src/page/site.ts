// What the page learns when the village starts.
import type { StartContext } from '@millrace/cli/workload'
import type { Logger } from 'millrace'
import type { VillageConfig } from '../config/read.ts'

export class Site {
  readonly #alwaysShowsJobs: boolean
  #context: Pick<StartContext, 'mode' | 'logger'> | undefined

  constructor({ site }: VillageConfig) {
    this.#alwaysShowsJobs = site.showJobs
  }

  open(context: Pick<StartContext, 'mode' | 'logger'>): void {
    this.#context = context
  }

  /** Whether visitors are told which jobs keep the page true. A developer always is. */
  get showsJobs(): boolean {
    return this.#alwaysShowsJobs || this.#context?.mode === 'dev'
  }

  get logger(): Logger | undefined {
    return this.#context?.logger
  }
}
