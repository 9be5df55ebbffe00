// Lets keyed jobs be claimed: the next of an ordered key, as many of a limited key as have a place. And lets deferred jobs through, as
// many as their tenant may have more.
//
// Keyed and deferred jobs are written as blocked. Whoever has enqueued one, or has ended a run of one, has its key admitted here; all
// processes may do so at once. A key is locked first and counted in the next statement, which sees what the last holder
// of the lock has committed, so no limit is exceeded. Tenants come first: a job that is no longer deferred waits for its key. Nothing is lost if a process dies between its own write and the
// admission: the sweep walks over all keys with blocked jobs, again and again as long as there are any.
import type { Clock } from '../clock.ts'
import type { Database } from '../store/db.ts'
import type { KeyedRow } from '../store/job-changes.ts'
import type { QueuedJob } from '../store/job-claims.ts'
import {
  jobKeyOf,
  keyLock,
  keysWaiting,
  type LetThrough,
  limitAdmit,
  orderAdmit,
  tenantAdmit,
  type WorkKey,
  workKeysOf,
} from '../store/keyed-work.ts'
import type { Settlement } from '../store/settlements.ts'

/** Keys that are locked in one transaction. */
const BATCH = 100
/** Deferred jobs that one transaction lets through: a million in one would miss its deadline. */
const JOBS = 1_000
/** Keys that one sweep looks at. */
const SWEEP_KEYS = 256

export interface AdmitterServices {
  db: Database
  clock: Clock
  /** There are jobs to claim in these queues: these. */
  wake(queues: Iterable<string>, jobs: readonly QueuedJob[]): void
  onError(during: string, error: unknown): void
}

export interface SweepResult {
  admitted: number
  /** No key has blocked jobs. */
  isEmpty: boolean
  /** There are keys that this sweep has not looked at. */
  isMore: boolean
}

type Kind = WorkKey['kind']

export class Admitter {
  readonly #services: AdmitterServices
  #waiting = new Map<string, WorkKey>()
  #turn: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Where the walk over the keys of each kind goes on. */
  readonly #cursors = new Map<Kind, WorkKey>()
  #isSweepNeeded = true

  constructor(services: AdmitterServices) {
    this.#services = services
  }

  /** Whether there may be blocked jobs. A process that has seen none for a while need not look. */
  get isSweepNeeded(): boolean {
    return this.#isSweepNeeded
  }

  /** There are blocked jobs: the sweep has to look after them. */
  expectBlocked(): void {
    this.#isSweepNeeded = true
  }

