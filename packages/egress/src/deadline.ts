// The time of one call: its three timers and the caller's signal, joined in one signal.
import type { Budget } from './budget.ts'
import { EgressBudgetExceeded } from './errors.ts'

type Timer = ReturnType<typeof setTimeout>

export class Deadline {
  readonly #budget: Budget
  readonly #shown: string
  readonly #controller = new AbortController()
  readonly #total: Timer
  readonly #caller: AbortSignal | undefined
  readonly #onAbort = () => this.#controller.abort(this.#caller?.reason)

  constructor(budget: Budget, shown: string, caller: AbortSignal | undefined) {
    this.#budget = budget
    this.#shown = shown
    this.#caller = caller
    this.#total = this.#timer('total_timeout', budget.totalMs, 'did not end')
    caller?.addEventListener('abort', this.#onAbort, { once: true })
    if (caller?.aborted) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The result of `work`, or the reason for stopping. Undici notices an abort only after it has connected. */
  headers<T>(work: Promise<T>): Promise<T> {
    return this.#within(work, this.#timer('headers_timeout', this.#budget.headersMs, 'sent no headers'))
  }

  chunk<T>(work: Promise<T>): Promise<T> {
    return this.#within(work, this.#timer('idle_timeout', this.#budget.idleMs, 'sent nothing more'))
  }

  /** Nothing can stop the call any more. */
  end(): void {
    clearTimeout(this.#total)
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }

  /** Stops the call for a reason of ours, or because the caller wants no more. */
  stop(reason: unknown): void {
    this.#controller.abort(reason)
    this.end()
  }

  #within<T>(work: Promise<T>, timer: Timer): Promise<T> {
    const { signal } = this
    return new Promise<T>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
      const onAbort = () => {
        settle()
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
      work.then(resolve, reject).finally(settle)
    })
  }

  #timer(code: 'headers_timeout' | 'idle_timeout' | 'total_timeout', ms: number, what: string): Timer {
    const name = { headers_timeout: 'headersMs', idle_timeout: 'idleMs', total_timeout: 'totalMs' }[code]
    const message = `${this.#shown} ${what} within ${ms} ms. Try again later, or give the call a larger budget (${name}).`
    return setTimeout(() => this.#controller.abort(new EgressBudgetExceeded(code, ms, message)), ms)
  }
}
