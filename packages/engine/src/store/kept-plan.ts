// A statement whose plan is kept by the connection. To parse and plan a claim takes three times as long as to run it.
//
// Postgres keeps a plan by itself only if it looks as cheap as a new one, and a claim's does not: without the values the
// planner expects ten queues. So the kept plan is asked for, in the same round trip. It is as good as the table it was
// made for: whoever uses one must notice when it gets slow.
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { valueTypes } from './value-types.ts'

export interface KeptQuery {
  name: string
  text: string
  values: readonly unknown[]
}

const prepared = new WeakMap<pg.ClientBase, Set<string>>()

/** `onRun` hears how long the kept plan took; the first time, when it is made, it does not. */
export async function rowsByKeptPlan(
  client: pg.ClientBase,
  query: KeptQuery,
  onRun: (ms: number) => void,
): Promise<unknown[][]> {
  const { name, text, values } = query
  const names = prepared.get(client) ?? new Set()
  prepared.set(client, names)
  if (!names.has(name)) {
    const first = { name, text, values: values as unknown[], rowMode: 'array' as const, types: valueTypes }
    const { rows } = await client.query(first)
    names.add(name)
    return rows
  }
  const kept = `set local plan_cache_mode = force_generic_plan; execute ${name}(${values.map(literal).join()})`
  const startedMs = monotonicMs()
  const results: unknown = await client.query({ text: kept, rowMode: 'array', types: valueTypes })
  onRun(monotonicMs() - startedMs)
  return (results as pg.QueryArrayResult[]).at(-1)?.rows ?? []
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value))
}
