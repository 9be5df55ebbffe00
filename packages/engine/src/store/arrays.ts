// Array parameters as Postgres array literals. The driver's own encoder is general and slow; ours knows the element type.

const NEEDS_ESCAPE = /["\\]/
const ESCAPED = /["\\]/g

export function textArray(values: readonly (string | null | undefined)[]): string {
  let literal = '{'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) literal += ','
    literal += value == null ? 'NULL' : `"${NEEDS_ESCAPE.test(value) ? value.replace(ESCAPED, '\\$&') : value}"`
  }
  return `${literal}}`
}

/** For numbers, booleans, ids and uuids: elements that never need quoting. */
export function plainArray(values: readonly (string | number | boolean | null | undefined)[]): string {
  let literal = '{'
  for (let i = 0; i < values.length; i++) {
    if (i > 0) literal += ','
    literal += values[i] ?? 'NULL'
  }
  return `${literal}}`
}

/** One JSON array of JSON texts, for `jsonb`: unlike elements of a Postgres array they need no quotes around them. */
export function jsonArray(texts: readonly string[]): string {
  return `[${texts.join()}]`
}

type Element = string | number | null | undefined

/** A column that has a value in every row, and mostly the same: then it is sent once, and stands for all of them. */
export function sharedArray<Row>(rows: readonly Row[], read: (row: Row) => string | number): string {
  const first = read(rows[0] as Row)
  return arrayOf(rows.every((row) => read(row) === first) ? [first] : rows.map(read))
}

/** A column that is mostly null: if it is in every row, nothing is sent. */
export function sparseArray<Row>(rows: readonly Row[], read: (row: Row) => Element): string {
  return rows.every((row) => read(row) == null) ? '{}' : arrayOf(rows.map(read))
}

function arrayOf(values: readonly Element[]): string {
  return textArray(values.map((value) => (typeof value === 'number' ? String(value) : value)))
}
