// Pauses `bulk` while an organization starves in `critical`. Every worker process looks by itself, and they share one pause.
//
// If the process dies, the pause ends by itself within a minute. Pauses of other actors stand beside it.
import type { Job, Logger, Mechanism, Millrace } from 'millrace'

const BY = 'dartwing'
const PAUSE_FOR = '1m'
const LOOK_EVERY_MS = 5_000
/** These are somebody's decision, or the trouble of one service: no reason to stop the bulk work of all. */
const HELD: readonly Mechanism[] = ['breaker', 'pause', 'tenant', 'limit', 'rate', 'key_limit', 'order', 'budget']

export interface DegradationOptions {
  /** How long a due job may wait while no other of its organization has started. Default 15 s. */
  readonly starvesAfterMs?: number
}

/** Looks at who starves. */
export class Degradation {
  readonly #millrace: Millrace
  readonly #starvesAfterMs: number
  #starvedBefore = new Set<string>()
  #isPaused = false

  constructor(millrace: Millrace, { starvesAfterMs = 15_000 }: DegradationOptions = {}) {
    this.#millrace = millrace
    this.#starvesAfterMs = starvesAfterMs
  }

  /** Starving at two looks in a row pauses bulk. Returns who starves. */
  async tick(nowMs = Date.now()): Promise<string[]> {
    const starving = await this.#starving(nowMs)
    const lasting = starving.filter((organization) => this.#starvedBefore.has(organization))
    this.#starvedBefore = new Set(starving)
    if (lasting.length > 0) await this.#pause(lasting)
    else if (this.#isPaused && starving.length === 0) await this.#resume()
    return starving
  }

  /** Cheap as long as no critical job is late. */
  async #starving(nowMs: number): Promise<string[]> {
    const isLate = (at: Date | null) => at !== null && nowMs - at.getTime() > this.#starvesAfterMs
    const stats = await this.#millrace.stats()
    const late = stats.tenants.filter(({ queue, oldestDueAt }) => queue === 'critical' && isLate(oldestDueAt))
    if (late.length === 0) return []
    const running = await this.#millrace.jobs({ queue: 'critical', status: 'processing', limit: 1_000 })
    const hasJustStarted = (organization: string) =>
      running.some(({ tenant, startedAt }) => tenant === organization && !isLate(startedAt))
    const found: string[] = []
    for (const { tenant } of late) if (!hasJustStarted(tenant) && !(await this.#isHeld(tenant))) found.push(tenant)
    return found
  }

  /** By a rule, and not by those that run before it. */
  async #isHeld(organization: string): Promise<boolean> {
    const oldest = await this.#oldest(organization)
    if (oldest === undefined) return true
    const { reasons } = await this.#millrace.explain(oldest.id)
    return reasons.some(({ mechanism }) => HELD.includes(mechanism))
  }

  async #oldest(tenant: string): Promise<Job | undefined> {
    const { jobs } = await this.#millrace.search.jobs('queue:critical status:pending', {
      tenant,
      order: 'oldest',
      limit: 1,
    })
    return jobs[0]
  }

  async #pause(organizations: readonly string[]): Promise<void> {
    this.#isPaused = true
    const who = organizations.slice(0, 3).join(', ')
    await this.#millrace.pauses.pause(
      { queue: 'bulk' },
      {
        by: BY,
        for: PAUSE_FOR,
        reason: `critical jobs of ${who} have waited for over ${this.#starvesAfterMs / 1_000} s`,
      },
    )
  }

  async #resume(): Promise<void> {
    this.#isPaused = false
    await this.#millrace.pauses.resume({ queue: 'bulk' }, { by: BY })
  }
}

/** Until it is stopped. */
export function startDegradation(
  millrace: Millrace,
  logger: Logger,
  options?: DegradationOptions,
): { stop(): Promise<void> } {
  const degradation = new Degradation(millrace, options)
  let looking: Promise<void> = Promise.resolve()
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    looking = degradation
      .tick()
      .then(
        () => {},
        (error: Error) => logger.warn({ error: error.message }, 'Dartwing could not look who starves'),
      )
      .finally(() => {
        isLooking = false
      })
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}