  /** Resolves when these keys had their turn. Never fails: what could not be admitted is left to the sweep. */
  admit(keys: readonly WorkKey[]): Promise<void> {
    if (keys.length === 0) return Promise.resolve()
    this.#isSweepNeeded = true
    for (const key of keys) this.#waiting.set(nameOf(key), key)
    if (this.#turn === undefined && this.#next === undefined) {
      this.#turn = this.#takeTurn()
      return this.#turn
    }
    // What is under way has counted already, perhaps before the caller's write: these keys come after it.
    this.#next ??= Promise.resolve(this.#turn).then(() => {
      this.#next = undefined
      this.#turn = this.#takeTurn()
      return this.#turn
    })
    return this.#next
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#turn !== undefined || this.#next !== undefined) await (this.#next ?? this.#turn)
  }

  /** One window of the walk over all keys with blocked jobs: admits wherever there is room. */
  async sweep(): Promise<SweepResult> {
    let isEmpty = false
    this.#isSweepNeeded = false
    try {
      const swept: SweepResult[] = []
      for (const kind of ['tenant', 'order', 'limit'] as const) swept.push(await this.#sweepKind(kind))
      isEmpty = swept.every((each) => each.isEmpty)
      const admitted = swept.reduce((sum, each) => sum + each.admitted, 0)
      return { admitted, isEmpty, isMore: swept.some((each) => each.isMore) }
    } finally {
      if (!isEmpty) this.#isSweepNeeded = true
    }
  }

  /** The whole walk, from the beginning. */
  async sweepAll(): Promise<void> {
    this.#cursors.clear()
    while ((await this.sweep()).isMore);
  }

  async #sweepKind(kind: Kind): Promise<SweepResult> {
    const { db, clock } = this.#services
    const behind = this.#cursors.get(kind)
    const keys = await keysWaiting(db, clock.databaseNow(), kind, { behind, limit: SWEEP_KEYS })
    const last = keys.at(-1)
    const isMore = keys.length === SWEEP_KEYS
    if (isMore && last !== undefined) this.#cursors.set(kind, last)
    else this.#cursors.delete(kind)
    const admitted = await this.#admitAll(keys.filter(({ isFree }) => isFree))
    return { admitted, isEmpty: behind === undefined && keys.length === 0, isMore }
  }

  async #takeTurn(): Promise<void> {
    const keys = [...this.#waiting.values()]
    this.#waiting = new Map()
    try {
      await this.#admitAll(keys)
    } catch (error) {
      this.#services.onError('admit', error)
    } finally {
      this.#turn = undefined
    }
  }

  async #admitAll(keys: readonly WorkKey[]): Promise<number> {
    const wanted = new Map(keys.filter(({ kind }) => kind !== 'tenant').map((key) => [nameOf(key), key]))
    let admitted = 0
    for (const batch of batchesOf(keys.filter(({ kind }) => kind === 'tenant'))) {
      let through: LetThrough[]
      do {
        through = await this.#letThrough(batch)
        admitted += through.length
        for (const key of through.flatMap((job) => jobKeyOf(job) ?? [])) wanted.set(nameOf(key), key)
      } while (through.length >= JOBS)
    }
    for (const batch of batchesOf([...wanted.values()])) admitted += await this.#admitBatch(batch)
    return admitted
  }

  async #letThrough(tenants: readonly WorkKey[]): Promise<LetThrough[]> {
    const { db, clock } = this.#services
    const through = await db.transaction(async (tx) => {
      await keyLock(tx, tenants)
      return tenantAdmit(tx, clock.databaseNow(), { keys: tenants, limit: JOBS })
    })
    this.#wake(through.filter(({ status }) => status === 'pending'))
    return through
  }

  async #admitBatch(keys: readonly WorkKey[]): Promise<number> {
    const { db, clock } = this.#services
    const of = (kind: Kind) => keys.filter((key) => key.kind === kind)
    const [orders, limits] = [of('order'), of('limit')]
    const admitted = await db.transaction(async (tx) => {
      await keyLock(tx, keys)
      const now = clock.databaseNow()
      const heads = orders.length === 0 ? [] : await orderAdmit(tx, now, orders)
      const others = limits.length === 0 ? [] : await limitAdmit(tx, now, limits)
      return [...heads, ...others]
    })
    this.#wake(admitted)
    return admitted.length
  }

  #wake(jobs: readonly QueuedJob[]): void {
    if (jobs.length > 0) this.#services.wake(new Set(jobs.map(({ queue }) => queue)), jobs)
  }
}

function* batchesOf(keys: readonly WorkKey[]): Generator<readonly WorkKey[]> {
  for (let from = 0; from < keys.length; from += BATCH) yield keys.slice(from, from + BATCH)
}

/**
 * The keys in which the end of a run makes room for others. An ordered key goes on, and a deferred job of the tenant is let through,
 * only when the job is over. A limited key has a place as soon as the job waits for its time; a job that is only given back keeps its place.
 */
export function keysWithRoom(job: Omit<KeyedRow, 'id'>, settlement: Settlement): WorkKey[] {
  const keys = workKeysOf(job)
  if (settlement.kind !== 'requeue') return keys
  return keys.filter(({ kind }) => kind === 'limit' && settlement.delayMs !== null)
}

const nameOf = ({ kind, queue, tenant, key }: WorkKey): string => JSON.stringify([kind, queue, tenant ?? '', key])
