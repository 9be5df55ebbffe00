// `analysis`: how varied the sports offer is in the inhabited squares around a place, after the place was saved.
//
// Squares are computed in batches, each a step named with the place's revision: a run that starts again goes on at its next
// batch, and one for a later save begins anew. Squares keep what was computed from the newest register, whoever writes last.
import { setImmediate } from 'node:timers/promises'
import { type Implementation, implement, type JobContext, snooze, Unrecoverable } from 'millrace'
import { analysis, services } from '../contracts.ts'
import { type Cell, categoriesOf, cellsNaming, cellsNear, cellsOf, meanIndex, writeCells } from '../diversity/cells.ts'
import { alongStreets, type Distances, euclid } from '../diversity/distances.ts'
import { Offer } from '../diversity/offer.ts'
import { type Category, scoreOf } from '../diversity/score.ts'
import { summarise } from '../diversity/summary.ts'
import { boundsOf } from '../geometry/bounds.ts'
import { shapeOf } from '../geometry/shape.ts'
import { isStillAt, type Site, siteOf } from '../registry/sites.ts'
import { cellDocument, siteDocument } from '../search/documents.ts'
import type { LipasSystem } from '../system.ts'
import { cellsCounted } from '../telemetry/metrics.ts'

const BATCH = 50
/** Ids of so many squares fit into what is recorded of a step. */
const PAGE = 1_000
/** Saved while it was analysed: again, with what is there now. */
const AGAIN = '1s'

export const analysisHandler = (system: LipasSystem): Implementation =>
  implement(analysis, async ({ 'lipas-id': lipasId }, ctx) => {
    const site = await siteOf(system.database, lipasId)
    if (site === undefined) throw new Unrecoverable(`The register has no place ${lipasId}.`)
    return new Analysis(system, site, ctx).run()
  })

class Analysis {
  readonly #system: LipasSystem
  readonly #site: Site
  readonly #ctx: JobContext
  #categories: readonly Category[] = []
  /** Ids of the squares that are done, in this run or in an earlier one. */
  readonly #done: string[] = []

  constructor(system: LipasSystem, site: Site, ctx: JobContext) {
    this.#system = system
    this.#site = site
    this.#ctx = ctx
  }

  async run() {
    const { database, search, router } = this.#system
    const { lipasId, revision, geometries } = this.#site
    await this.#ctx.breaker(services.search, () =>
      search.upsert('sites', siteDocument(this.#site), { signal: this.#ctx.signal }),
    )
    this.#categories = await categoriesOf(database)
    const cells = await cellsNear(database, shapeOf(geometries))
    const ids = cells.map(({ cellId }) => cellId)
    const before = await this.#ctx.step(`before ${revision}`, () => meanIndex(database, ids))
    await this.#compute(cells, `squares ${revision}`)
    await this.#leaveBehind(new Set(ids))
    return this.#ctx.transaction(async (tx) => {
      if (this.#done.length > 0) await summarise(tx, this.#done)
      if (!(await isStillAt(tx, lipasId, revision))) return snooze(AGAIN)
      const mode = router === undefined ? ('euclid' as const) : ('route' as const)
      return { cells: this.#done.length, mode, 'mean-before': before, 'mean-after': await meanIndex(tx, ids) }
    })
  }

  /** Squares out of reach now that still name the place: it was nearer before it was moved. */
  async #leaveBehind(near: ReadonlySet<string>): Promise<void> {
    const { database } = this.#system
    const { lipasId, revision } = this.#site
    for (let [page, after, isLast] = [0, '', false]; !isLast; page += 1) {
      const from = after
      // Recorded, because what is computed anew names the place no more.
      const ids = await this.#ctx.step(`left ${revision} ${page}`, () =>
        cellsNaming(database, lipasId, { after: from, limit: PAGE }),
      )
      const left = ids.filter((id) => !near.has(id))
      await this.#compute(await cellsOf(database, left), `left squares ${revision} ${page}`)
      isLast = ids.length < PAGE
      after = ids.at(-1) ?? after
    }
  }

  async #compute(cells: readonly Cell[], name: string): Promise<void> {
    if (cells.length === 0) return
    const offer = await Offer.read(this.#system.database, boundsOf(cells.map(({ centre }) => centre)))
    const total = this.#done.length + cells.length
    for (let from = 0; from < cells.length; from += BATCH) {
      this.#ctx.signal.throwIfAborted()
      const batch = cells.slice(from, from + BATCH)
      await this.#ctx.step(`${name} from ${from}`, () => this.#computeBatch(batch, offer))
      this.#done.push(...batch.map(({ cellId }) => cellId))
      this.#ctx.progress(this.#done.length, total, 'squares')
      await setImmediate()
    }
  }

  async #computeBatch(cells: readonly Cell[], offer: Offer): Promise<null> {
    const { database, search, clock } = this.#system
    const { signal, jobId } = this.#ctx
    const centres = cells.map(({ centre }) => centre)
    const reached = await this.#distances(centres, offer, signal)
    const computed = cells.map((cell, at) => ({ ...cell, score: scoreOf(this.#categories, reached[at] ?? []) }))
    await writeCells(database, computed, { computedFrom: offer.seen, jobId })
    const at = clock.now()
    const documents = computed.map((cell) => cellDocument(cell, { computedFrom: offer.seen, at }))
    await this.#ctx.breaker(services.search, () => search.bulk('squares', documents, { signal }))
    cellsCounted.inc(cells.length)
    return null
  }

  readonly #distances: Distances = (centres, offer, signal) => {
    const { router } = this.#system
    if (router === undefined) return euclid(centres, offer, signal)
    return this.#ctx.breaker(services.routing, () => alongStreets(router)(centres, offer, signal))
  }
}
