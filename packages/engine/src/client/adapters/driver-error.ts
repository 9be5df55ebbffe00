import pg from 'pg'

interface PrismaFailure {
  meta?: { driverAdapterError?: { cause?: { originalCode?: string; originalMessage?: string } } }
}

/** What Postgres said, as its driver says it: the engine tells a held key from a bad value by its SQLSTATE. */
export function driverError(error: unknown): unknown {
  // Drizzle keeps the driver's error as the cause of its own.
  if (error instanceof Error && error.cause instanceof pg.DatabaseError) return error.cause
  // Prisma keeps the parts of it.
  const { originalCode, originalMessage } = (error as PrismaFailure)?.meta?.driverAdapterError?.cause ?? {}
  if (originalCode === undefined || originalMessage === undefined) return error
  const said = new pg.DatabaseError(originalMessage, originalMessage.length, 'error')
  return Object.assign(said, { code: originalCode, cause: error })
}
