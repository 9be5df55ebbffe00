/** Lets at most so many run at once; the others wait in their order. */
export class AtMost {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // Its place is handed over, so that nobody comes in between.
      if (next === undefined) this.#free++
      else next()
    }
  }
}
