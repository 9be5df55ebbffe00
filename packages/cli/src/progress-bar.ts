const WIDTH = 30

/** A line on a terminal that tells how far something is. Elsewhere nothing is written. */
export class ProgressBar {
  readonly #out: NodeJS.WriteStream
  #isShown = false

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out
  }

  /** `total` null: nobody knows. `note`: what else there is to say. */
  show(done: number, total: number | null, note = ''): void {
    if (!this.#out.isTTY) return
    const share = total === null || total === 0 ? null : Math.min(1, done / total)
    const bar = share === null ? '' : `${'█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░')} `
    this.#out.write(`\r${bar}${done}${total === null ? '' : ` of ${total}`}${note && `  ${note}`}\u001b[K`)
    this.#isShown = true
  }

  end(): void {
    if (this.#isShown) this.#out.write('\n')
  }
}
