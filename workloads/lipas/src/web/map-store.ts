// SQL of the map: squares with their diversity, water, and one square for its panel.
import type { Queryable } from 'millrace'
import type { Bounds } from '../geometry/bounds.ts'
import type { Geometries } from '../geometry/feature.ts'
import type { Point } from '../geometry/projection.ts'

export interface MapSquare {
  readonly cellId: string
  readonly east: number
  readonly north: number
}

/** All inhabited squares. Their order is that of levelsOf. */
export async function mapSquares(db: Queryable): Promise<MapSquare[]> {
  const { rows } = await db.query(
    `select cell_id as "cellId", centre[0] as east, centre[1] as north
     from lipas.population_cell
     order by cell_id`,
  )
  return rows as unknown as MapSquare[]
}

/** What holds all places; null: there is none. */
export async function boundsOfSites(db: Queryable): Promise<Bounds | null> {
  const { rows } = await db.query(
    `select min((bounds[1])[0]) as "minEast", min((bounds[1])[1]) as "minNorth",
       max((bounds[0])[0]) as "maxEast", max((bounds[0])[1]) as "maxNorth"
     from lipas.sports_site`,
  )
  const bounds = rows[0] as { [Side in keyof Bounds]: number | null }
  return bounds.minEast === null ? null : (bounds as Bounds)
}

/** The index of each square, null where it was not computed yet. */
export async function squareIndices(db: Queryable): Promise<(number | null)[]> {
  const { rows } = await db.query(
    `select index::float8 as index
     from lipas.population_cell
     left join lipas.diversity_cell using (cell_id)
     order by cell_id`,
  )
  return rows.map((row) => (row as { index: number | null }).index)
}

export interface Summary {
  readonly municipality: string
  readonly mean: number | null
  readonly median: number | null
  readonly weightedMean: number | null
}

/** Undefined: nothing was computed yet. */
export async function summaryOf(db: Queryable): Promise<Summary | undefined> {
  const { rows } = await db.query(
    `select municipality, mean::float8 as mean, median::float8 as median, weighted_mean::float8 as "weightedMean"
     from lipas.diversity_summary
     order by cells desc, municipality
     limit 1`,
  )
  return rows[0] as Summary | undefined
}

export interface MapFeature {
  readonly kind: 'lake' | 'river' | 'bridge'
  readonly name: string
  readonly geometries: Geometries
}

export async function mapFeatures(db: Queryable): Promise<MapFeature[]> {
  const { rows } = await db.query(
    `select kind, name, geometries
     from lipas.map_feature
     order by kind = 'bridge', id`,
  )
  return rows as unknown as MapFeature[]
}

export interface SquareDetails {
  readonly cellId: string
  readonly population: number
  readonly index: number | null
  readonly categories: unknown
  readonly nearest: unknown
  readonly computedAt: Date | null
  readonly jobId: string | null
}

const SQUARE = `
select cell_id as "cellId", population, index::float8 as index, categories, nearest, computed_at as "computedAt",
  job_id::text as "jobId"
from lipas.population_cell
left join lipas.diversity_cell using (cell_id)`

export async function squareOf(db: Queryable, cellId: string): Promise<SquareDetails | undefined> {
  const { rows } = await db.query(`${SQUARE} where cell_id = $1`, [cellId])
  return rows[0] as SquareDetails | undefined
}

/** The inhabited square around a point, or the nearest one within 2 km. */
export async function squareNear(db: Queryable, [east, north]: Point): Promise<SquareDetails | undefined> {
  const { rows } = await db.query(
    `${SQUARE}
     where centre <@ circle(point($1, $2), 2000)
     order by centre <-> point($1, $2)
     limit 1`,
    [east, north],
  )
  return rows[0] as SquareDetails | undefined
}
