// The squares of 250 m in the database: which ones a place concerns, what was computed for them, and what may be shown.
import type { Queryable } from 'millrace'
import { boundsOf, boxText, widened } from '../geometry/bounds.ts'
import type { Point } from '../geometry/projection.ts'
import { distanceToShape, pointsOf, type Shape, simplified } from '../geometry/shape.ts'
import { REACH } from './offer.ts'
import type { Category, Score } from './score.ts'

export interface Cell {
  readonly cellId: string
  readonly centre: Point
  /** Null: too few live there to say. */
  readonly population: number | null
}

export interface ComputedCell extends Cell {
  readonly score: Score
}

/** Metres by which a line may be off: a long route has thousands of vertices. */
const TOLERANCE = 10
/** A square with fewer people does not show how many: they might be one family. */
export const FEWEST_SHOWN = 10
const COLUMNS = `cell_id as "cellId", array[centre[0], centre[1]] as centre,
  case when population >= ${FEWEST_SHOWN} then population end as population`

/** Inhabited squares whose centre is in reach of the shape. Neighbours stand near each other in the list. */
export async function cellsNear(db: Queryable, shape: Shape): Promise<Cell[]> {
  const simple = simplified(shape, TOLERANCE)
  const { rows } = await db.query(
    `select ${COLUMNS}
     from lipas.population_cell
     where centre <@ $1::box
     order by floor(centre[1] / 2000), floor(centre[0] / 2000), cell_id`,
    [boxText(widened(boundsOf(pointsOf(simple)), REACH + TOLERANCE))],
  )
  return (rows as unknown as Cell[]).filter(({ centre }) => distanceToShape(centre, simple) <= REACH + TOLERANCE)
}

export interface Page {
  /** The last id of the page before. */
  readonly after: string
  readonly limit: number
}

/** Squares for which the place is the nearest of its kind: it may have moved away from them. */
export async function cellsNaming(db: Queryable, lipasId: number, { after, limit }: Page): Promise<string[]> {
  const { rows } = await db.query(
    `select cell_id as "cellId"
     from lipas.diversity_cell
     where cell_id > $2
       and exists (
         select 1
         from jsonb_each(nearest) as each
         where (each.value ->> 'lipas-id')::int = $1
       )
     order by cell_id
     limit $3`,
    [lipasId, after, limit],
  )
  return (rows as { cellId: string }[]).map(({ cellId }) => cellId)
}

export async function cellsOf(db: Queryable, ids: readonly string[]): Promise<Cell[]> {
  const { rows } = await db.query(
    `select ${COLUMNS}
     from lipas.population_cell
     where cell_id = any($1)
     order by cell_id`,
    [[...ids]],
  )
  return rows as unknown as Cell[]
}

export interface StoredCell extends ComputedCell {
  readonly computedFrom: number
  readonly computedAt: Date
}

/** A page of the squares that were computed, by id. */
export async function computedCellsAfter(db: Queryable, cellId: string, limit: number): Promise<StoredCell[]> {
  const { rows } = await db.query(
    `select ${COLUMNS}, computed_from::float8 as "computedFrom", computed_at as "computedAt",
       jsonb_build_object('index', index, 'categories', categories, 'nearest', nearest) as score
     from lipas.diversity_cell
     join lipas.population_cell using (cell_id)
     where cell_id > $1
     order by cell_id
     limit $2`,
    [cellId, limit],
  )
  return rows as unknown as StoredCell[]
}

/** What was computed from an older register than what is stored is not written. */
export async function writeCells(
  db: Queryable,
  cells: readonly ComputedCell[],
  { computedFrom, jobId }: { readonly computedFrom: number; readonly jobId: string },
): Promise<void> {
  const rows = cells.map(({ cellId, score }) => ({ cellId, ...score }))
  await db.query(
    `insert into lipas.diversity_cell (cell_id, index, categories, nearest, computed_from, computed_at, job_id)
     select "cellId", index, categories, nearest, $2, now(), $3
     from jsonb_to_recordset($1) as given ("cellId" text, index numeric, categories jsonb, nearest jsonb)
     order by "cellId"    -- two analyses lock the squares that they share in the same order
     on conflict (cell_id) do update
     set index = excluded.index, categories = excluded.categories, nearest = excluded.nearest,
       computed_from = excluded.computed_from, computed_at = excluded.computed_at, job_id = excluded.job_id
     where diversity_cell.computed_from <= excluded.computed_from`,
    [JSON.stringify(rows), computedFrom, jobId],
  )
}

/** Of the squares among these that were computed; null: none was. */
export async function meanIndex(db: Queryable, ids: readonly string[]): Promise<number | null> {
  const { rows } = await db.query(
    `select round(avg(index), 4)::float8 as mean
     from lipas.diversity_cell
     where cell_id = any($1)`,
    [[...ids]],
  )
  return (rows[0] as { mean: number | null }).mean
}

export async function categoriesOf(db: Queryable): Promise<Category[]> {
  const { rows } = await db.query(
    `select name, type_codes as "typeCodes", factor::float8 as factor
     from lipas.diversity_category
     order by name`,
  )
  return rows as unknown as Category[]
}
