// What may stand where the cursor is: a field, or a value of a field. Reads also texts that are no query yet.
import { FIELDS, type Field, fieldOf } from './fields.ts'

/** The place of what is being typed, and what of it is there already. */
export interface Place {
  /** Null: the name of a field is being typed. */
  readonly field: Field | null
  readonly prefix: string
  /** From here to `end` a suggestion replaces the text. */
  readonly start: number
  readonly end: number
}

/** Undefined: nothing can be suggested here, such as inside the path of a payload. */
export function placeAt(text: string, cursor: number): Place | undefined {
  const at = Math.max(0, Math.min(Math.trunc(cursor), text.length))
  const start = termStart(text, at)
  const typed = text.slice(start, at)
  const name = /^-?([^\s:"]*)/.exec(typed)?.[1] ?? ''
  const nameStart = start + (typed.startsWith('-') ? 1 : 0)
  if (nameStart + name.length >= at) {
    if (name.startsWith('payload.')) return undefined
    return { field: null, prefix: name, start: nameStart, end: endFrom(text, at, /[\s:"]/, ':') }
  }
  const field = fieldOf(name.split('.')[0] ?? '')
  if (field === undefined || typed[typed.startsWith('-') ? name.length + 1 : name.length] !== ':') return undefined
  const valueStart = start + lastValue(typed, at - start)
  const written = text.slice(valueStart, at)
  const prefix = written
    .replace(/^([<>]=?|~)/, '')
    .replace(/^"/, '')
    .replace(/\\(.)/g, '$1')
  return { field, prefix, start: valueStart, end: endFrom(text, at, written.includes('"') ? /"/ : /[\s,]/, '"') }
}

/** The fields that begin so. */
export const fieldsLike = (prefix: string): Field[] =>
  FIELDS.filter(({ name }) => name.startsWith(prefix.toLowerCase()))

/** Where the term begins in which `at` is: after the last space outside of quotes. */
function termStart(text: string, at: number): number {
  let start = 0
  let isQuoted = false
  for (let i = 0; i < at; i++) {
    const character = text[i] as string
    if (isQuoted && character === '\\') i++
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && /\s/.test(character)) start = i + 1
  }
  return start
}

/** Where the value begins that ends at `length`: after the colon or the last comma outside of quotes. */
function lastValue(term: string, length: number): number {
  let start = term.indexOf(':') + 1
  let isQuoted = false
  for (let i = start; i < length; i++) {
    const character = term[i] as string
    if (isQuoted && character === '\\') i++
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && character === ',') start = i + 1
  }
  return start
}

/** The end of the word at `at`; the character `closing` after it belongs to it. */
function endFrom(text: string, at: number, stop: RegExp, closing: string): number {
  let end = at
  while (end < text.length && !stop.test(text[end] as string)) end++
  return text[end] === closing ? end + 1 : end
}
