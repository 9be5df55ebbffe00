// Taking secrets out of what people read: log lines, error texts, and what the client shows of jobs.
//
// By what they are (the known values of a job), by what they are called and by what they look like (secrets.ts). It may
// take away too much and may miss what is disguised; it must never fail, because recording a failure must not.
import { ENCRYPTED, sealedValue } from './sealed.ts'
import { isAllowed, SHORTEST_SHAPE, suspectName, suspectText, withoutShapes } from './secrets.ts'

export const REDACTED = '[redacted]'

/** Shorter values are part of too many words. */
const SHORTEST_KNOWN = 4
const MOST_KNOWN = 1_000
/** Deeper than any payload. */
const MAX_DEPTH = 70

export interface Known {
  /** Values that must not be shown, wherever they turn up. */
  readonly values?: readonly string[]
  /** Paths at which nothing is shown. */
  readonly paths?: readonly string[]
  /** Leave alone what only may be a secret: for data, where a wrong guess would show something that is not there. */
  readonly onlyCertain?: boolean
}

export class Redactor {
  readonly #values: readonly string[]
  readonly #paths: readonly string[]
  readonly #onlyCertain: boolean

  constructor({ values = [], paths = [], onlyCertain = false }: Known = {}) {
    // The longest first: a value may be part of another one.
    this.#values = [...new Set(values)].sort((a, b) => b.length - a.length)
    this.#paths = paths
    this.#onlyCertain = onlyCertain
  }

  text(text: string): string {
    const known = this.#values.reduce((rest, value) => rest.replaceAll(value, REDACTED), text)
    if (known.length < SHORTEST_SHAPE || (this.#onlyCertain && !suspectText(known)?.isCertain)) return known
    return withoutShapes(known, REDACTED)
  }

  /** A copy for people: of what JSON can say, of errors, and of what else turns up in log fields. */
  json(value: unknown, path: readonly string[] = [], ancestors: readonly object[] = []): unknown {
    if (path.length > 0 && isAllowed(this.#paths, path)) return hidden(value)
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number' || typeof value === 'bigint')
      return this.#values.includes(String(value)) ? REDACTED : value
    if (typeof value !== 'object' || value === null) return value
    if (sealedValue(value) !== undefined) return ENCRYPTED
    if (ancestors.includes(value) || ancestors.length === MAX_DEPTH) return '[…]'
    const below = [...ancestors, value]
    if (value instanceof Error) return this.#error(value, path, below)
    if (Array.isArray(value)) return value.map((child, i) => this.json(child, [...path, String(i)], below))
    if (hasOwnJson(value)) return this.json(value.toJSON(), path, below)
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [this.text(key), this.#field(key, child, path, below)]),
    )
  }

  #field(key: string, value: unknown, path: readonly string[], ancestors: readonly object[]): unknown {
    const isNamed = suspectName(key)?.isCertain && (typeof value === 'string' || typeof value === 'number')
    return isNamed && value !== '' ? REDACTED : this.json(value, [...path, key], ancestors)
  }

  #error(error: Error, path: readonly string[], ancestors: readonly object[]): object {
    const { name, message, stack } = error
    return this.json({ ...error, name, message, stack }, path, ancestors) as object
  }
}

/** For what belongs to no job, or to one that is not sensitive. */
export const plainRedactor = new Redactor()

const hidden = (value: unknown): unknown =>
  sealedValue(value) === undefined ? (value === null ? null : REDACTED) : ENCRYPTED

const hasOwnJson = (value: object): value is { toJSON(): unknown } =>
  typeof (value as { toJSON?: unknown }).toJSON === 'function'

/** The texts and numbers in these values, also as they look inside JSON. */
export function textsOf(values: readonly unknown[]): string[] {
  const texts: string[] = []
  const collect = (value: unknown): void => {
    if (texts.length >= MOST_KNOWN) return
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value)
      if (text.length >= SHORTEST_KNOWN) texts.push(text, JSON.stringify(text).slice(1, -1))
    } else if (typeof value === 'object' && value !== null) {
      for (const child of Object.values(value)) collect(child)
    }
  }
  for (const value of values) collect(value)
  return texts
}
