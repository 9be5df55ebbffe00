import type { Run } from './run.ts'

/** Slots of this process for one queue, and the claimed jobs that wait for one. */
export class Lane {
  readonly queue: string
  readonly slots: number
  readonly pollIntervalMs: number
  /** Handlers under way, leaked ones included: a slot is free only when its handler has returned. */
  running = 0
  readonly buffer: Run[] = []
  /** Nothing was due when we last asked; cleared by a wake-up. */
  isDrained = false
  /** How often there was news of work: a claim that was under way meanwhile may have missed it. */
  wakeUps = 0

  constructor(options: { queue: string; slots: number; pollIntervalMs: number }) {
    this.queue = options.queue
    this.slots = options.slots
    this.pollIntervalMs = options.pollIntervalMs
  }

  get freeSlots(): number {
    return this.slots - this.running - this.buffer.length
  }
}
