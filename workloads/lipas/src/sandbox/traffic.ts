// Sample traffic: somebody saves a place every few seconds, so that there is always something to watch.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Queryable } from 'millrace'
import { type SiteChange, saveSite } from '../registry/save-site.ts'
import type { LipasSystem } from '../system.ts'

const EVERY_MS = 5_000
const BY = 'sample traffic'
const STEP_METRES = 40

/** Returns how to end it; it waits for a save that is under way. */
export function startTraffic(system: LipasSystem, everyMs = EVERY_MS): () => Promise<void> {
  const stopping = new AbortController()
  const running = run(system, everyMs, stopping.signal)
  return async () => {
    stopping.abort()
    await running
  }
}

async function run(system: LipasSystem, everyMs: number, signal: AbortSignal): Promise<void> {
  const traffic = new Traffic(system)
  for (;;) {
    await pause(everyMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    // The database may be away for a moment: the next one saves again.
    await traffic.save().catch((error: unknown) => {
      if (!signal.aborted) system.logger.warn({ err: error }, 'the sample traffic could not save a place')
    })
  }
}

export class Traffic {
  readonly #system: LipasSystem
  #count = 0
  /** It is moved back before another one moves: places must not walk into the lake. */
  #moved: number | undefined

  constructor(system: LipasSystem) {
    this.#system = system
  }

  /** Most owners confirm what there is, every fourth place moves. An empty register is left alone. */
  async save(): Promise<void> {
    this.#count += 1
    const moves = this.#count % 4 === 0
    const lipasId = (moves ? this.#moved : undefined) ?? (await anyPlace(this.#system.database))
    if (lipasId === undefined) return
    const east = this.#moved === undefined ? STEP_METRES : -STEP_METRES
    const change: SiteChange = moves ? { move: { east, north: 0 } } : {}
    await saveSite(this.#system, { lipasId, change, by: BY, correlationId: randomUUID(), at: this.#system.clock.now() })
    if (moves) this.#moved = this.#moved === undefined ? lipasId : undefined
  }
}

/** Places that are closed for good are left alone. */
async function anyPlace(db: Queryable): Promise<number | undefined> {
  const { rows } = await db.query(
    `select lipas_id as "lipasId"
     from lipas.sports_site
     where status in ('active', 'out-of-service-temporarily')
     order by random()
     limit 1`,
  )
  return (rows[0] as { lipasId: number } | undefined)?.lipasId
}
