import { NotATransaction } from '../../errors.ts'
import type { Queryable } from '../../store/statements.ts'

/** What is needed of a Knex transaction. */
export interface KnexTransaction {
  /** Knex itself does not have it. */
  isCompleted(): boolean
  raw(sql: string, bindings: readonly unknown[]): PromiseLike<unknown>
}

/** A Knex transaction (client `pg`) as a `tx` for `enqueue` and `ctx.complete`. */
export function fromKnex(trx: KnexTransaction): Queryable {
  if (typeof trx.isCompleted !== 'function') throw new NotATransaction('it is Knex itself, which has a pool')
  return {
    async query(text, values = []) {
      const { sql, bindings } = withQuestionMarks(text, values)
      return (await trx.raw(sql, bindings)) as { rows: unknown[] }
    },
  }
}

/** Comments go first: what looks like a parameter there is none to Postgres. */
const COMMENT = /--.*$/gm
const PARAMETER = /\$(\d+)|\?/g

/** Knex has one kind of placeholder, in order of appearance, so a parameter that is used twice is passed twice. */
function withQuestionMarks(text: string, values: readonly unknown[]): { sql: string; bindings: unknown[] } {
  const bindings: unknown[] = []
  const sql = text.replace(COMMENT, '').replace(PARAMETER, (_, number: string | undefined) => {
    if (number === undefined) return '\\?'
    bindings.push(values[Number(number) - 1])
    return '?'
  })
  return { sql, bindings }
}
