// The diversity of every square once more, the plain way: every square against every access point of every open place.
import { expect } from 'vitest'
import { accessPointsOf } from '#src/diversity/access-points'
import { distanceBetween } from '#src/geometry/distance'
import type { Geometries } from '#src/geometry/feature'
import type { Point } from '#src/geometry/projection'
import { shapeOf } from '#src/geometry/shape'
import type { Lipas } from './lipas.ts'

export interface BruteCell {
  readonly cellId: string
  readonly index: number
  /** By category, the nearest place. */
  readonly nearest: Readonly<Record<string, number>>
}

type Metres = (from: Point, to: Point) => number

/** `only`: of these squares. Default: of all. */
export async function bruteForce(
  t: Lipas,
  metres: Metres = distanceBetween,
  only?: ReadonlyMap<string, unknown>,
): Promise<Map<string, BruteCell>> {
  const places = await t.sql<{ id: number; type: number; geometries: Geometries }>(
    `select lipas_id as id, type_code as type, geometries from lipas.sports_site
     where status in ('active', 'out-of-service-temporarily') order by lipas_id`,
  )
  const offer = places.map(({ geometries, ...place }) => ({ ...place, points: accessPointsOf(shapeOf(geometries)) }))
  const categories = await t.sql<{ name: string; codes: number[]; factor: number }>(
    'select name, type_codes as codes, factor::float8 as factor from lipas.diversity_category',
  )
  const cells = await t.sql<{ id: string; centre: { x: number; y: number } }>(
    'select cell_id as id, centre from lipas.population_cell',
  )
  return new Map(
    cells
      .filter(({ id }) => only?.has(id) ?? true)
      .map(({ id, centre }) => {
        const from: Point = [centre.x, centre.y]
        const reached = offer.map((place) => {
          const near = place.points.filter((point) => distanceBetween(from, point) <= 2_000)
          return { ...place, metres: Math.min(Number.POSITIVE_INFINITY, ...near.map((point) => metres(from, point))) }
        })
        let index = 0
        const nearest: Record<string, number> = {}
        for (const { name, codes, factor } of categories) {
          const ours = reached.filter(({ type, metres: away }) => codes.includes(type) && Number.isFinite(away))
          ours.sort((a, b) => a.metres - b.metres || a.id - b.id)
          if (ours[0] !== undefined) nearest[name] = ours[0].id
          if ((ours[0]?.metres ?? Number.POSITIVE_INFINITY) < 800) index += factor
        }
        return [id, { cellId: id, index, nearest }]
      }),
  )
}

/** What is stored, in the same form. */
export async function storedCells(t: Lipas): Promise<Map<string, BruteCell>> {
  const rows = await t.sql<{ cellId: string; index: number; nearest: Record<string, { 'lipas-id': number }> }>(
    'select cell_id as "cellId", index::float8 as index, nearest from lipas.diversity_cell',
  )
  return new Map(
    rows.map(({ nearest, ...row }) => {
      const ids = Object.entries(nearest).map(([name, found]) => [name, found['lipas-id']] as const)
      return [row.cellId, { ...row, nearest: Object.fromEntries(ids) }]
    }),
  )
}

/** Analyses a few places that together reach every square that any place reaches. Their ids. */
export async function analyseAll(t: Lipas): Promise<number[]> {
  const places = await t.sql<{ id: number }>(
    'select lipas_id as id from lipas.sports_site order by length(geometries::text) desc, lipas_id',
  )
  const done: number[] = []
  for (const { id } of places) {
    const [missing] = await t.sql(
      `select 1 from lipas.population_cell, lipas.sports_site
       where lipas_id = $1 and centre <@ box(bounds[0] + point(2010, 2010), bounds[1] - point(2010, 2010))
         and not exists (select 1 from lipas.diversity_cell where diversity_cell.cell_id = population_cell.cell_id)
       limit 1`,
      [id],
    )
    if (missing === undefined) continue
    const report = await t.run('analysis', { 'lipas-id': id }, { dedupKey: `all-${id}` })
    if (report.outcome !== 'completed') throw new Error(`The analysis of ${id} ended with ${JSON.stringify(report)}.`)
    done.push(id)
  }
  return done
}

/** Fails if a square is not as plain computing has it. Squares that were not computed are left out, or count as empty. */
export async function expectBruteForce(
  t: Lipas,
  { metres, isPartial = false }: { metres?: Metres; isPartial?: boolean } = {},
): Promise<void> {
  const stored = await storedCells(t)
  const expected = await bruteForce(t, metres, isPartial ? stored : undefined)
  const differing = [...expected.values()].filter((cell) => {
    const found = stored.get(cell.cellId) ?? { ...cell, index: 0, nearest: {} }
    return JSON.stringify(sorted(found)) !== JSON.stringify(sorted(cell))
  })
  expect(differing).toEqual([])
}
const sorted = ({ cellId, index, nearest }: BruteCell) => ({
  ...{ cellId, index, nearest: Object.entries(nearest).sort() },
})
