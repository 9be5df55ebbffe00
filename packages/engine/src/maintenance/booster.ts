// Lets jobs come up that have waited for long behind others of better priority, so that none waits for ever.
//
// Runs every minute in every worker process, for those of its queues that have not been empty for a minute: elsewhere
// nobody waits for long. One process at a time, by a lock that is tried; the others leave it at that. A few jobs at a time:
// were a whole backlog to come up at once, it would stand before what is urgent. Each statement is one transaction; if it
// dies, nothing has happened, and the next pass, anywhere, does it.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import type { Events } from '../events.ts'
import { type Boosted, jobBoost, jobBoostShared, type QueueBoost } from '../store/boosts.ts'
import type { Database } from '../store/db.ts'
import { lockKeys } from '../store/governed-claims.ts'
import type { Ticker } from './loop.ts'

const INTERVAL_MS = 60_000
/** So many that came up wait at once, by queue and priority, and of tenants by tenant. */
const MOST = 100
const MOST_OF_TENANT = 10
const TENANTS = 200

export interface BoosterServices {
  db: Database
  clock: Clock
  registry: Registry
  events: Events
  /** Queues of this process that have held work for a while without a break. */
  backloggedQueues(): readonly string[]
}

export class Booster implements Ticker<readonly Boosted[]> {
  readonly name = 'boost'
  readonly #services: BoosterServices
  readonly #queues: readonly QueueBoost[]
  /** By queue: where the walk over the tenants goes on. */
  readonly #behind = new Map<string, string>()

  constructor(services: BoosterServices) {
    this.#services = services
    const queues = new Map(services.registry.contracts.map(({ queue }) => [queue.name, queue]))
    this.#queues = [...queues.values()].map(({ name, boost }) => ({ queue: name, steps: boost }))
  }

  async tick(): Promise<readonly Boosted[]> {
    const backlogged = this.#services.backloggedQueues()
    const queues = this.#queues.filter(({ queue, steps }) => steps.length > 0 && backlogged.includes(queue))
    if (queues.length === 0) return []
    const boosted = [...(await this.#boostPlain(queues)), ...(await this.#boostShared(queues))]
    for (const each of boosted) this.#services.events.emit('queue_boosted', each)
    return boosted
  }

  delayAfter(): number {
    return INTERVAL_MS
  }

  #boostPlain(queues: readonly QueueBoost[]): Promise<Boosted[]> {
    const { db, clock } = this.#services
    return jobBoost(db, clock.databaseNow(), { key: this.#key, queues, most: MOST })
  }

  async #boostShared(queues: readonly QueueBoost[]): Promise<Boosted[]> {
    const { db, clock } = this.#services
    const request = { key: this.#key, queues, most: MOST_OF_TENANT, behind: this.#behind, tenants: TENANTS }
    const rows = await jobBoostShared(db, clock.databaseNow(), request)
    for (const { queue, behind } of rows) {
      if (behind === null) this.#behind.delete(queue)
      else this.#behind.set(queue, behind)
    }
    return rows.flatMap(({ queue, jobs }) => (jobs === 0 ? [] : { queue, jobs }))
  }

  get #key(): string {
    return lockKeys(this.#services.db.schema, ['boost'])[0] as string
  }
}
