// `elevation`: the height of every vertex of a place, its profile, and its document in the search index.
//
// All or nothing: heights are written in one statement, and only for the revision that they were computed from. A run that
// repeats the work writes the same.
import { type Implementation, implement, type JobContext, snooze, Unrecoverable } from 'millrace'
import { elevation, services } from '../contracts.ts'
import { heightsOf } from '../elevation/heights.ts'
import { profileOf, withHeights } from '../elevation/profile.ts'
import { verticesOf } from '../geometry/feature.ts'
import { toPlane } from '../geometry/projection.ts'
import { isStillAt, type Site, siteOf, writeHeights } from '../registry/sites.ts'
import { siteDocument } from '../search/documents.ts'
import type { LipasSystem } from '../system.ts'

/** Saved while its heights were computed: again, with what is there now. */
const AGAIN = '1s'

export const elevationHandler = (system: LipasSystem): Implementation =>
  implement(elevation, async ({ 'lipas-id': lipasId }, ctx) => {
    const site = await siteOf(system.database, lipasId)
    if (site === undefined) throw new Unrecoverable(`The register has no place ${lipasId}.`)
    // Named with the revision: a later save has heights of its own.
    const result = await ctx.step(`heights of ${site.revision}`, () => compute(system, site, ctx))
    const written = result === null ? undefined : await siteOf(system.database, lipasId)
    if (result === null || written?.revision !== site.revision) return snooze(AGAIN)
    await ctx.breaker(services.search, () =>
      system.search.upsert('sites', siteDocument(written), { signal: ctx.signal }),
    )
    return ctx.transaction(async (tx) => ((await isStillAt(tx, lipasId, site.revision)) ? result : snooze(AGAIN)))
  })

/** Null: the place was saved meanwhile, and nothing is written. */
async function compute(system: LipasSystem, { lipasId, revision, geometries }: Site, ctx: JobContext) {
  const points = verticesOf(geometries).map(toPlane)
  // One call for the breaker, however many requests: a bad answer among four at a time is one failure.
  const { heights, requests } = await ctx.breaker(services.elevation, () =>
    heightsOf(points, {
      ...{ coverage: system.coverage, signal: ctx.signal, withinMs: system.elevationWithinMs },
      onProgress: (done, total) => ctx.progress(done, total, 'requests for heights'),
    }),
  )
  const profile = profileOf(geometries, points, heights)
  const given = { lipasId, revision, geometries: withHeights(geometries, heights), profile }
  if (!(await writeHeights(system.database, given))) return null
  const { points: _, lines, areas, ...summary } = profile
  return { vertices: points.length, requests, ...summary }
}
