// What is kept of an error.
import { withoutShapes } from './contract/secrets.ts'
import { type Described, fingerprintOf } from './fingerprint.ts'

/** What is kept of a failure, whatever was thrown. */
export interface Failure extends Described {
  /** The same for failures that have the same cause, as far as text can tell. */
  fingerprint: string
}

const MAX_MESSAGE = 4_000
const MAX_STACK = 8_000

/**
 * Turns anything thrown into text that Postgres will store: recording a failure must never fail. What has the shape of a
 * secret is taken out; `withhold` takes out more.
 */
export function failureFrom(thrown: unknown, withhold: (described: Described) => Described = same): Failure {
  const { class: name, message, stack } = withhold(describe(thrown))
  const described = { class: name, message: safe(message), stack: stack === null ? null : safe(stack) }
  return { ...described, fingerprint: fingerprintOf(described) }
}

const same = (described: Described): Described => described
const safe = (text: string): string => withoutShapes(text, '[redacted]')

/** A failure that nobody threw: we found it out ourselves. */
export function failureOf(name: string, message: string): Failure {
  const described = { class: name, message, stack: null }
  return { ...described, fingerprint: fingerprintOf(described) }
}

function describe(thrown: unknown): Described {
  try {
    if (thrown instanceof Error) {
      return {
        class: storable(thrown.name || 'Error', 200),
        message: storable(thrown.message || thrown.name || 'Error', MAX_MESSAGE),
        stack: thrown.stack ? storable(thrown.stack, MAX_STACK) : null,
      }
    }
    const text = typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? String(thrown))
    return { class: 'NonError', message: storable(text, MAX_MESSAGE), stack: null }
  } catch {
    return { class: 'Unprintable', message: 'Something was thrown that cannot be turned into text.', stack: null }
  }
}

/** Text that a Postgres `text` or `jsonb` value accepts: no NUL, no lone surrogates, not too long. */
export function storable(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  return cut.replaceAll('\u0000', '\uFFFD').toWellFormed()
}
