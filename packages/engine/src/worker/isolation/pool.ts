// The processes of one isolated job type. Some are kept ready; a run that finds none starts one, so there are never more
// than the lane has slots. A process is used again after a run that ended, however it ended; after a kill or a crash
// there is a new one.
import { type Clock, monotonicMs } from '../../clock.ts'
import { WorkerStopping } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { Run } from '../run.ts'
import { type ChildPlan, IsolatedChild } from './child-process.ts'
import { type IsolatedHandler, isolatedHandler } from './isolated-run.ts'

export interface PoolSettings extends ChildPlan {
  warm: number
  /** A process beyond the warm ones that had nothing to do for so long is ended. */
  idleMs: number
  /** Then a process is replaced, for whatever its handler leaks. */
  maxRuns: number
}

export class IsolatedPool {
  readonly #settings: PoolSettings
  readonly #logger: Logger
  readonly #children = new Set<IsolatedChild>()
  /** Not in use; perhaps still starting. The one used last is at the end, and used next. */
  readonly #idle: IsolatedChild[] = []
  #trimTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(settings: PoolSettings, logger: Logger) {
    this.#settings = settings
    this.#logger = logger
  }

  /** Starts the warm processes, one at least: a module that cannot be used is found out now, not by the first job. */
  async start(): Promise<void> {
    if (this.#isClosed) throw new WorkerStopping()
    while (this.#children.size < Math.max(1, this.#settings.warm)) this.#idle.push(this.#spawn())
    await Promise.all([...this.#children].map((child) => child.ready))
    this.#trimLater()
  }

  get size(): number {
    return this.#children.size
  }

  /** Takes a process that is ready for this run; the returned handler gives it back. */
  async handlerFor(run: Run, clock: Clock): Promise<IsolatedHandler> {
    if (this.#isClosed) throw new WorkerStopping()
    let child = this.#idle.pop()
    while (child?.isGone) child = this.#idle.pop()
    child ??= this.#spawn()
    const taken = child
    return isolatedHandler(taken, { run, clock, onReturned: () => this.#takeBack(taken) })
  }

  /** Ends every process and waits until it is gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#trimTimer)
    const idle = this.#idle.splice(0)
    for (const child of this.#children) if (!idle.includes(child) || !child.isReady) child.kill()
    await Promise.all([...idle.map((child) => child.stop()), ...[...this.#children].map((child) => child.exited)])
  }

  #spawn(): IsolatedChild {
    const child = new IsolatedChild(this.#settings)
    this.#children.add(child)
    void child.exited.then(() => this.#forget(child))
    return child
  }

  #takeBack(child: IsolatedChild): void {
    if (!this.#children.has(child)) return
    if (this.#isClosed || !child.isReady) child.kill()
    else if (child.isSpentAfter(this.#settings.maxRuns)) void child.stop()
    else {
      child.idleSinceMs = monotonicMs()
      this.#idle.push(child)
      this.#trimLater()
    }
  }

  #forget(child: IsolatedChild): void {
    this.#children.delete(child)
    const at = this.#idle.indexOf(child)
    if (at !== -1) this.#idle.splice(at, 1)
    if (this.#isClosed) return
    const { type, warm } = this.#settings
    // One that ended before its first run would do so again and again: the next job tries, and fails if it must.
    if (child.runs > 0 && this.#children.size < warm) this.#idle.push(this.#spawn())
    if (child.runs === 0 && !child.isStopping)
      this.#logger.warn({ type }, 'an isolated process ended before its first run')
  }

  #trimLater(): void {
    if (this.#isClosed || this.#children.size <= this.#settings.warm) return
    this.#trimTimer ??= setTimeout(() => {
      this.#trimTimer = undefined
      this.#trim()
      this.#trimLater()
    }, this.#settings.idleMs).unref()
  }

  #trim(): void {
    const longAgo = monotonicMs() - this.#settings.idleMs
    let surplus = this.#children.size - this.#settings.warm
    while (surplus-- > 0 && (this.#idle[0]?.idleSinceMs ?? Number.POSITIVE_INFINITY) <= longAgo) {
      void this.#idle.shift()?.stop()
    }
  }
}
