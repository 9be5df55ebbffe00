// What a process remembers of a governed queue from one claim to the next.
import { monotonicMs } from '../clock.ts'
import { Beyond } from '../long-walk.ts'
import { QueueEntry } from '../queue-entry.ts'
import type { Position } from '../store/job-claims.ts'
import { Balance } from './balance.ts'
import { Turns } from './turns.ts'

/** How long a job is passed over that somebody else held. */
const MISSED_MS = 500
/** A queue in which no job of a tenant was seen for this long is claimed as a plain one again. */
const SHARED_MS = 60_000

/** Pauses and limits leave out now these types, now those: of so many sets it is known where to look. */
const MAX_ENTRIES = 8
const MS_PER_JOB_SEEN = 0.002

/** What the last committed claim knew about the tenants of a queue. */
export interface LastClaim {
  /** How many jobs of each ran after it, those that it took included. */
  readonly running: ReadonlyMap<string, number>
  /** Tenants whose parked jobs may be claimed again. */
  readonly letGo: ReadonlySet<string>
}

/** What is known about a queue from the last look. */
export class QueueMemory {
  /** The last claim found little. */
  isQuiet = true
  /** How many there are, as far as is known. */
  streams = Number.POSITIVE_INFINITY
  byTypeUntilMs = 0
  vainLooks = 0
  sharedUntilMs = 0
  parkingRestsUntilMs = 0
  lastClaim: LastClaim = { running: new Map(), letGo: new Set() }
  readonly turns = new Turns()
  readonly balance = new Balance()
  /** What a look took beyond its jobs. */
  readonly beyond = new Beyond({ msPerRow: MS_PER_JOB_SEEN })
  /** By the types that were looked for: where those of one set have all been taken, others may wait. */
  readonly #entries = new Map<string, QueueEntry>()
  readonly #missed = new Map<string, number>()

  /** Where looks for these types begin. */
  entryFor(types: readonly string[]): QueueEntry {
    const key = JSON.stringify([...types].sort())
    const entry = this.#entries.get(key) ?? new QueueEntry('tenant')
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MAX_ENTRIES) this.#entries.delete(oldest as string)
    return entry
  }

  /** This job waits, perhaps before what was claimed last. */
  goBackTo(job: Position): void {
    for (const entry of this.#entries.values()) entry.goBackTo(job)
  }

  /** What was chosen and could not be taken: somebody else holds those rows, perhaps for long. */
  missed(chosen: readonly { id: string }[], taken: readonly { id: string }[]): void {
    const mine = new Set(taken.map(({ id }) => id))
    const untilMs = monotonicMs() + MISSED_MS
    for (const { id } of chosen) if (!mine.has(id)) this.#missed.set(id, untilMs)
  }

  heldElsewhere(): string[] {
    const nowMs = monotonicMs()
    for (const [id, untilMs] of this.#missed) if (untilMs <= nowMs) this.#missed.delete(id)
    return [...this.#missed.keys()]
  }

  /** Jobs of tenants wait in it. */
  sawTenants(): void {
    this.sharedUntilMs = monotonicMs() + SHARED_MS
  }
}
