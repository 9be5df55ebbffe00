// The statements of store/sql as they are sent, on whatever connection or transaction they are sent on.
import pg from 'pg'
import { toRows } from './rows.ts'
import { statementTexts } from './sql.generated.ts'
import { valueTypes } from './value-types.ts'

/** A transaction: a `pg` client that has begun one, or an ORM's transaction wrapped in that shape. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Only a `pg` pool has it. Each query on a pool may run on another connection, outside of your transaction. */
  readonly totalCount?: never
}

export type StatementName = keyof typeof statementTexts

export interface Query {
  text: string
  values: readonly unknown[]
  /** Prepare it under this name. */
  name?: string | undefined
}

export async function runOn<Row>(target: Queryable, query: Query): Promise<Row[]> {
  if (target instanceof pg.Client) {
    const { fields, rows } = await arraysFrom(target, query)
    return toRows.fromArrays<Row>(fields, rows)
  }
  const result = await target.query(query.text, query.values as unknown[])
  return toRows.fromObjects<Row>(result.rows as Record<string, unknown>[])
}

export async function tuplesOn<Tuple>(target: Queryable, query: Query): Promise<Tuple[]> {
  if (target instanceof pg.Client) return (await arraysFrom(target, query)).rows as Tuple[]
  return (await runOn<object>(target, query)).map((row) => Object.values(row) as Tuple)
}

function arraysFrom(client: pg.ClientBase, { text, values, name }: Query): Promise<pg.QueryArrayResult> {
  const named = name === undefined ? {} : { name }
  return client.query({ text, values: values as unknown[], ...named, rowMode: 'array', types: valueTypes })
}

const loaded = new Map<string, Record<StatementName, string>>()

export function statementsFor(schema: string): Record<StatementName, string> {
  let texts = loaded.get(schema)
  if (texts === undefined) {
    const entries = Object.entries(statementTexts).map(([name, text]) => [name, inSchema(text, schema)])
    texts = Object.fromEntries(entries) as Record<StatementName, string>
    loaded.set(schema, texts)
  }
  return texts
}

/** The statements are written for schema `millrace`; another one is put in here, once. */
export function inSchema(text: string, schema: string): string {
  return schema === 'millrace' ? text : text.replaceAll(/\bmillrace\./g, () => `${pg.escapeIdentifier(schema)}.`)
}
