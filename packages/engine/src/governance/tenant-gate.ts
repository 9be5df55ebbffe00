// What an enqueue asks about its tenant: may it have jobs at all, and has it too many?
//
// What is known of a tenant is remembered for a second, so that a busy process asks once. A job that slips in behind a
// suspension is held like those that were there before.
import { monotonicMs } from '../clock.ts'
import type { Queue, TenantJobs } from '../contract/queue.ts'
import { TenantSuspended } from '../errors.ts'
import type { Session } from '../store/db.ts'
import { type SeenTenant, tenantKnown, tenantSeen } from '../store/tenants.ts'

const REMEMBER_MS = 1_000
const MAX_REMEMBERED = 10_000

/** Where an enqueue asks about its tenants. */
export interface Asking {
  /** Code that holds a connection asks on that one. */
  readonly session?: Session | undefined
  /**
   * A transaction of the caller. Tenants that it sees are looked at in it, because it may have registered or changed them. The
   * others are registered outside: their rows would be locked until it ends.
   */
  readonly callers?: Session | undefined
}

interface Remembered {
  readonly untilMs: number
  readonly seen: SeenTenant | undefined
}

export class TenantGate {
  readonly #db: Session
  readonly #known = new Map<string, Remembered>()

  constructor(db: Session) {
    this.#db = db
  }

  /** Throws TenantSuspended if one of them may have no jobs. Unknown ones are registered. */
  async demand(tenants: readonly string[], { session = this.#db, callers }: Asking = {}): Promise<void> {
    const nowMs = monotonicMs()
    let unknown = tenants.filter((tenant) => (this.#known.get(tenant)?.untilMs ?? 0) <= nowMs)
    if (unknown.length > 0 && callers !== undefined) unknown = await this.#lookIn(callers, unknown)
    if (unknown.length > 0) await this.#ask(unknown, session)
    for (const tenant of tenants) {
      const seen = this.#known.get(tenant)?.seen
      if (seen !== undefined && seen.status !== 'active') throw new TenantSuspended(tenant, seen.status, seen.reason)
    }
  }

  /** After `demand`: how many jobs it may have in this queue. */
  limitOf(tenant: string, queue: Queue): TenantJobs | undefined {
    const own = this.#known.get(tenant)?.seen?.limits?.find(([name]) => name === queue.name)
    return own === undefined ? queue.tenantJobs : { max: own[1], over: own[2] }
  }

  forget(): void {
    this.#known.clear()
  }

  /** Those that the caller's transaction does not see. */
  async #lookIn(callers: Session, tenants: readonly string[]): Promise<string[]> {
    const known = new Map((await tenantKnown(callers, tenants)).map((each) => [each.name, each]))
    this.#remember(known.keys(), known, (seen) => !seen?.isNew)
    return tenants.filter((tenant) => !known.has(tenant))
  }

  #remember(
    tenants: Iterable<string>,
    seen: ReadonlyMap<string, SeenTenant>,
    isKept: (seen: SeenTenant | undefined) => boolean,
  ): void {
    if (this.#known.size > MAX_REMEMBERED) this.#known.clear()
    const untilMs = monotonicMs() + REMEMBER_MS
    for (const tenant of tenants) {
      const found = seen.get(tenant)
      this.#known.set(tenant, { untilMs: isKept(found) ? untilMs : 0, seen: found })
    }
  }

  async #ask(tenants: readonly string[], session: Session): Promise<void> {
    const seen = new Map((await tenantSeen(session, tenants)).map((each) => [each.name, each]))
    // A transaction may still roll back its registration: the next enqueue asks again.
    this.#remember(tenants, seen, (found) => session === this.#db || !found?.isNew)
  }
}
