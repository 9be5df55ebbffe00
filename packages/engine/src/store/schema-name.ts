import { InvalidDefinition } from '../errors.ts'

/** Of any name in Postgres. */
export const MAX_NAME_BYTES = 63

/** Before it becomes part of SQL: it also stands inside string literals, and Postgres silently cuts off what is too long. */
export function demandSchemaName(schema: string): void {
  const what = `The schema name ${JSON.stringify(schema)} is not usable`
  const remedy = 'Give `schema` another name, or leave it out for "millrace".'
  if (typeof schema !== 'string' || schema === '') {
    throw new InvalidDefinition(`${what}: it must be text, and not empty. ${remedy}`)
  }
  const bytes = Buffer.byteLength(schema)
  if (bytes > MAX_NAME_BYTES) {
    throw new InvalidDefinition(
      `${what}: it has ${bytes} bytes, and Postgres takes ${MAX_NAME_BYTES} at most. ${remedy}`,
    )
  }
  if (/['\p{Cc}\p{Cs}]/u.test(schema)) {
    throw new InvalidDefinition(
      `${what}: it must have no apostrophes, control characters or lone surrogates. ${remedy}`,
    )
  }
  if (schema.startsWith('pg_')) {
    throw new InvalidDefinition(`${what}: Postgres keeps names that begin with "pg_" for itself. ${remedy}`)
  }
}
