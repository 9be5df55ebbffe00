// The client of the process in which the village runs. Opened by `start`.
import type { Millrace } from 'millrace'

export class VillageClient {
  #millrace: Millrace | undefined

  open(millrace: Millrace): void {
    if (this.#millrace !== undefined) throw new Error('The client of the village is open already.')
    this.#millrace = millrace
  }

  close(): void {
    this.#millrace = undefined
  }

  get current(): Millrace {
    if (this.#millrace !== undefined) return this.#millrace
    throw new Error('The village has not started yet, or has stopped: it enqueues nothing.')
  }
}
