// Taking secrets out of what people read: log lines, error texts, and what the client shows of jobs.
//
// By what they are (the known values of a job), by what they are called and by what they look like (secrets.ts). It may
// take away too much and may miss what is disguised; it must never fail, because recording a failure must not.
import { bounded, cutBetweenWords, LINE, WHOLE } from './bounded.ts'
import { ENCRYPTED, sealedValue } from './sealed.ts'
import { isSecretField, withoutSecrets } from './secret-texts.ts'
import { isAllowed, suspectName, suspectText } from './secrets.ts'

export const REDACTED = '[redacted]'

/** Shorter values are part of too many words. */
const SHORTEST_KNOWN = 4
const MOST_KNOWN = 1_000

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
    const shown = this.#onlyCertain ? text : cutBetweenWords(text, LINE.characters)
    const known = this.#values.reduce((rest, value) => rest.replaceAll(value, REDACTED), shown)
    if (this.#onlyCertain && !suspectText(known)?.isCertain) return known
    return withoutSecrets(known, REDACTED)
  }

  /** A copy for people: of what JSON can say, of errors, and of what else turns up in log fields. */
  json(value: unknown): unknown {
    return this.#shown(bounded(value, this.#onlyCertain ? WHOLE : LINE), [])
  }

  #shown(value: unknown, path: readonly string[]): unknown {
    if (path.length > 0 && isAllowed(this.#paths, path)) return hidden(value)
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number') return this.#values.includes(String(value)) ? REDACTED : value
    if (typeof value !== 'object' || value === null) return value
    if (sealedValue(value) !== undefined) return ENCRYPTED
    if (Array.isArray(value)) return value.map((child, i) => this.#shown(child, [...path, String(i)]))
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [this.text(key), this.#field(key, child, path)]),
    )
  }

  /** The name of a list says what its elements are. */
  #field(key: string, value: unknown, path: readonly string[]): unknown {
    if (this.#isNamed(key, value)) return REDACTED
    if (!Array.isArray(value)) return this.#shown(value, [...path, key])
    return value.map((child, i) =>
      this.#isNamed(key, child) ? REDACTED : this.#shown(child, [...path, key, String(i)]),
    )
  }

  #isNamed(key: string, value: unknown): boolean {
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return false
    return this.#onlyCertain ? suspectName(key)?.isCertain === true : isSecretField(key, String(value))
  }
}

/** For what belongs to no job, or to one that is not sensitive. */
export const plainRedactor = new Redactor()

const hidden = (value: unknown): unknown =>
  sealedValue(value) === undefined ? (value === null ? null : REDACTED) : ENCRYPTED

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
