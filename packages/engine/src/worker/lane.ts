import { monotonicMs } from '../clock.ts'
import { QueueEntry } from '../queue-entry.ts'
import type { Position } from '../store/job-claims.ts'
import type { Run } from './run.ts'

/** A job type as a lane runs it. */
export interface LaneType {
  readonly type: string
  readonly timeoutMs: number
  /** From the claim on; then the run is called stuck. */
  readonly stuckAfterMs: number
}

/** A queue as one lane sees it. */
export class LaneQueue {
  readonly name: string
  /** Its share of the lane's slots, against the lane's other queues. */
  readonly weight: number
  readonly pollIntervalMs: number
  /** Under overload the lane's other queues yield to it. */
  readonly isCritical: boolean
  /** It is known, since it was drained, when to look again. */
  isDueKnown = false
  #isDrained = false
  /** When to look again, although no wake-up has come: for a poll or a due time. */
  #lookAtMs = Number.POSITIVE_INFINITY
  /** Since when it may have held work without a break; while it is drained: of no meaning. */
  #busySinceMs = monotonicMs()
  /** How often there was news of work: a claim that was under way meanwhile may have missed it. */
  wakeUps = 0
  /** What it is owed by the round robin. */
  credit = 0
  readonly #entry = new QueueEntry('priority')
  readonly #entryByType = new QueueEntry('type')

  constructor(options: { name: string; weight: number; pollIntervalMs: number; isCritical?: boolean }) {
    this.name = options.name
    this.weight = options.weight
    this.pollIntervalMs = options.pollIntervalMs
    this.isCritical = options.isCritical ?? false
  }

  /** Nothing was due when we last asked; cleared by a wake-up. */
  get isDrained(): boolean {
    return this.#isDrained
  }

  get lookAtMs(): number {
    return this.#lookAtMs
  }

  /** How long it has not been seen empty. */
  get busyMs(): number {
    return this.#isDrained ? 0 : monotonicMs() - this.#busySinceMs
  }

  /** Where claims enter it, all types together or type by type. */
  entry({ byType }: { byType: boolean }): QueueEntry {
    return byType ? this.#entryByType : this.#entry
  }

  /** These jobs wait in it, perhaps before what was claimed from it last. */
  goBackTo(jobs: readonly Position[]): void {
    for (const job of jobs) for (const entry of [this.#entry, this.#entryByType]) entry.goBackTo(job)
  }

  wake(): void {
    if (this.#isDrained) this.#busySinceMs = monotonicMs()
    this.#isDrained = false
    this.wakeUps++
  }

  drained(): void {
    this.#isDrained = true
    this.isDueKnown = false
  }

  /** Look again in so many milliseconds at the latest; true if that is earlier than before. */
  lookIn(ms: number): boolean {
    const atMs = monotonicMs() + ms
    if (atMs >= this.#lookAtMs) return false
    this.#lookAtMs = atMs
    return true
  }

  /** Wakes if the time to look has come. */
  wakeIfDue(nowMs: number): void {
    if (nowMs < this.#lookAtMs) return
    this.#lookAtMs = Number.POSITIVE_INFINITY
    this.wake()
  }
}

/** Slots of this process for one or more queues, and the claimed jobs that wait for one. */
export class Lane {
  readonly name: string
  readonly slots: number
  readonly queues: readonly LaneQueue[]
  /** What it may run. Lanes that may run the same share the list. */
  readonly types: readonly LaneType[]
  /** Its queues hold types that it leaves to other lanes. */
  readonly isSelective: boolean
  /** Jobs per claim at most. */
  readonly batchSize: number
  /** Handlers under way, leaked ones included: a slot is free only when its handler has returned. */
  running = 0
  readonly buffer: Run[] = []
  readonly #byType: Map<string, LaneType>

  constructor(options: Pick<Lane, 'name' | 'slots' | 'queues' | 'types' | 'isSelective' | 'batchSize'>) {
    this.name = options.name
    this.slots = options.slots
    this.queues = options.queues
    this.types = options.types
    this.isSelective = options.isSelective
    this.batchSize = options.batchSize
    this.#byType = new Map(options.types.map((each) => [each.type, each]))
  }

  get freeSlots(): number {
    return this.slots - this.running - this.buffer.length
  }

  knows(type: string): boolean {
    return this.#byType.has(type)
  }

  typeOf(type: string): LaneType {
    return this.#byType.get(type) as LaneType
  }
}

export interface Share {
  lane: Lane
  queue: LaneQueue
  limit: number
}

/**
 * Divides `count` slots among the lane's queues that may hold work, by smooth weighted round robin: what a queue did
 * not get now counts for it next time, and no slot is kept for a queue that is empty.
 */
export function shareOut(lane: Lane, count: number, among = lane.queues): Share[] {
  const queues = among.filter((queue) => !queue.isDrained)
  const [only] = queues
  if (only === undefined || count <= 0) return []
  if (queues.length === 1) return [{ lane, queue: only, limit: count }]
  const limits = new Map<LaneQueue, number>()
  const total = queues.reduce((sum, queue) => sum + queue.weight, 0)
  for (let slot = 0; slot < count; slot++) {
    for (const queue of queues) queue.credit += queue.weight
    const next = queues.reduce((best, queue) => (queue.credit > best.credit ? queue : best))
    next.credit -= total
    limits.set(next, (limits.get(next) ?? 0) + 1)
  }
  return [...limits].map(([queue, limit]) => ({ lane, queue, limit }))
}

/** Lanes whose claims go into one statement: they may run the same types, and no queue is served by two of them. */
export class LaneGroup {
  readonly lanes: Lane[]
  readonly #byQueue = new Map<string, Lane>()

  constructor(first: Lane) {
    this.lanes = []
    this.add(first)
  }

  get types(): readonly LaneType[] {
    return (this.lanes[0] as Lane).types
  }

  get isSelective(): boolean {
    return this.lanes.some((lane) => lane.isSelective)
  }

  takes(lane: Lane): boolean {
    return lane.types === this.types && lane.queues.every((queue) => !this.#byQueue.has(queue.name))
  }

  add(lane: Lane): void {
    this.lanes.push(lane)
    for (const queue of lane.queues) this.#byQueue.set(queue.name, lane)
  }

  serves(queue: string): boolean {
    return this.#byQueue.has(queue)
  }

  knows(type: string): boolean {
    return (this.lanes[0] as Lane).knows(type)
  }

  laneOf(queue: string): Lane {
    return this.#byQueue.get(queue) as Lane
  }
}

/** As few groups as possible. Selective lanes come first: what they may take should not fill the slots of others. */
export function groupLanes(lanes: readonly Lane[]): LaneGroup[] {
  const groups: LaneGroup[] = []
  for (const lane of lanes) {
    const fitting = groups.find((group) => group.takes(lane))
    if (fitting === undefined) groups.push(new LaneGroup(lane))
    else fitting.add(lane)
  }
  return groups.sort((a, b) => Number(b.isSelective) - Number(a.isSelective))
}
