import { NotATransaction } from '../../errors.ts'
import type { Queryable } from '../../store/statements.ts'

/** What is needed of a Kysely transaction. */
export interface KyselyTransaction {
  /** Of Kysely itself it may be false. */
  readonly isTransaction: true
  executeQuery(query: unknown): Promise<{ rows: unknown[] }>
}

let statements = 0

/** A Kysely transaction (`PostgresDialect`) as a `tx` for `enqueue` and `ctx.complete`. */
export function fromKysely(trx: KyselyTransaction): Queryable {
  if (!trx.isTransaction) throw new NotATransaction('it is Kysely itself, which has a pool')
  return {
    query(text, parameters = []) {
      // What Kysely's own CompiledQuery.raw() makes.
      const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] }
      const queryId = { queryId: `millrace-${++statements}` }
      return trx.executeQuery({ sql: text, parameters, query, queryId })
    },
  }
}
