// The place of one worker process. Whoever dies in it is replaced, after a pause that grows while deaths follow each other.
import type { ChildProcess } from 'node:child_process'
import { Child, type ChildState, type Exit } from './child.ts'
import { type RestartTimes, restartPauseMs } from './restart-pause.ts'

export interface SlotPlan {
  readonly number: number
  readonly times: RestartTimes
  /** How long a process may take to stop before it is killed. */
  readonly stopMs: number
  fork(): ChildProcess
  onStarted(child: Child): void
  onReady(child: Child): void
  /** It ended because it was asked to, by us or by an operator. */
  onStopped(child: Child, exit: Exit): void
  /** It ended by itself. Another one starts after that time; null: its place is not empty, or not to be filled again. */
  onDied(child: Child, exit: Exit, restartInMs: number | null): void
}

export interface ProcessStatus {
  readonly process: number
  readonly pid: number | null
  readonly state: ChildState | 'waiting' | 'stopped'
  /** How often a process was started again in this place after a death. */
  readonly restarts: number
  readonly workerId: string | null
}

export class Slot {
  readonly #plan: SlotPlan
  /** Every process of this place that has not ended; one that was replaced may still be stopping. */
  readonly #alive = new Set<Child>()
  #current: Child | undefined
  #successor: Child | undefined
  #restart: NodeJS.Timeout | undefined
  #isStopping = false
  #isLeft = false
  #restarts = 0
  #deaths = 0
  #failedStarts = 0

  constructor(plan: SlotPlan) {
    this.#plan = plan
  }

  get number(): number {
    return this.#plan.number
  }

  get isVacant(): boolean {
    return this.#current === undefined
  }

  /** An operator asked its worker to stop: the place stays empty until `replace` fills it. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  /** Every process of this place that has not ended. */
  get alive(): readonly Child[] {
    return [...this.#alive]
  }

  get isReady(): boolean {
    return this.#current?.state === 'ready'
  }

  /** How many processes in a row died here before they were ready; those that waited for the database do not count. */
  get failedStarts(): number {
    return this.#failedStarts
  }

  get status(): ProcessStatus {
    const current = this.#current
    return {
      process: this.number,
      pid: current?.pid ?? null,
      state: current?.state ?? (this.#isStopping || this.#isLeft ? 'stopped' : 'waiting'),
      restarts: this.#restarts,
      workerId: current?.workerId ?? null,
    }
  }

  start(): void {
    this.#current = this.#fork()
  }

  /** Starts a successor, and stops the present process when it is ready. False: it did not become ready. */
  async replace(): Promise<boolean> {
    const old = this.#current
    if (this.#isLeft && !this.#isStopping) return this.#fillAgain()
    // Another empty place gets a new process anyway.
    if (old === undefined || this.#isStopping) return true
    const successor = this.#fork()
    this.#successor = successor
    if (!(await successor.becameReady)) return false
    // If the old one died meanwhile, its successor has its place already.
    if (this.#current === old) {
      this.#current = successor
      this.#successor = undefined
    }
    await old.stop(this.#plan.stopMs)
    return true
  }

  async stop(): Promise<void> {
    this.#noMoreRestarts()
    await Promise.all([...this.#alive].map((child) => child.stop(this.#plan.stopMs)))
  }

  async kill(): Promise<void> {
    this.#noMoreRestarts()
    await Promise.all([...this.#alive].map((child) => child.kill()))
  }

  #fillAgain(): Promise<boolean> {
    this.#isLeft = false
    this.#current = this.#fork()
    return this.#current.becameReady
  }

  #noMoreRestarts(): void {
    this.#isStopping = true
    clearTimeout(this.#restart)
  }

  #fork(): Child {
    const child = new Child(this.#plan.fork())
    this.#alive.add(child)
    this.#plan.onStarted(child)
    void child.becameReady.then((isReady) => {
      if (!isReady) return
      this.#failedStarts = 0
      this.#plan.onReady(child)
    })
    void child.ended.then((exit) => this.#ended(child, exit))
    return child
  }

  #ended(child: Child, exit: Exit): void {
    this.#alive.delete(child)
    if (child === this.#current) {
      this.#current = this.#successor
      this.#successor = undefined
    } else if (child === this.#successor) {
      this.#successor = undefined
    }
    if (child.isLeaving && this.isVacant) this.#isLeft = true
    if (child.isAsked || child.isLeaving) this.#plan.onStopped(child, exit)
    else this.#plan.onDied(child, exit, this.isVacant && !this.#isStopping ? this.#startAgain(child) : null)
  }

  #startAgain(dead: Child): number {
    if (!dead.hasBeenReady && dead.failure?.kind !== 'outage') this.#failedStarts++
    this.#deaths = dead.workedMs >= this.#plan.times.provenMs ? 1 : this.#deaths + 1
    const pauseMs = restartPauseMs(this.#deaths, this.#plan.times)
    this.#restart = setTimeout(() => {
      this.#restarts++
      this.start()
    }, pauseMs)
    return pauseMs
  }
}
