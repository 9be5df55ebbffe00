// Watches how full this process's memory is, so that a worker takes no more work before it would be killed for it.
//
// Looks every minute, and more often while memory is short. Before it says so it collects garbage: an idle process
// would otherwise keep what nobody needs, and never work again.
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { monotonicMs } from '../clock.ts'
import type { Ticker } from '../maintenance/loop.ts'

export interface MemoryLimits {
  /** Above this share of the heap limit or of the container's memory nothing is claimed. */
  thresholdPercent: number
  checkIntervalMs: number
}

export interface MemoryUse {
  /** Of the heap's limit or of the container's memory, whichever is fuller. */
  percent: number
  isHigh: boolean
}

export interface MemoryGuardServices {
  /** Default: this process's. */
  measure?(): number
  /** It became short, or is so no longer. */
  onChange(use: MemoryUse): void
}

const SHORT_INTERVAL_MS = 5_000

export class MemoryGuard implements Ticker<MemoryUse> {
  readonly name = 'memory check'
  readonly #limits: MemoryLimits
  readonly #measure: () => number
  readonly #onChange: (use: MemoryUse) => void
  #isHigh = false
  #collectedMs = Number.NEGATIVE_INFINITY

  constructor(limits: MemoryLimits, services: MemoryGuardServices) {
    this.#limits = limits
    this.#measure = services.measure ?? memoryPercent
    this.#onChange = services.onChange
  }

  get isHigh(): boolean {
    return this.#isHigh
  }

  /** As it is now. Whether it is short is decided by the checks alone. */
  use(): MemoryUse {
    return { percent: rounded(this.#measure()), isHigh: this.#isHigh }
  }

  async tick(): Promise<MemoryUse> {
    const { thresholdPercent, checkIntervalMs } = this.#limits
    let percent = this.#measure()
    // Everything stands still meanwhile, so not at every look.
    if (percent > thresholdPercent && monotonicMs() - this.#collectedMs >= checkIntervalMs) {
      this.#collectedMs = monotonicMs()
      collectGarbage()
      percent = this.#measure()
    }
    const use = { percent: rounded(percent), isHigh: percent > thresholdPercent }
    if (use.isHigh !== this.#isHigh) {
      this.#isHigh = use.isHigh
      this.#onChange(use)
    }
    return use
  }

  delayAfter({ isHigh }: MemoryUse): number {
    const { checkIntervalMs } = this.#limits
    return isHigh ? Math.min(SHORT_INTERVAL_MS, checkIntervalMs) : checkIntervalMs
  }
}

const rounded = (percent: number): number => Math.round(percent * 10) / 10

function memoryPercent(): number {
  const heap = getHeapStatistics()
  const container = process.constrainedMemory()
  const shares = [heap.used_heap_size / heap.heap_size_limit]
  // Without a limit of its own it reports none, or one beyond what any machine has.
  if (container > 0 && container < 2 ** 50) shares.push(process.memoryUsage.rss() / container)
  return Math.max(...shares) * 100
}

let collect: (() => void) | undefined

function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
    setFlagsFromString('--no-expose-gc')
  }
  collect()
}
