import type pg from 'pg'
import { statementTexts } from '#src/store/sql.generated'

/** A node of what EXPLAIN says. */
export interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

/** Runs a statement of the engine and takes it back: all nodes of its plan, the topmost first. */
export async function planOf(
  client: pg.Client,
  statement: keyof typeof statementTexts,
  values: unknown[],
): Promise<[Plan, ...Plan[]]> {
  await client.query('begin')
  const text = `explain (analyze, buffers, format json) ${statementTexts[statement]}`
  const { rows } = await client.query({ text, values })
  await client.query('rollback')
  const below = (plan: Plan): Plan[] => (plan.Plans ?? []).flatMap((each) => [each, ...below(each)])
  const top: Plan = rows[0]['QUERY PLAN'][0].Plan
  return [top, ...below(top)]
}
