// A copy of any value as a tree of plain data, of a size that is bounded. What a handler logs or throws may be anything:
// objects that refer to each other have more paths than a process can walk, and a buffer has more elements.
//
// An object that was copied before is not copied again, because its copies would multiply.

/** Stands for what was left out: too deep, too much, or shown before. */
export const LEFT_OUT = '[…]'

export interface Bounds {
  /** Objects, lists and the values in them. */
  readonly nodes: number
  /** Characters of texts and keys. */
  readonly characters: number
}

/** More than any log line needs. */
export const LINE: Bounds = { nodes: 2_000, characters: 100_000 }
/** For data that was stored, which is a tree of a known size. */
export const WHOLE: Bounds = { nodes: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY }

/** Deeper than any payload. */
const MAX_DEPTH = 70
const LONGEST_WORD = 500

/** May throw what a getter or a toJSON throws. */
export function bounded(value: unknown, bounds: Bounds = LINE): unknown {
  return new Copying(bounds).copy(value, 0)
}

/** At most `length` characters. Half a secret is not recognised as one, so the last word goes as a whole, or most of it. */
export function cutBetweenWords(text: string, length: number): string {
  if (text.length <= length) return text
  const end = Math.max(text.lastIndexOf(' ', length), text.lastIndexOf('\n', length))
  return `${text.slice(0, Math.max(end, length - LONGEST_WORD, 0))}…`
}

class Copying {
  readonly #seen = new Set<object>()
  #nodes: number
  #characters: number

  constructor({ nodes, characters }: Bounds) {
    this.#nodes = nodes
    this.#characters = characters
  }

  copy(value: unknown, depth: number): unknown {
    this.#nodes -= 1
    if (typeof value === 'string') return this.#text(value)
    // JSON has no bigints.
    if (typeof value === 'bigint') return String(value)
    if (typeof value !== 'object' || value === null) return value
    if (this.#nodes < 0 || depth > MAX_DEPTH || this.#seen.has(value)) return LEFT_OUT
    if (ArrayBuffer.isView(value)) return `[${value.constructor.name} of ${value.byteLength} bytes]`
    if (value instanceof Error) return this.#error(value, depth)
    if (hasOwnJson(value)) return this.#converted(value, depth)
    this.#seen.add(value)
    return Array.isArray(value) ? this.#list(value, depth) : this.#record(value, depth)
  }

  #text(text: string): string {
    const shown = cutBetweenWords(text, Math.max(this.#characters, 0))
    this.#characters -= shown.length
    return shown
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = []
    for (let i = 0; i < list.length; i++) {
      if (this.#isSpent) return [...copy, LEFT_OUT]
      copy.push(this.copy(list[i], depth + 1))
    }
    return copy
  }

  #record(record: object, depth: number): object {
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(record)) {
      if (this.#isSpent) return { ...copy, [LEFT_OUT]: LEFT_OUT }
      Object.defineProperty(copy, this.#text(key), {
        value: this.copy((record as Record<string, unknown>)[key], depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return copy
  }

  /** With what JSON would not show: its message, its stack and the errors behind it. */
  #error(error: Error, depth: number): object {
    this.#seen.add(error)
    const { name, message, stack, cause } = error
    const errors = (error as Partial<AggregateError>).errors
    const hidden = { ...(cause === undefined ? {} : { cause }), ...(errors === undefined ? {} : { errors }) }
    return this.#record({ ...error, name, message, stack, ...hidden }, depth)
  }

  #converted(value: { toJSON(): unknown }, depth: number): unknown {
    const converted = value.toJSON()
    // One that returns itself, or a new object each time, must end too.
    if (typeof converted === 'object' && converted !== null) this.#seen.add(value)
    if (converted !== value) return this.copy(converted, depth + 1)
    return Array.isArray(value) ? this.#list(value, depth) : this.#record(value, depth)
  }

  get #isSpent(): boolean {
    return this.#nodes <= 0 || this.#characters <= 0
  }
}

const hasOwnJson = (value: object): value is { toJSON(): unknown } =>
  typeof (value as { toJSON?: unknown }).toJSON === 'function'
