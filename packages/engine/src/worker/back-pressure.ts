// Under overload queues that are not critical yield to those that are, in lanes that serve both.
import { type Clock, monotonicMs } from '../clock.ts'
import type { Queue } from '../contract/queue.ts'
import type { Events } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../store/db.ts'
import { jobNextDue } from '../store/job-claims.ts'
import { type WorkerOverload, workerOverload } from '../store/workers.ts'
import { type Lane, type LaneQueue, type Share, shareOut } from './lane.ts'
import { Overload, type OverloadLimits, OwnStrain, type Strain } from './overload.ts'

export interface BackPressureServices {
  db: Database
  clock: Clock
  events: Events
  logger: Logger
  workerId(): string
  /** Other claims are due now. */
  onChange(): void
  onError(during: string, error: unknown): void
}

export class BackPressure {
  readonly overload: Overload
  readonly #services: BackPressureServices
  readonly #own: OwnStrain
  readonly #watched: readonly { queue: LaneQueue; slaMs: number }[]
  readonly #yielding: readonly string[]
  #state: WorkerOverload | null = null
  #writtenFor: string | undefined

  /** Undefined: no lane serves critical queues beside others, so nothing could yield. */
  static of(
    { lanes, queues, limits }: { lanes: readonly Lane[]; queues: readonly Queue[]; limits: OverloadLimits },
    services: BackPressureServices,
  ): BackPressure | undefined {
    const mixed = lanes.filter(isMixed)
    if (mixed.length === 0) return undefined
    const slas = new Map(queues.filter(({ isCritical }) => isCritical).map(({ name, slaMs }) => [name, slaMs]))
    return new BackPressure({ mixed, slas, limits }, services)
  }

  private constructor(
    plan: { mixed: readonly Lane[]; slas: ReadonlyMap<string, number | undefined>; limits: OverloadLimits },
    services: BackPressureServices,
  ) {
    this.#services = services
    this.#own = new OwnStrain(plan.limits)
    const queues = plan.mixed.flatMap((lane) => lane.queues)
    this.#watched = queues.flatMap((queue) => {
      const slaMs = plan.slas.get(queue.name)
      return slaMs === undefined ? [] : [{ queue, slaMs }]
    })
    this.#yielding = [...new Set(queues.filter(({ isCritical }) => !isCritical).map(({ name }) => name))]
    this.overload = new Overload(plan.limits.checkIntervalMs, {
      measure: () => this.#measure(),
      onChange: (why, isOverloaded) => this.#changed(why, isOverloaded),
    })
  }

  claimTook(ms: number): void {
    this.#own.claimTook(ms)
  }

  shareOut(lane: Lane, count: number): Share[] {
    return this.overload.isOverloaded && isMixed(lane) ? yieldingShare(lane, count) : shareOut(lane, count)
  }

  close(): void {
    this.#own.close()
  }

  async #measure(): Promise<Strain[]> {
    // Under a new lease nobody knows of it yet.
    if (this.#state !== null && this.#writtenFor !== this.#services.workerId()) await this.#write()
    return [...this.#own.read(), ...(await this.#lateness())]
  }

  async #write(): Promise<void> {
    const { db, workerId } = this.#services
    this.#writtenFor = workerId()
    await workerOverload(db, this.#writtenFor, this.#state)
  }

  /** Of critical queues in which work waits that we could have. */
  async #lateness(): Promise<Strain[]> {
    const { db, clock } = this.#services
    const strains: Strain[] = []
    for (const { queue, slaMs } of this.#watched) {
      if (queue.isDrained) continue
      const { behind } = queue.entry({ byType: false }).enter(monotonicMs())
      const [next] = await jobNextDue(db, clock.databaseNow(), [{ queue: queue.name, behind }])
      const lateMs = Math.max(0, -(next?.waitMs ?? 0))
      const why = `a job of queue "${queue.name}" has waited for ${seconds(lateMs)}, and ${seconds(slaMs)} is its bound`
      strains.push({ share: lateMs / slaMs, why })
    }
    return strains
  }

  #changed(why: string, isOverloaded: boolean): void {
    const { events, logger, onChange, onError } = this.#services
    const queues = this.#yielding
    events.emit('overload', { why, isOverloaded })
    if (isOverloaded) logger.warn({ why, queues }, 'overloaded: queues that are not critical yield')
    else logger.info({ why, queues }, 'no longer overloaded: every queue has its share again')
    onChange()
    this.#state = isOverloaded ? { why, since: new Date(), queues } : null
    this.#write().catch((error: unknown) => onError('write down an overload', error))
  }
}

const isMixed = ({ queues }: Lane): boolean =>
  queues.some(({ isCritical }) => isCritical) && queues.some(({ isCritical }) => !isCritical)

/** While critical work waits, all free slots are for it; otherwise others fill at most half of the lane. */
export function yieldingShare(lane: Lane, count: number): Share[] {
  const critical = lane.queues.filter(({ isCritical }) => isCritical)
  if (critical.some(({ isDrained }) => !isDrained)) return shareOut(lane, count, critical)
  const taken = lane.running + lane.buffer.length
  return shareOut(lane, Math.min(count, Math.max(1, Math.floor(lane.slots / 2)) - taken))
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`
