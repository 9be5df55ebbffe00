// What programs see of a failure of the database: always a MillraceError. Inside the engine the driver's errors say more.
import pg from 'pg'
import {
  ConnectionLost,
  DatabaseConflict,
  DatabaseRefused,
  DatabaseUnavailable,
  MillraceError,
  PermissionDenied,
  SchemaMissing,
} from '../errors.ts'
import { isContention, isMissing, isPermissionDenied, isTransactionOver, isTransient } from '../sql-state.ts'
import { CommitUnknown } from '../store/transaction.ts'

/** The driver has no class for a broken connection. */
const BROKEN = /^(Connection (terminated|ended)|Client (has encountered a connection error|was closed))/

/** What a function of the program threw, or the reason of its AbortSignal, stays as it is. */
export function typedError(error: unknown, schema: string): unknown {
  if (!(error instanceof Error) || error instanceof MillraceError) return error
  if (error instanceof CommitUnknown) return new ConnectionLost(error.cause)
  if (!(error instanceof pg.DatabaseError)) {
    return BROKEN.test(error.message) || 'syscall' in error ? new ConnectionLost(error) : error
  }
  if (isMissing(error)) return new SchemaMissing(schema, error)
  if (isPermissionDenied(error)) return new PermissionDenied(schema, error)
  if (isTransactionOver(error)) return new ConnectionLost(error)
  if (isContention(error)) return new DatabaseConflict(error)
  return isTransient(error) ? new DatabaseUnavailable(error) : new DatabaseRefused(error)
}

/** The answer of a call, or its failure as programs see it. */
export function typed<Answer>(answer: Promise<Answer>, schema: string): Promise<Answer> {
  return answer.catch((error: unknown) => {
    throw typedError(error, schema)
  })
}

/** The same for every method of an object. */
export function withTypedErrors<Area extends object>(area: Area, schema: string): Area {
  return new Proxy(area, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target)
      if (typeof found !== 'function') return found
      return (...values: unknown[]) => {
        const answer: unknown = found.apply(target, values)
        return answer instanceof Promise ? typed(answer, schema) : answer
      }
    },
  })
}
