// Keeps a number of worker processes at work: starts them, replaces those that die, stops and replaces them in order.
//
// It runs none of the workload's code itself, so that nothing but its own mistakes can end it. If it is killed, the
// processes notice and stop in order.
import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { Child, Exit } from './child.ts'
import type { RestartTimes } from './restart-pause.ts'
import { type ProcessStatus, Slot } from './slot.ts'
import { CrashLoop, StartFailed } from './verdict.ts'

interface ProcessEvent {
  /** From 1; it stays when the process is replaced. */
  process: number
  pid: number | null
  workerId: string | null
}

interface ProcessEnd extends ProcessEvent, Exit {
  ranMs: number
}

export interface SupervisorEvents {
  process_started: [ProcessEvent]
  process_ready: [ProcessEvent & { afterMs: number }]
  /** It ended without having been asked to. `error`: what it said about a start that failed. */
  process_died: [ProcessEnd & { restartInMs: number | null; error: string | null }]
  process_stopped: [ProcessEnd]
  /** Operators have asked every worker to stop, and all have. */
  all_left: []
  rolling_restart_started: [{ processes: number }]
  /** `isComplete` false: a successor did not become ready, or everything was stopped; the others were left as they are. */
  rolling_restart_ended: [{ replaced: number; isComplete: boolean }]
}

export interface SupervisorPlan {
  readonly processes: number
  readonly times: RestartTimes
  /** How long a process may take to stop before it is killed. */
  readonly stopMs: number
  fork(process: number): ChildProcess
}

/** So many deaths in a row before it was ready make a crash loop. */
const MAX_FAILED_STARTS = 5

export class Supervisor extends EventEmitter<SupervisorEvents> {
  /** Rejects when there is no sense in going on. */
  readonly failed: Promise<never>
  readonly #slots: readonly Slot[]
  #fail: (reason: Error) => void = () => {}
  #hasBeenReady = false
  #isStopping = false
  #rolling: Promise<void> | undefined
  #isRollWanted = false

  constructor(plan: SupervisorPlan) {
    super()
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => {})
    this.#slots = Array.from({ length: plan.processes }, (_, i) => this.#makeSlot(i + 1, plan))
  }

  get processes(): ProcessStatus[] {
    return this.#slots.map((slot) => slot.status)
  }

  /** Every process that has not ended, those that were replaced and are stopping too. */
  get alive(): Child[] {
    return this.#slots.flatMap((slot) => slot.alive)
  }

  /** Why no work can be done, or why not all of it ever will; or undefined. */
  obstacle(): string | undefined {
    const hopeless = this.#slots.find((slot) => slot.failedStarts >= MAX_FAILED_STARTS)
    if (hopeless !== undefined)
      return `process ${hopeless.number} died ${hopeless.failedStarts} times in a row before it was ready`
    if (this.#slots.some((slot) => slot.isReady)) return undefined
    return `no process is ready: ${this.processes.map(({ process, state }) => `${process} is ${state}`).join(', ')}`
  }

  start(): void {
    for (const slot of this.#slots) slot.start()
  }

  /** Replaces one process after the other. Wanted again meanwhile, it is done once more when it is through. */
  roll(): Promise<void> {
    this.#isRollWanted = true
    this.#rolling ??= this.#rollWhileWanted().finally(() => {
      this.#rolling = undefined
    })
    return this.#rolling
  }

  /** Asks every process to stop and waits until they are gone. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#slots.map((slot) => slot.stop()))
  }

  async kill(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#slots.map((slot) => slot.kill()))
  }

  async #rollWhileWanted(): Promise<void> {
    while (this.#isRollWanted && !this.#isStopping) {
      this.#isRollWanted = false
      this.emit('rolling_restart_started', { processes: this.#slots.length })
      let replaced = 0
      while (replaced < this.#slots.length && !this.#isStopping && (await this.#slots[replaced]?.replace())) replaced++
      const isComplete = replaced === this.#slots.length && !this.#isStopping
      this.emit('rolling_restart_ended', { replaced, isComplete })
    }
  }

  #makeSlot(number: number, { times, stopMs, fork }: SupervisorPlan): Slot {
    const about = ({ pid, workerId }: Child): ProcessEvent => ({ process: number, pid, workerId })
    const slot: Slot = new Slot({
      number,
      times,
      stopMs,
      fork: () => fork(number),
      onStarted: (child) => this.emit('process_started', about(child)),
      onReady: (child) => {
        this.#hasBeenReady = true
        this.emit('process_ready', { ...about(child), afterMs: child.ranMs })
      },
      onStopped: (child, exit) => {
        this.emit('process_stopped', { ...about(child), ...exit, ranMs: child.ranMs })
        if (this.#slots.every((each) => each.isLeft)) this.emit('all_left')
      },
      onDied: (child, exit, restartInMs) => {
        const error = child.failure?.text ?? null
        const end = slot.isVacant ? this.#judge(slot, child, exit) : undefined
        const pause = end === undefined ? restartInMs : null
        this.emit('process_died', { ...about(child), ...exit, ranMs: child.ranMs, restartInMs: pause, error })
        if (end !== undefined) this.#fail(end)
      },
    })
    return slot
  }

  /** A start that failed is final before anything ever ran: whoever started us is there to read why. */
  #judge(slot: Slot, { failure }: Child, exit: Exit): StartFailed | CrashLoop | undefined {
    if (failure !== undefined && (failure.kind === 'final' || !this.#hasBeenReady)) return new StartFailed(failure.text)
    const isLoop = slot.failedStarts >= MAX_FAILED_STARTS && !this.#slots.some((each) => each.isReady)
    return isLoop ? new CrashLoop(slot.number, slot.failedStarts, causeOf(exit)) : undefined
  }
}

/** "exit code 7" or "SIGKILL". */
export function causeOf({ code, signal }: Exit): string {
  return signal ?? (code === null ? 'it could not be started' : `exit code ${code}`)
}
