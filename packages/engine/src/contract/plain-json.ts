// One walk over a value, into the plain data that JSON can say and Postgres can store, or into a refusal.
//
// JSON.stringify is silent about what it cannot say: NaN becomes null, a Map {}, undefined in a list null. Here each of
// these is refused at its path. What passes is copied, so that what was checked is what is stored, even if the value
// answers differently when it is read twice.

import { storable } from '../failure.ts'
import { factsOf, isStorable, pathText, UNSTORABLE_TEXT } from './json-keys.ts'
import { isAllowed, SHORTEST_SHAPE, type Suspicion, suspectText } from './secrets.ts'
import { type EnqueueWarning, type EnqueueWarningCode, NO_WARNINGS } from './warning.ts'

export interface JsonLimits {
  readonly maxBytes: number
  /** Paths at which secrets are meant to be. */
  readonly allowSecrets: readonly string[]
}

/** Objects and lists inside each other. Beyond it something went wrong, and recursive code, ours included, is at risk. */
export const MAX_DEPTH = 64

/** Why a value was refused, and where. Thrown inside the walk only. */
export class Refusal extends Error {
  readonly path: string
  readonly isSecret: boolean

  constructor(path: string, problem: string, isSecret = false) {
    super(problem)
    this.path = path
    this.isSecret = isSecret
  }
}

export interface PlainJson {
  readonly value: unknown
  readonly warnings: readonly EnqueueWarning[]
}

/** The plain copy of `input`: equal to JSON.parse(JSON.stringify(input)), and nothing was lost on the way. */
export function plainJson(input: unknown, limits: JsonLimits): PlainJson {
  const walk = new Walk(limits)
  try {
    const value = walk.copy(resolved(input, ''), 0, undefined)
    return { value, warnings: walk.warnings }
  } catch (error) {
    throw error instanceof Refusal ? error : walk.unreadable(error)
  }
}

export const tooLarge = (maxBytes: number, bytes?: number): Refusal =>
  new Refusal(
    '',
    `it is ${bytes ?? `more than ${maxBytes}`} bytes of JSON, the limit is ${maxBytes}; store the data and pass a reference`,
  )

const MAX_WARNINGS = 20

class Walk {
  warnings = NO_WARNINGS
  readonly #limits: JsonLimits
  readonly #path: (string | number)[] = []
  readonly #ancestors: object[] = []
  /** Bytes that are left, counting each value with the least that JSON needs for it: references can multiply a value. */
  #budget: number
  #readingAt = 0

  constructor(limits: JsonLimits) {
    this.#limits = limits
    this.#budget = limits.maxBytes
  }

  /** `suspicion`: what the key that leads here says about the value. */
  copy(value: unknown, depth: number, suspicion: Suspicion | undefined): unknown {
    switch (typeof value) {
      case 'string':
        return this.#text(value, depth, suspicion)
      case 'number':
        return this.#number(value, depth, suspicion)
      case 'boolean':
        this.#spend(4)
        return value
      case 'object':
        if (value === null) {
          this.#spend(4)
          return value
        }
        return Array.isArray(value) ? this.#list(value, depth, suspicion) : this.#record(value, depth)
      default:
        throw this.#refusal(depth, NO_JSON[typeof value as keyof typeof NO_JSON])
    }
  }

  unreadable(error: unknown): Refusal {
    const name = error instanceof Error ? error.name : typeof error
    return this.#refusal(this.#readingAt, `it cannot be read: a getter or toJSON threw ${name}; pass plain data`)
  }

