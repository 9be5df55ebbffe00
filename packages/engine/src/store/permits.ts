import { DatabaseTimeout } from '../errors.ts'

/**
 * A queue in front of a pool. Whoever waits here waits for a colleague to finish; whoever waits in the pool waits for
 * the server. Only the second says something about the server.
 */
export class Permits {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async take(deadlineMs: number): Promise<void> {
    if (this.#free > 0) {
      this.#free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(got), 1)
        reject(new DatabaseTimeout('for a free connection', deadlineMs))
      }, deadlineMs)
      const got = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#waiting.push(got)
    })
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
