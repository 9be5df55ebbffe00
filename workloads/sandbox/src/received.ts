// What the services were told, for the control page and for tests that wait for it.

export interface ReceivedCall<Name extends string = string> {
  readonly at: string
  readonly service: Name
  readonly what: string
  readonly status: number
}

/** So many calls are remembered: a sandbox may run for weeks. */
const KEPT = 500

export class Received<Name extends string = string> {
  readonly #calls: ReceivedCall<Name>[] = []
  readonly #counts = new Map<Name, number>()
  readonly #waiting = new Set<() => void>()

  /** Newest first. */
  get calls(): readonly ReceivedCall<Name>[] {
    return this.#calls
  }

  count(service: Name): number {
    return this.#counts.get(service) ?? 0
  }

  add(call: ReceivedCall<Name>): void {
    this.#calls.unshift(call)
    this.#calls.length = Math.min(this.#calls.length, KEPT)
    this.#counts.set(call.service, this.count(call.service) + 1)
    for (const look of [...this.#waiting]) look()
  }

  /** Resolves as soon as the condition holds; it is asked after every call that a service gets. */
  until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(look)
        signal?.removeEventListener('abort', abort)
      }
      const abort = () => {
        stop()
        reject(signal?.reason)
      }
      const look = () => {
        if (!condition()) return
        stop()
        resolve()
      }
      signal?.addEventListener('abort', abort)
      this.#waiting.add(look)
      look()
    })
  }
}