  #text(text: string, depth: number, suspicion: Suspicion | undefined): string {
    this.#spend(text.length + 2)
    if (!isStorable(text)) throw this.#refusal(depth, `it ${UNSTORABLE_TEXT}`)
    if (suspicion !== undefined && text !== '' && !PLACEHOLDER.test(text)) this.#suspect(suspicion, depth)
    if (text.length >= SHORTEST_SHAPE) {
      const shape = suspectText(text)
      if (shape !== undefined) this.#suspect(shape, depth)
    }
    return text
  }

  #number(value: number, depth: number, suspicion: Suspicion | undefined): number {
    this.#spend(1)
    if (!Number.isFinite(value)) {
      throw this.#refusal(depth, `it is ${value}, which JSON turns into null; pass null or a finite number`)
    }
    // Counts and sizes have names like `token`; numbers that are passwords or card numbers have clearer ones.
    if (suspicion?.isCertain) this.#suspect(suspicion, depth)
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e21) {
      const what = 'is an integer beyond 2^53, where neighbours cannot be told apart; pass ids as text'
      this.#warn('unsafe_integer', depth, what)
    }
    // JSON has no -0.
    return value === 0 ? 0 : value
  }

  #list(source: readonly unknown[], depth: number, suspicion: Suspicion | undefined): unknown[] {
    this.#enter(source, depth)
    const { length } = source
    if (length > this.#budget) throw tooLarge(this.#limits.maxBytes)
    const copy = new Array<unknown>(length)
    for (let i = 0; i < length; i++) {
      this.#path[depth] = i
      this.#readingAt = depth + 1
      const value = resolved(source[i], i)
      if (value === undefined) throw this.#refusal(depth + 1, UNDEFINED_IN_LIST)
      copy[i] = this.copy(value, depth + 1, suspicion)
    }
    return copy
  }

  #record(source: object, depth: number): object {
    this.#enter(source, depth)
    const prototype = Object.getPrototypeOf(source)
    if (prototype !== Object.prototype && !isPlain(source, prototype))
      throw this.#refusal(depth, instanceProblem(source))
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(source)) {
      this.#path[depth] = key
      this.#readingAt = depth + 1
      const value = resolved((source as Record<string, unknown>)[key], key)
      if (value === undefined) continue
      this.#spend(key.length + 3)
      const facts = factsOf(key)
      if (facts.problem !== undefined) throw this.#refusal(depth, facts.problem)
      if (facts.itself !== undefined)
        this.#suspect({ ...facts.itself, rule: `a key that is ${facts.itself.rule}` }, depth)
      copy[key] = this.copy(value, depth + 1, facts.value)
    }
    return copy
  }

  #enter(source: object, depth: number): void {
    this.#spend(2)
    if (depth >= MAX_DEPTH) {
      const isCyclic = this.#ancestors.includes(source)
      throw isCyclic
        ? this.#refusal(1, 'it refers to itself; pass the ids of what it refers to')
        : this.#refusal(1, `it is deeper than ${MAX_DEPTH} levels; store the data and pass a reference`)
    }
    this.#ancestors[depth] = source
  }

  #spend(bytes: number): void {
    this.#budget -= bytes
    if (this.#budget < 0) throw tooLarge(this.#limits.maxBytes)
  }

  #suspect({ rule, isCertain }: Suspicion, depth: number): void {
    if (isAllowed(this.#limits.allowSecrets, this.#path.slice(0, depth).map(String))) return
    if (isCertain) throw new Refusal(pathText(this.#path.slice(0, depth)), rule, true)
    const what = `may be a secret, judging by ${rule}; pass a reference, or list the path in allowSecrets`
    this.#warn('possible_secret', depth, what)
  }

  /** One warning for all elements of a list. */
  #warn(code: EnqueueWarningCode, depth: number, what: string): void {
    const path = pathText(this.#path.slice(0, depth).map((segment) => (typeof segment === 'number' ? '*' : segment)))
    const message = `${path || 'it'} ${what}`
    if (this.warnings.length < MAX_WARNINGS && !this.warnings.some((warning) => warning.message === message))
      this.warnings = [...this.warnings, { code, message }]
  }

  #refusal(depth: number, problem: string): Refusal {
    return new Refusal(pathText(this.#path.slice(0, depth)), problem)
  }
}

const UNDEFINED_IN_LIST = 'it is undefined or missing, which JSON turns into null; pass null, or a list without it'
const NO_JSON = {
  undefined: 'it is undefined, which JSON cannot say; pass null or {}',
  bigint: 'it is a bigint, which JSON cannot say; pass it as text: String(value)',
  function: 'it is a function, which JSON leaves out; pass data only',
  symbol: 'it is a symbol, which JSON leaves out; pass data only',
} as const
/** What stands where a secret was taken out. */
const PLACEHOLDER = /^(?:\*+|x{3,}|•+|[[<(]?(?:redacted|filtered|masked|hidden|removed)[\])>]?)$/i

/** What JSON takes instead of the value: that of its toJSON. */
function resolved(value: unknown, key: string | number): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'bigint') return value
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return value
  // Its toJSON would answer null, and nobody would notice.
  if (isInvalidDate(value)) return value
  return toJSON.call(value, String(key))
}

const isInvalidDate = (value: unknown): boolean => value instanceof Date && Number.isNaN(value.getTime())

/** Without a class: made by Object.create(null), or a plain object of another realm. */
function isPlain(source: object, prototype: object | null): boolean {
  if (prototype !== null) return Object.getPrototypeOf(prototype) === null
  return (JSON as { isRawJSON?: (value: unknown) => boolean }).isRawJSON?.(source) !== true
}

const REMEDIES: Record<string, string> = {
  Map: 'pass Object.fromEntries(map) or [...map]',
  Set: 'pass [...set]',
  Promise: 'await it first',
  Error: 'pass its name and message',
}

function instanceProblem(source: object): string {
  if (isInvalidDate(source)) return 'it is an invalid Date, which JSON turns into null; pass null or a valid one'
  const name = storable(String(source.constructor?.name ?? 'a class'), 60)
  const remedy = REMEDIES[name] ?? 'pass a plain object, or give the class a toJSON'
  return `it is an instance of ${name}, of which JSON keeps at most the bare fields; ${remedy}`
}
