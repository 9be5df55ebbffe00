// Array parameters as Postgres array literals. The driver's own encoder is general and slow; ours knows the element type.

const NEEDS_ESCAPE = /["\\]/g

export function textArray(values: readonly (string | null | undefined)[]): string {
  let literal = '{'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) literal += ','
    literal += value == null ? 'NULL' : `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`
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

export function timeArray(values: readonly (Date | null | undefined)[]): string {
  return textArray(values.map((value) => value?.toISOString()))
}
