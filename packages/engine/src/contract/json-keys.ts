// What is known about the keys of payloads, and how the path to a value is written.
import { storable } from '../failure.ts'
import { SEAL } from './sealed.ts'
import { SHORTEST_SHAPE, type Suspicion, suspectName, suspectText } from './secrets.ts'

export const UNSTORABLE_TEXT =
  'contains \\u0000 or a lone surrogate, which Postgres cannot store; remove it, or encode the bytes as base64'

export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

interface KeyFacts {
  /** Why no object may have this key. */
  readonly problem?: string
  /** The key is a secret. */
  readonly itself?: Suspicion | undefined
  /** What the key says about its value. */
  readonly value?: Suspicion | undefined
}

/** The same few keys come again and again; keys that are data must not fill the memory. */
const knownKeys = new Map<string, KeyFacts>()
const MAX_KNOWN_KEYS = 2_000
const LONGEST_NAME = 80

export function factsOf(key: string): KeyFacts {
  const known = knownKeys.get(key)
  if (known !== undefined) return known
  const facts = look(key)
  if (key.length > LONGEST_NAME) return facts
  if (knownKeys.size >= MAX_KNOWN_KEYS) knownKeys.clear()
  knownKeys.set(key, facts)
  return facts
}

function look(key: string): KeyFacts {
  if (key === '__proto__')
    return { problem: 'it has the key "__proto__", which replaces prototypes when objects are merged; rename it' }
  if (key === SEAL) return { problem: `it has the key "${SEAL}", which marks encrypted values; rename it` }
  if (!isStorable(key)) return { problem: `it has a key that ${UNSTORABLE_TEXT}` }
  return {
    itself: key.length >= SHORTEST_SHAPE ? suspectText(key) : undefined,
    value: key.length > LONGEST_NAME ? undefined : suspectName(key),
  }
}

/** For people, and for logs: keys that are secrets themselves are not shown. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((segment) =>
      typeof segment === 'string' && suspectText(segment)?.isCertain ? '(secret)' : storable(String(segment), 60),
    )
    .join('.')
}
