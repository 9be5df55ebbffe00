// Statements whose plans a connection keeps. To parse and plan a claim takes three times as long as to run it.
//
// Postgres keeps a plan by itself only if it looks as cheap as a new one, and a claim's does not: without the values the
// planner expects ten queues. So the kept plan is asked for, in the same round trip. It is as good as the table it was
// made for: whoever uses one must notice when it gets slow.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { isPreparedLost } from '../sql-state.ts'
import type { StatementName } from './statements.ts'
import { valueTypes } from './value-types.ts'

/** A kept plan that takes this long may be one for another time: for a while every statement is planned anew. */
const SLOW_MS = 25
const PLAN_ANEW_MS = 60_000

/**
 * Prepared once per connection: to parse and plan them takes longer than to run them. Only what scans no table: a plan is
 * kept, and one that was made for an empty table is a bad one for a full table.
 */
export const ALWAYS_KEPT: ReadonlySet<StatementName> = new Set(['jobInsert', 'jobInsertOne'])

/** Whether the connections of a pool may keep plans. */
export class KeptPlans {
  #isPossible = true
  #planAnewUntilMs = 0

  /** False: a pooler gives our sessions to others meanwhile. */
  get isPossible(): boolean {
    return this.#isPossible
  }

  get isAdvisable(): boolean {
    return this.#isPossible && monotonicMs() >= this.#planAnewUntilMs
  }

  /** One took so long. */
  took(ms: number): void {
    if (ms > SLOW_MS) this.#planAnewUntilMs = monotonicMs() + PLAN_ANEW_MS
  }

  /** True: a statement failed only because it was prepared, and none will be from now on. */
  areLost(error: unknown): boolean {
    if (!isPreparedLost(error)) return false
    this.#isPossible = false
    return true
  }
}

const preparedNames = new Map<string, string>()

/** From the text: a session that a pooler shares may hold what another version of this program has prepared. */
export function preparedName(text: string): string {
  let name = preparedNames.get(text)
  if (name === undefined) {
    name = `millrace_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    preparedNames.set(text, name)
  }
  return name
}

export interface KeptQuery {
  text: string
  values: readonly unknown[]
}

const prepared = new WeakMap<pg.ClientBase, Set<string>>()

/** `onRun` hears how long the kept plan took; the first time, when it is made, it does not. */
export async function rowsByKeptPlan(
  client: pg.ClientBase,
  { text, values }: KeptQuery,
  onRun: (ms: number) => void,
): Promise<unknown[][]> {
  const name = preparedName(text)
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
