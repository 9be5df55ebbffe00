// Rows of a past that nobody has lived through: for demos, and for tests of what looks at weeks of work.
//
// The one place where an insert has no file: it is the same for every table, and the columns are those of the rows it is given.
import pg from 'pg'
import { isMissing } from '../sql-state.ts'
import type { Database } from './db.ts'
import type { Transaction } from './transaction.ts'

/** The tables whose rows are a record of what happened. Rules and settings have calls of their own. */
export const PAST_TABLES = [
  'alert',
  'audit_log',
  'budget_period',
  'budget_usage',
  'dead_letter_jobs',
  'escalation',
  'job',
  'job_archive',
  'job_attempt',
  'metric_minute',
  'metric_tenant_minute',
  'queue_sample',
  'schedule_tick',
  'worker',
  'workflow',
  'workflow_item',
  'workflow_step',
] as const

export type PastTable = (typeof PAST_TABLES)[number]

/** By column. What is left out has its default. */
export type PastRow = Readonly<Record<string, unknown>>

/** What one statement takes: a few megabytes of JSON. */
const ROWS_AT_ONCE = 4_000

/** All rows have the columns of the first. */
export async function pastInsert(
  tx: Transaction,
  { schema, table }: { schema: string; table: PastTable },
  rows: readonly PastRow[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const name = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`
  const columns = Object.keys(first).map((column) => pg.escapeIdentifier(column))
  const text = `insert into ${name} (${columns}) overriding system value
    select ${columns} from jsonb_populate_recordset(null::${name}, $1::jsonb)`
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    await tx.query(text, [JSON.stringify(rows.slice(from, from + ROWS_AT_ONCE))])
}

/** Reserves ids of jobs: the first of `count`. */
export async function pastIds(tx: Transaction, count: number): Promise<number> {
  const [row] = await tx.run<{ first: string }>('pastIds', [count])
  return Number(row?.first)
}

export interface PastHolds {
  /** Up to a thousand are counted. */
  readonly jobs: number
  readonly letters: boolean
  readonly workflows: boolean
}

/** A database without the schema holds nothing. */
export async function pastHolds(db: Database): Promise<PastHolds> {
  try {
    const [row] = await db.run<PastHolds>('pastHolds', [])
    return row as PastHolds
  } catch (error) {
    if (isMissing(error)) return { jobs: 0, letters: false, workflows: false }
    throw error
  }
}
