// Dates of feeds, which are written in many ways. One without a zone is in UTC, wherever the server stands.

/** Zones that publishers write out and JavaScript does not know, in minutes. */
const ZONES: Readonly<Record<string, string>> = {
  BST: '+0100',
  CET: '+0100',
  CEST: '+0200',
  EET: '+0200',
  EEST: '+0300',
  JST: '+0900',
  MSK: '+0300',
  WEST: '+0100',
  AEST: '+1000',
  AEDT: '+1100',
}
const KNOWN = new Set(['Z', 'UT', 'UTC', 'GMT', 'EST', 'EDT', 'CST', 'CDT', 'MST', 'MDT', 'PST', 'PDT'])
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i
const LAST_WORD = /\s([A-Z]{1,5})$/i

/** Undefined: no date that anybody could mean. */
export function parseDate(text: string): Date | undefined {
  const time = Date.parse(normalised(text.trim()))
  const date = new Date(time)
  return Number.isNaN(time) || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999 ? undefined : date
}

function normalised(text: string): string {
  const [, day, time, zone = 'Z'] = ISO.exec(text) ?? []
  if (day !== undefined) return time === undefined ? day : `${day}T${time}${zone.toUpperCase()}`
  // "Wed," adds nothing, and may be in any language.
  const short = text.replace(/^[^\d\s,]{2,12},\s*/, '')
  const [, word] = LAST_WORD.exec(short) ?? []
  if (word === undefined) return /[+-]\d{2}:?\d{2}$/.test(short) ? short : `${short} GMT`
  const name = word.toUpperCase()
  if (KNOWN.has(name)) return short
  return name === 'AM' || name === 'PM' ? `${short} GMT` : short.replace(LAST_WORD, ` ${ZONES[name] ?? 'GMT'}`)
}
