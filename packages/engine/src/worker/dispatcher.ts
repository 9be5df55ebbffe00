// The runs of this process: claimed jobs go through their lane's buffer into a slot, and leave when they are settled.
import { monotonicMs } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { beganHere, endedHere } from '../governance/process-runs.ts'
import { type ClaimedJob, FEW_JOBS } from '../store/job-claims.ts'
import type { Board } from './board.ts'
import type { Lane, LaneGroup } from './lane.ts'
import { columnsOf } from './placed-columns.ts'
import type { Prefetch } from './prefetch.ts'
import type { PlacedJobs } from './pulse-protocol.ts'
import { Run } from './run.ts'
import { interruptRunSpan } from './run-span.ts'

/** A claimed job that found no slot for this long is given back: another process may have one. */
const STALE_MS = 500
/** Handlers that never wait hold up everything else in the process: others get their turn after this long. */
const START_FOR_MS = 5

export interface DispatcherServices {
  board: Board
  lanes: readonly Lane[]
  registry: Registry
  prefetch: Prefetch
  /** Tells the pulse what lies on the board. */
  announce(jobs: PlacedJobs): void
  /** May end before it returns: a handler need not be asynchronous. */
  execute(run: Run): void
  giveBack(run: Run, why: string): void
  /** A slot is free and nothing is waiting for it here. */
  onHungry(): void
}

export class Dispatcher {
  readonly #services: DispatcherServices
  readonly #runs = new Set<Run>()
  /** Lanes whose jobs are being started right now. */
  readonly #starting = new Set<Lane>()
  readonly #freePlaces: number[]
  #suspects = 0
  #idle: (() => void)[] = []

  constructor(services: DispatcherServices) {
    this.#services = services
    this.#freePlaces = Array.from({ length: services.board.size }, (_, i) => i)
  }

  get runs(): Iterable<Run> {
    return this.#runs
  }

  get hasSuspect(): boolean {
    return this.#suspects > 0
  }

  /** `group`: the lanes that were claimed for. */
  accept(jobs: readonly ClaimedJob[], runId: string, group: LaneGroup): void {
    const claimedAtMs = monotonicMs()
    const runs = jobs.map((job) => this.#place(job, runId, claimedAtMs, group.laneOf(job.queue)))
    this.#services.announce(columnsOf(runId, runs))
    for (const run of runs) {
      this.#services.board.put(run.place)
      if (run.isSuspect) run.lane.buffer.unshift(run)
      else run.lane.buffer.push(run)
    }
    const start = () => {
      for (const lane of new Set(runs.map((run) => run.lane))) this.#startNext(lane)
    }
    // The next claim is sent first, so that the database works while the handlers do: unless so few were found that
    // there is none to be sent.
    if (jobs.length > FEW_JOBS) setImmediate(start)
    else start()
  }

  /** The handler has returned: its slot is free. */
  returned(run: Run): void {
    run.lane.running--
    this.#clearPlace(run)
    if (run.isSuspect) this.#suspects--
    this.#services.prefetch.record(run.lane, run.job.type, monotonicMs() - run.startedAtMs)
    this.#startNext(run.lane)
    if (run.lane.freeSlots > 0 || run.lane.buffer.length < run.lane.slots) this.#services.onHungry()
    this.#settleIdle()
  }

  /** The run did not start after all: the pulse gave it back, or the lease is in doubt. */
  dropped(run: Run): void {
    run.lane.running--
    this.#clearPlace(run)
    if (run.isSuspect) this.#suspects--
    this.#startNext(run.lane)
    this.#services.onHungry()
    this.#settleIdle()
  }

  /** Its handler is given up: it keeps its slot until it returns, but the watchdog must not wait for it. */
  leaked(run: Run): void {
    this.#services.board.clear(run.place)
  }

  /** Its settlement is written, or given up. */
  forget(run: Run): void {
    if (this.#runs.delete(run)) endedHere(run.contract)
    this.#settleIdle()
  }

  /** The worker has stopped: what could not be settled is left to rescuers, and takes no place of the process. */
  forgetAll(): void {
    for (const run of this.#runs) {
      interruptRunSpan(run)
      this.forget(run)
    }
  }

  /** Gives back what has been waiting too long for a slot. */
  returnStale(): void {
    const now = monotonicMs()
    for (const lane of this.#services.lanes) {
      const oldest = lane.buffer[0]
      if (oldest === undefined || now - oldest.claimedAtMs < STALE_MS) continue
      this.#services.prefetch.pause(lane, now)
      this.#returnBuffer(lane, 'it waited too long for a slot')
    }
  }

  /** Gives back everything that has not started. */
  returnUnstarted(why: string): void {
    for (const lane of this.#services.lanes) this.#returnBuffer(lane, why)
  }

  abortAll(reason: unknown): void {
    for (const run of this.#runs) run.abort(reason)
  }

  /** Resolves when no handler is running and nothing is unsettled. */
  async idle(): Promise<void> {
    if (!this.#isIdle()) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #place(job: ClaimedJob, runId: string, claimedAtMs: number, lane: Lane): Run {
    const place = this.#freePlaces.pop()
    if (place === undefined) throw new Error('There is no place left on the board: more was claimed than can be held.')
    const { registry } = this.#services
    const contract = registry.get(job.type)
    const run = new Run(job, { runId, lane, place, claimedAtMs, contract, keys: registry.keys })
    this.#runs.add(run)
    beganHere(contract)
    if (run.isSuspect) this.#suspects++
    return run
  }

  /** A run that ends at once comes back here through `returned`, while we are at it: the loop goes on, not the stack. */
  #startNext(lane: Lane): void {
    if (this.#starting.has(lane)) return
    this.#starting.add(lane)
    try {
      const untilMs = monotonicMs() + START_FOR_MS
      while (lane.running < lane.slots && lane.buffer.length > 0) {
        const run = lane.buffer.shift() as Run
        lane.running++
        this.#services.execute(run)
        if (run.startedAtMs > untilMs) {
          setImmediate(() => this.#startNext(lane))
          break
        }
      }
    } finally {
      this.#starting.delete(lane)
    }
  }

  #returnBuffer(lane: Lane, why: string): void {
    for (const run of lane.buffer.splice(0)) {
      const isOurs = this.#services.board.start(run.place)
      this.#clearPlace(run)
      if (run.isSuspect) this.#suspects--
      if (isOurs) this.#services.giveBack(run, why)
      else this.forget(run)
    }
  }

  #clearPlace(run: Run): void {
    this.#services.board.clear(run.place)
    this.#freePlaces.push(run.place)
  }

  #isIdle(): boolean {
    return this.#runs.size === 0 && this.#services.lanes.every((lane) => lane.running === 0)
  }

  #settleIdle(): void {
    if (this.#idle.length > 0 && this.#isIdle()) for (const resolve of this.#idle.splice(0)) resolve()
  }
}
