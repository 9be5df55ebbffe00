// The text of a query, changed term by term. What it means is the server's business.

/** Terms are separated by spaces outside of quotes. */
export const termsOf = (text: string): string[] => text.match(/(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g) ?? []

const fieldOf = (term: string): string => /^(-?[a-z]+)(?=[:.])/i.exec(term)?.[1]?.toLowerCase() ?? ''

/** The value of a term that stands there once, such as 'dead' of `status:dead`; undefined: there is none, or it is not so simple. */
export function soleValue(text: string, field: string): string | undefined {
  const found = termsOf(text).filter((term) => fieldOf(term) === field)
  const [, value] = /^[a-z]+:(\w+)$/.exec(found[0] ?? '') ?? []
  return found.length === 1 ? value : undefined
}

/** Without the terms of a field, then with these instead. */
export function withTerms(text: string, field: string, ...instead: string[]): string {
  return [...termsOf(text).filter((term) => fieldOf(term) !== field), ...instead].join(' ')
}

/** Whether all jobs would have to be looked at one by one. */
export const isScan = (text: string): boolean =>
  termsOf(text).some((term) => /^-?(error|reason|payload)[:.]/i.test(term))

/** A value as it is written into a query. */
export const quoted = (value: string): string =>
  /^[\w./@+-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
