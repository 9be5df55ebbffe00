// What is kept of an error.
import { bounded, cutBetweenWords } from './contract/bounded.ts'
import { withoutSecrets } from './contract/secret-texts.ts'
import { type Described, fingerprintOf } from './fingerprint.ts'

/** What is kept of a failure, whatever was thrown. */
export interface Failure extends Described {
  /** The same for failures that have the same cause, as far as text can tell. */
  fingerprint: string
}

const MAX_CLASS = 200
const MAX_MESSAGE = 4_000
const MAX_STACK = 8_000

/**
 * Turns anything thrown into text that Postgres will store: recording a failure must never fail. What has the shape of a
 * secret is taken out; `withhold` takes out more.
 */
export function failureFrom(thrown: unknown, withhold: (described: Described) => Described = same): Failure {
  const told = withhold(describe(thrown))
  const message = safe(told.message)
  // The stack begins with the message. It must not tell what the message does not.
  const stack = told.stack === null ? null : safe(told.stack.replace(told.message, () => message))
  const described = {
    class: storable(told.class, MAX_CLASS),
    message: storable(message, MAX_MESSAGE),
    stack: stack === null ? null : storable(stack, MAX_STACK),
  }
  return { ...described, fingerprint: fingerprintOf(described) }
}

const same = (described: Described): Described => described
const safe = (text: string): string => withoutSecrets(text, '[redacted]')

/** A failure that nobody threw: we found it out ourselves. */
export function failureOf(name: string, message: string): Failure {
  const described = { class: name, message, stack: null }
  return { ...described, fingerprint: fingerprintOf(described) }
}

/** Longer than what is stored: secrets are taken out before the rest is cut. */
function describe(thrown: unknown): Described {
  try {
    if (thrown instanceof Error) {
      return {
        class: cutBetweenWords(thrown.name || 'Error', 2 * MAX_CLASS),
        message: cutBetweenWords(thrown.message || thrown.name || 'Error', 2 * MAX_MESSAGE),
        stack: thrown.stack ? cutBetweenWords(thrown.stack, 2 * MAX_STACK) : null,
      }
    }
    const text = typeof thrown === 'string' ? thrown : (JSON.stringify(bounded(thrown)) ?? String(thrown))
    return { class: 'NonError', message: cutBetweenWords(text, 2 * MAX_MESSAGE), stack: null }
  } catch {
    return { class: 'Unprintable', message: 'Something was thrown that cannot be turned into text.', stack: null }
  }
}

/** Text that a Postgres `text` or `jsonb` value accepts: no NUL, no lone surrogates, not too long. */
export function storable(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  return cut.replaceAll('\u0000', '\uFFFD').toWellFormed()
}
