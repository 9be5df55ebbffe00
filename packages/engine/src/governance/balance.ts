// Who has used more of the slots than its share, as one process remembers it.
//
// Places are whole: whoever is owed 6.7 of them has 6 or 7. Each tenant's runs are added up, by time and for its weight,
// and whoever is beyond the mean of those that compete with it is rounded down until it no longer is: so in the long run
// shares are exact. A claim counts what the jobs will take, judged by the last ones; their end corrects it. Time in a
// buffer does not count: whoever is claimed first waits less there, and would seem to have used less.
//
// Whoever did not compete starts at the mean: nobody saves up by being idle or held back by a limit, and nobody waits for
// what it had while no one else wanted it.

/** What is more than its share of that long is forgotten: nobody waits longer for what it has had. */
const REMEMBERED_MS = 60_000
const MAX_REMEMBERED = 20_000
/** How much the last run tells about the next one. */
const NEWS = 1 / 16

/** A tenant that would have taken more, after a claim. */
export interface Rival {
  readonly tenant: string | null
  readonly weight: number
  readonly held: number
}

interface Account {
  weight: number
  /** Run time, for its weight. */
  usedMs: number
  typicalMs: number
  isRival: boolean
}

export class Balance {
  readonly #accounts = new Map<string | null, Account>()
  #rivals: readonly Account[] = []
  /** What the rivals have used in the mean. */
  #meanMs = 0
  /** How far from the mean an account may be. */
  #reachMs = Number.POSITIVE_INFINITY
  #typicalMs = 0

  /** Before a claim. */
  settle(): void {
    const weight = this.#rivals.reduce((sum, rival) => sum + rival.weight, 0)
    if (weight === 0) return
    this.#meanMs = this.#rivals.reduce((sum, rival) => sum + (rival.usedMs * rival.weight) / weight, 0)
    for (const rival of this.#rivals) rival.usedMs = this.#remembered(rival)
  }

  isAhead(tenant: string | null): boolean {
    const account = this.#accounts.get(tenant)
    return account?.isRival === true && account.usedMs > this.#meanMs
  }

  /** A job of it was taken. */
  take(tenant: string | null, weight: number): void {
    const account = this.#accounts.get(tenant) ?? this.#open(tenant)
    account.weight = weight
    account.usedMs = this.#remembered(account) + account.typicalMs / weight
  }

  /** A job of it that was taken did not start. */
  returned(tenant: string | null): void {
    const account = this.#accounts.get(tenant)
    if (account !== undefined) account.usedMs -= account.typicalMs / account.weight
  }

  /** A run of it is over. */
  ran(tenant: string | null, ms: number): void {
    const account = this.#accounts.get(tenant)
    if (account === undefined) return
    account.usedMs += (ms - account.typicalMs) / account.weight
    account.typicalMs += (ms - account.typicalMs) * NEWS
    this.#typicalMs += (ms - this.#typicalMs) * NEWS
  }

  /** After a claim. */
  compete(rivals: readonly Rival[]): void {
    const accounts = rivals.map(({ tenant, weight }) => {
      const account = this.#accounts.get(tenant) ?? this.#open(tenant)
      account.usedMs = account.isRival ? this.#remembered(account) : this.#meanMs
      account.weight = weight
      return account
    })
    for (const account of this.#rivals) account.isRival = false
    for (const account of accounts) account.isRival = true
    this.#rivals = accounts
    const held = rivals.reduce((sum, rival) => sum + rival.held, 0)
    const weight = rivals.reduce((sum, rival) => sum + rival.weight, 0)
    if (weight > 0) this.#reachMs = (held / weight) * REMEMBERED_MS
    if (this.#accounts.size > MAX_REMEMBERED) this.#forget()
  }

  #open(tenant: string | null): Account {
    const account = { weight: 1, usedMs: this.#meanMs, typicalMs: this.#typicalMs, isRival: false }
    this.#accounts.set(tenant, account)
    return account
  }

  /** Only those that compete are owed anything. */
  #remembered({ usedMs, isRival }: Account): number {
    const least = isRival ? this.#meanMs - this.#reachMs : this.#meanMs
    return Math.max(least, Math.min(usedMs, this.#meanMs + this.#reachMs))
  }

  #forget(): void {
    for (const [tenant, { isRival }] of this.#accounts) if (!isRival) this.#accounts.delete(tenant)
  }
}
