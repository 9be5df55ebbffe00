import { MAX_TIMER_MS, monotonicMs } from '../clock.ts'

/** The sleep of a loop: until a time that may be brought forward, or until somebody nudges. */
export class Alarm {
  #isRung = false
  #atMs = Number.POSITIVE_INFINITY
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

  /** Rings in so many milliseconds at the latest; true if that is earlier than before. */
  setIn(ms: number): boolean {
    const atMs = monotonicMs() + ms
    if (atMs >= this.#atMs) return false
    this.#atMs = atMs
    return true
  }

  /** True once when its time has come. */
  isDue(): boolean {
    if (monotonicMs() < this.#atMs) return false
    this.#atMs = Number.POSITIVE_INFINITY
    return true
  }

  /** Until it rings. */
  sleep(): Promise<void> {
    return this.pause(this.#atMs - monotonicMs())
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
