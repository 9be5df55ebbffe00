// Ids are bigints in Postgres and decimal text here: JavaScript's numbers end too early.

/** Ids come from people and URLs: what is no positive bigint is no id. */
export function isJobId(id: unknown): id is string {
  return typeof id === 'string' && /^(0|[1-9]\d{0,18})$/.test(id) && BigInt(id) <= 9_223_372_036_854_775_807n
}

/** The longer is the larger. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}
