import pg from 'pg'
import { statementTexts } from '#src/store/sql.generated'

/** A node of what EXPLAIN says. */
interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  'Actual Loops': number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

export interface Plan {
  /** The topmost first. */
  nodes: PlanNode[]
  /** What kinds of nodes they are. */
  kinds: string[]
  /** The relations that were read from end to end. */
  scans: string[]
  /** How many rows came out of it. */
  rows: number
  /** How many pages it touched. */
  buffers: number
  /** How many rows, or pairs of rows, were looked at in vain. */
  discarded: number
}

/**
 * Runs a statement of the engine, takes it back, and says how it was done. As a prepared one: `plan_cache_mode` means nothing
 * to an EXPLAIN that is handed the values itself.
 */
export async function planOf(
  client: pg.Client,
  statement: keyof typeof statementTexts,
  values: readonly unknown[],
): Promise<Plan> {
  return planOfText(client, statementTexts[statement], values)
}

/** The same for a statement without a file. */
export async function planOfText(client: pg.Client, text: string, values: readonly unknown[]): Promise<Plan> {
  await client.query('begin')
  await client.query(`prepare plan_of as ${text}`)
  const given = values.length === 0 ? '' : `(${values.map(literal).join()})`
  const { rows } = await client.query(`explain (analyze, buffers, format json) execute plan_of${given}`)
  await client.query('rollback; deallocate plan_of')
  const withThoseBelow = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(withThoseBelow)]
  const top: PlanNode = rows[0]['QUERY PLAN'][0].Plan
  const nodes = withThoseBelow(top)
  return {
    nodes,
    kinds: nodes.map((node) => node['Node Type']),
    scans: nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? []) : [])),
    rows: top['Actual Rows'],
    buffers: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
    discarded: nodes.reduce((sum, node) => sum + discardedBy(node), 0),
  }
}

function literal(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  return pg.escapeLiteral(Array.isArray(value) ? `{${value.map(element).join()}}` : String(value))
}

const element = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value))

const discardedBy = (node: PlanNode): number =>
  node['Actual Loops'] * ((node['Rows Removed by Join Filter'] ?? 0) + (node['Rows Removed by Filter'] ?? 0))

/** Of all tables of jobs. Stale: analysed while they had pages but no rows, as after a quiet night. Missing: never. */
export async function setJobStatistics(client: pg.Client, statistics: 'fresh' | 'stale' | 'missing'): Promise<void> {
  if (statistics === 'fresh') {
    await client.query('analyze millrace.job, millrace.job_archive')
    return
  }
  const tables = `select oid from pg_class where relnamespace = 'millrace'::regnamespace and relname like 'job%'`
  await client.query(`delete from pg_statistic where starelid in (${tables})`)
  await client.query(
    `update pg_class set reltuples = $1, relpages = $2, relallvisible = 0 where relkind in ('r', 'i') and oid in (${tables})`,
    statistics === 'stale' ? [0, 100] : [-1, 0],
  )
}
