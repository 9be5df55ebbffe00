// The delay between two calls of a run: none, until the service says that it has had enough, and none again once it is well.

const FIRST_MS = 1_000
const MOST_MS = 30_000
/** After so many calls that were taken, the delay is halved. */
const EASES_AFTER = 5

export class Pace {
  #delayMs = 0
  #inARow = 0
  #taken = 0

  get delayMs(): number {
    return this.#delayMs
  }

  /** The service took a call. */
  accepted(): void {
    this.#inARow = 0
    this.#taken += 1
    if (this.#taken % EASES_AFTER === 0) this.#delayMs = this.#delayMs <= FIRST_MS ? 0 : this.#delayMs / 2
  }

  /** Says how often in a row the service has refused. */
  refused(): number {
    this.#delayMs = this.#delayMs === 0 ? FIRST_MS : Math.min(MOST_MS, this.#delayMs * 2)
    this.#inARow += 1
    this.#taken = 0
    return this.#inARow
  }

  /** Rejects with the reason of the signal. */
  wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#delayMs === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }, this.#delayMs)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
