import { monotonicMs } from '../clock.ts'
import { DatabaseUnavailable } from '../errors.ts'

const PAUSE_MS = 2_000

/**
 * Shared by the pools of one process. After a failed connect nobody tries again for a while, and then one at a time
 * until one succeeds: an outage must not become a storm.
 */
export class ConnectGate {
  #failure: { error: DatabaseUnavailable; retryAtMs: number; isProbed: boolean } | undefined

  /** Throws while the server is known to be out of reach. */
  pass(): void {
    if (this.#failure === undefined) return
    if (this.#failure.isProbed || monotonicMs() < this.#failure.retryAtMs) {
      const { cause, address } = this.#failure.error
      throw new DatabaseUnavailable(cause, address)
    }
    this.#failure.isProbed = true
  }

  failed(error: DatabaseUnavailable): DatabaseUnavailable {
    this.#failure = { error, retryAtMs: monotonicMs() + PAUSE_MS, isProbed: false }
    return error
  }

  succeeded(): void {
    this.#failure = undefined
  }
}
