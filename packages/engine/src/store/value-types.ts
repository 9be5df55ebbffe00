// How values of our statements are read. The driver's parsers are one global table that any program may change.
import pg from 'pg'

const { BOOL, INT2, INT4, FLOAT8, JSON: JSON_TEXT, JSONB, TIMESTAMPTZ } = pg.types.builtins

const toNumber = (text: string): number => Number(text)

const parsers = new Map<number, (text: string) => unknown>([
  [BOOL, (text) => text === 't'],
  [INT2, toNumber],
  [INT4, toNumber],
  [FLOAT8, toNumber],
  [JSON_TEXT, (text) => JSON.parse(text)],
  [JSONB, (text) => JSON.parse(text)],
  [TIMESTAMPTZ, timestampFrom],
])

const asText = (text: string): string => text

/** Ids stay strings, and so does everything that has no parser above. */
export const valueTypes = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? asText,
} as unknown as typeof pg.types

/** '2026-11-15 14:30:00.123456+05:30', as Postgres writes it in its default style, in any time zone. */
export function timestampFrom(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
}
