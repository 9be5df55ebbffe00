// Jobs of tenants that may not run leave the walk of governed claims: suspended and paused tenants, tenants that hold all the slots
// they may, tenants whose rate is used up. Thousands of them would otherwise be passed over by every claim.
//
// A claim parks what it was in the way of, under the queue's lock, and lets it go again: at a time that is known beforehand; when
// fewer jobs of the tenant run than after the last claim; when the rules have changed; and, because a process may have died before it
// could say so, whenever nobody has looked for a while. What is still held back then is parked again.
import type { Now } from '../clock.ts'
import { monotonicMs } from '../clock.ts'
import type { Session } from '../store/db.ts'
import type { Standing } from '../store/governed-claims.ts'
import { governedPark, governedParked, governedParkedChecked, governedUnpark, type Held } from '../store/parked-jobs.ts'
import type { Look } from './look.ts'
import type { QueueMemory } from './queue-memory.ts'
import type { Round } from './round.ts'

/** To pass over fewer tenants costs less than to rewrite their jobs. */
const MIN_HELD = 8
const BATCH = 2_000
/** How long the walk is left alone after what is in its way could not be parked. */
const REST_MS = 5_000
/** How long parked tenants may go unseen if nothing has changed. */
const CHECK_S = 30
/** Another transaction may hold the row of a due parked job. */
const LEAST_WAIT_MS = 100

export class Parking {
  readonly #tx: Session
  readonly #queue: string
  readonly #now: Now
  readonly #memory: QueueMemory
  readonly #running = new Map<string, number>()
  readonly #letGo = new Set<string>()
  #hasLooked = false
  #hasChecked = false

  constructor(tx: Session, { queue, now, memory }: { queue: string; now: Now; memory: QueueMemory }) {
    this.#tx = tx
    this.#queue = queue
    this.#now = now
    this.#memory = memory
  }

  /** Before the look. True: there is more to let go. */
  async letGo(round: Round, standing: Standing): Promise<boolean> {
    const { lastClaim } = this.#memory
    const { parkedUntilS, nowS } = standing
    this.#hasLooked = true
    for (const [tenant, , jobs] of standing.running ?? []) this.#count(tenant, jobs)
    if (parkedUntilS === null) return false
    for (const tenant of lastClaim.letGo) this.#letGo.add(tenant)
    for (const [tenant, jobs] of lastClaim.running) if (this.#runningOf(tenant) < jobs) this.#letGo.add(tenant)
    await this.#check(round, standing)
    const rooms = new Map([...this.#letGo].map((tenant) => [tenant, round.roomOf(tenant)]))
    for (const [tenant, room] of rooms) if (room <= 0) rooms.delete(tenant)
    if (rooms.size === 0 && parkedUntilS > nowS) return false
    const jobs = await governedUnpark(this.#tx, this.#now, { queue: this.#queue, rooms, limit: BATCH })
    for (const job of jobs) this.#memory.goBackTo(job)
    if (jobs.length >= BATCH) return true
    this.#letGo.clear()
    return false
  }

  /** A job that starts now may have ended before the next claim, which must see that. */
  took(jobs: readonly { tenant: string | null }[]): void {
    for (const { tenant } of jobs) this.#count(tenant, 1)
  }

  /** The process remembers only a claim that was committed: after a rollback the same runs have yet to be seen as ended. */
  committed(): void {
    if (this.#hasLooked) this.#memory.lastClaim = { running: this.#running, letGo: this.#letGo }
  }

  #count(tenant: string | null, jobs: number): void {
    if (tenant !== null) this.#running.set(tenant, this.#runningOf(tenant) + jobs)
  }

  #runningOf(tenant: string): number {
    return this.#running.get(tenant) ?? 0
  }

  /** Whom the rules hold back no more. */
  async #check(round: Round, { version, parkedVersion, parkedCheckedS, nowS }: Standing): Promise<void> {
    const areRulesNew = version !== parkedVersion
    if (!areRulesNew && nowS - (parkedCheckedS ?? 0) < CHECK_S) return
    for (const { tenant, isLasting } of await governedParked(this.#tx, this.#queue)) {
      if ((isLasting || areRulesNew) && round.roomOf(tenant) > 0) this.#letGo.add(tenant)
    }
    await governedParkedChecked(this.#tx, this.#now, this.#queue, version)
    this.#hasChecked = true
  }

  /** How long until a claim has to let parked jobs go, or to look at all parked tenants. */
  waitMs({ parkedUntilS, parkedCheckedS, nowS }: Standing): number {
    if (parkedUntilS === null) return Number.POSITIVE_INFINITY
    const checkedS = this.#hasChecked ? nowS : (parkedCheckedS ?? nowS)
    return Math.max(LEAST_WAIT_MS, (Math.min(parkedUntilS, checkedS + CHECK_S) - nowS) * 1_000)
  }

  /** After the choice. True: what was in the way is so no more. */
  async park(round: Round, look: Look): Promise<boolean> {
    const memory = this.#memory
    if (monotonicMs() < memory.parkingRestsUntilMs) return false
    const walked = new Set(look.seen.flatMap(([nth, tenant]) => (nth > 0 && tenant !== null ? tenant : [])))
    const refused = round.refusedTenants()
    const isInTheWay =
      [...walked].filter((tenant) => round.weights.get(tenant) === 0).length + refused.length >= MIN_HELD
    if (!isInTheWay) return false
    const held: Held[] = [...round.heldTenants(), ...refused]
    const parked = await governedPark(this.#tx, this.#now, { queue: this.#queue, held, limit: BATCH })
    if (parked < MIN_HELD) memory.parkingRestsUntilMs = monotonicMs() + REST_MS
    return parked > 0
  }
}
