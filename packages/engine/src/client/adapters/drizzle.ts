import type { Queryable } from '../../store/statements.ts'
import { driverError } from './driver-error.ts'

/** What is needed of a Drizzle transaction on node-postgres. */
export interface DrizzleTransaction {
  execute(query: unknown): PromiseLike<unknown>
}

/** A Drizzle transaction (`drizzle-orm/node-postgres`) as a `tx` for `enqueue` and `ctx.complete`. */
export function fromDrizzle(tx: DrizzleTransaction): Queryable {
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
