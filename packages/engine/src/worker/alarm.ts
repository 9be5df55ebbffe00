import { MAX_TIMER_MS } from '../clock.ts'

/** The sleep of a loop: for some time, or until a nudge. */
export class Alarm {
  #isRung = false
  #ring: (() => void) | undefined

  /** Somebody has nudged since `listen`. */
  get isRung(): boolean {
    return this.#isRung
  }

  /** From now on nudges count. */
  listen(): void {
    this.#isRung = false
  }

  nudge(): void {
    this.#isRung = true
    this.#ring?.()
  }

  /** So long, or until somebody nudges. */
  async pause(ms: number): Promise<void> {
    if (this.#isRung) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(Math.max(0, ms), MAX_TIMER_MS))
      this.#ring = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#ring = undefined
  }
}
