// From text to terms: where each field, operator and value stands. Quotes keep spaces and commas together.
import type { Operator, QueryProblem } from './query.ts'

export const MAX_LENGTH = 2_000
const MAX_TERMS = 30
const MAX_VALUES = 100

export interface Span {
  readonly start: number
  readonly end: number
}

export interface Value extends Span {
  readonly operator: Operator | '~' | null
  readonly text: string
  readonly isQuoted: boolean
}

export interface Term extends Span {
  readonly isNegated: boolean
  /** Null: a value that stands alone. */
  readonly name: (Span & { readonly text: string }) | null
  readonly values: readonly Value[]
}

/** What the reader throws inside this room; parse.ts makes an answer of it. */
export class Unreadable {
  readonly problem: QueryProblem

  constructor(message: string, { start, end }: Span, suggestion: string | null = null) {
    this.problem = { message, start, end, suggestion }
  }
}

const SPACE = /\s/
const OPERATOR = /[<>]=?|~/y

export function termsOf(text: string): Term[] {
  const whole = { start: 0, end: text.length }
  if (text.length > MAX_LENGTH)
    throw new Unreadable(`The query has ${text.length} characters: ${MAX_LENGTH} are the most.`, whole)
  if (text.includes('\0') || !text.isWellFormed())
    throw new Unreadable('The query has characters that no text in the database can have.', whole)
  const reader = new Reader(text)
  const terms: Term[] = []
  for (let term = reader.next(); term !== undefined; term = reader.next()) {
    terms.push(term)
    if (terms.length > MAX_TERMS) throw new Unreadable(`The query has more than ${MAX_TERMS} terms.`, term)
  }
  return terms
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  next(): Term | undefined {
    while (SPACE.test(this.#text[this.#at] ?? '')) this.#at++
    const start = this.#at
    if (start >= this.#text.length) return undefined
    const isNegated = this.#text[start] === '-'
    if (isNegated) this.#at++
    const name = this.#name()
    const values = name === null ? [this.#value()] : this.#values()
    return { start, end: this.#at, isNegated, name, values }
  }

  /** A name ends with its colon. Without one, the word is a value. */
  #name(): Term['name'] {
    const start = this.#at
    let end = start
    while (end < this.#text.length && !/[\s:"]/.test(this.#text[end] as string)) end++
    if (this.#text[end] !== ':') return null
    this.#at = end + 1
    return { text: this.#text.slice(start, end), start, end }
  }

  #values(): Value[] {
    const values = [this.#value()]
    while (this.#text[this.#at] === ',') {
      this.#at++
      values.push(this.#value())
      if (values.length > MAX_VALUES)
        throw new Unreadable(`A term takes at most ${MAX_VALUES} values.`, values.at(-1) as Value)
    }
    return values
  }

  #value(): Value {
    const start = this.#at
    OPERATOR.lastIndex = start
    const operator = (OPERATOR.exec(this.#text)?.[0] ?? null) as Value['operator']
    this.#at += operator?.length ?? 0
    const isQuoted = this.#text[this.#at] === '"'
    const text = isQuoted ? this.#quoted() : this.#bare()
    return { start, end: this.#at, operator, text, isQuoted }
  }

  #bare(): string {
    const start = this.#at
    while (this.#at < this.#text.length && !/[\s,]/.test(this.#text[this.#at] as string)) this.#at++
    return this.#text.slice(start, this.#at)
  }

  #quoted(): string {
    const start = this.#at++
    let value = ''
    for (;;) {
      const character = this.#text[this.#at++]
      if (character === undefined) {
        this.#at = this.#text.length
        throw new Unreadable('This quotation has no end: close it with ".', { start, end: this.#at })
      }
      if (character === '"') break
      value += character === '\\' ? (this.#text[this.#at++] ?? '') : character
    }
    if (/[^\s,]/.test(this.#text[this.#at] ?? ' '))
      throw new Unreadable('Expected a space or a comma after the quotation.', { start: this.#at, end: this.#at + 1 })
    return value
  }
}

/** As it is written in a query. */
export function quoted(value: string): string {
  return /^[^\s,"\\<>~*-][^\s,"\\*]*$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}
