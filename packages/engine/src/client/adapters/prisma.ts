import { NotATransaction } from '../../errors.ts'
import type { Queryable } from '../../store/statements.ts'
import { driverError } from './driver-error.ts'

/** What is needed of an interactive Prisma transaction. */
export interface PrismaTransaction {
  /** Only the client itself has it. */
  $connect?: never
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>
}

/** An interactive Prisma transaction (`prisma.$transaction(async (tx) => …)`) as a `tx` for `enqueue` and `ctx.complete`. */
export function fromPrisma(tx: PrismaTransaction): Queryable {
  if (tx.$connect !== undefined) throw new NotATransaction("it is Prisma's client, which has a pool")
  return {
    async query(text, values = []) {
      try {
        return { rows: (await tx.$queryRawUnsafe(text, ...values.map(withZone))) as unknown[] }
      } catch (error) {
        throw driverError(error)
      }
    },
  }
}

/** Prisma sends a Date without its zone, and Postgres would read it in the session's. */
const withZone = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)
