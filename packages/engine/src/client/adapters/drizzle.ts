import { NotATransaction } from '../../errors.ts'
import type { Queryable } from '../../store/statements.ts'
import { driverError } from './driver-error.ts'

/** What is needed of a Drizzle transaction on node-postgres. */
export interface DrizzleTransaction {
  /** Drizzle's database does not have it. */
  rollback(): never
  execute(query: unknown): PromiseLike<unknown>
}

/** A Drizzle transaction (`drizzle-orm/node-postgres`) as a `tx` for `enqueue` and `ctx.complete`. */
export function fromDrizzle(tx: DrizzleTransaction): Queryable {
  if (typeof tx.rollback !== 'function') throw new NotATransaction("it is Drizzle's database, which has a pool")
  return {
    async query(text, values = []) {
      const statement = {
        // All that Drizzle asks of an `sql` value: itself, and its text with parameters.
        getSQL: () => statement,
        toQuery: () => ({ sql: text, params: values }),
      }
      try {
        return (await tx.execute(statement)) as { rows: unknown[] }
      } catch (error) {
        throw driverError(error)
      }
    },
  }
}
