// What only this process knows: its slots, its memory, its event loop, and how often it was held back.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { type Events, version, type Worker } from 'millrace'
import { counter, gauge, type Values } from './families.ts'
import type { Family, Labels } from './family.ts'

const LOOP_RESOLUTION_MS = 20

export class ProcessCounts {
  readonly #process: string
  readonly #workers = new Set<Worker>()
  readonly #throttled = new Map<string, number>([
    ...['budget', 'memory', 'overload'].map((reason) => [reason, 0] as const),
  ])
  readonly #missed = new Map<string, number>()
  readonly #trips = new Map<string, number>()
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  #loopLagS = 0

  /** `process`: its number under a supervisor. */
  constructor(process: string) {
    this.#process = process
    this.#loop.enable()
  }

  watch(worker: Worker): void {
    this.#workers.add(worker)
  }

  /** Returns a function that stops it. */
  listen(events: Events): () => void {
    const stops = [
      events.on('budget_hold', () => add(this.#throttled, 'budget')),
      events.on('budget_hard_stop', () => add(this.#throttled, 'budget')),
      events.on('memory_pressure', ({ isHigh }) => isHigh && add(this.#throttled, 'memory')),
      events.on('overload', ({ isOverloaded }) => isOverloaded && add(this.#throttled, 'overload')),
      events.on('schedule_missed', ({ schedule, count }) => add(this.#missed, schedule, count)),
      events.on('breaker_opened', ({ service, isOwn }) => isOwn && add(this.#trips, service)),
    ]
    return () => {
      for (const stop of stops) stop()
      this.#loop.disable()
    }
  }

  /** Reads how late the event loop was since it was read before. */
  readLoop(): void {
    this.#loopLagS =
      this.#loop.count === 0 ? 0 : Math.max(0, this.#loop.percentile(99) / 1e9 - LOOP_RESOLUTION_MS / 1e3)
    this.#loop.reset()
  }

  families(): Family[] {
    return [...this.#counters(), ...this.#workerGauges(), ...this.#processGauges()]
  }

  #counters(): Family[] {
    return [
      counter(
        'millrace_queue_throttled_total',
        'Times at which jobs were held back: for want of budget (each job), of memory, or because of overload.',
        by('reason', this.#throttled),
      ),
      counter('millrace_cron_missed_total', 'Fire times that passed without a tick.', by('schedule', this.#missed)),
      counter('millrace_breaker_trips_total', 'Circuit breakers that this process opened.', by('service', this.#trips)),
    ]
  }

  #workerGauges(): Family[] {
    const lanes = [...this.#workers].flatMap((worker) => worker.lanes)
    const each = (read: (lane: Worker['lanes'][number]) => number): Values =>
      lanes.map((lane) => [{ lane: lane.name }, read(lane)])
    return [
      gauge(
        'millrace_worker_slots',
        'Jobs that can run at once, by lane.',
        each(({ slots }) => slots),
      ),
      gauge(
        'millrace_worker_slots_in_use',
        'Jobs that run, by lane.',
        each(({ running }) => running),
      ),
      gauge(
        'millrace_lane_utilization',
        'Share of the slots of a lane that is in use, from 0 to 1.',
        each(({ slots, running }) => running / slots),
        'average',
      ),
      gauge(
        'millrace_worker_heartbeat_timestamp_seconds',
        'When the lease of the worker was last renewed.',
        [...this.#workers].flatMap(({ heartbeatAt }) =>
          heartbeatAt === null ? [] : [[this.#labels, heartbeatAt.getTime() / 1_000] as const],
        ),
        'min',
      ),
      gauge(
        'millrace_worker_memory_ratio',
        "Memory in use, of the heap's limit or of the container's memory, whichever is fuller, from 0 to 1.",
        [...this.#workers].slice(0, 1).map(({ memoryPercent }) => [this.#labels, memoryPercent / 100]),
        'max',
      ),
    ]
  }

  #processGauges(): Family[] {
    return [
      gauge(
        'millrace_event_loop_lag_seconds',
        'How late the event loop was in the last 15 s: 99th percentile.',
        [[this.#labels, this.#loopLagS]],
        'max',
      ),
      gauge('millrace_build_info', 'Always 1.', [[{ version, node: process.version }, 1]], 'first'),
    ]
  }

  get #labels(): Labels {
    return this.#process === '' ? {} : { process: this.#process }
  }
}

const by = (label: string, counts: ReadonlyMap<string, number>): Values =>
  [...counts].map(([key, value]) => [{ [label]: key }, value])

function add(counts: Map<string, number>, key: string, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}
