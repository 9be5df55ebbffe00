// Checking values against a contract's schemas, and turning them into JSON that Postgres will take.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { InvalidPayload, type PayloadIssue, SecretInPayload } from '../errors.ts'
import type { JobContract } from './job.ts'
import { pathText } from './json-keys.ts'
import { type JsonLimits, plainJson, Refusal, tooLarge } from './plain-json.ts'
import { isAllowed } from './secrets.ts'
import { upgraded } from './versions.ts'
import type { EnqueueWarning } from './warning.ts'

const MAX_PAYLOAD_BYTES = 256 * 1024
const MAX_RESULT_BYTES = 64 * 1024

export interface CheckedPayload {
  /** The JSON text that is stored. */
  readonly text: string
  /** What looks wrong but need not be. */
  readonly warnings: readonly EnqueueWarning[]
}

/**
 * Checks a payload as `enqueue` does, and writes nothing. Throws InvalidPayload or SecretInPayload. For tests of
 * examples, and for forms that take payloads.
 */
export async function checkPayload(contract: JobContract, input: unknown): Promise<CheckedPayload> {
  return checkedPayload(contract, input)
}

/** The same, and a promise only if the schema is asynchronous: a promise per payload is what slows a large list down. */
export function checkedPayload(contract: JobContract, input: unknown): CheckedPayload | Promise<CheckedPayload> {
  const encoded = encodeJson(input, { maxBytes: MAX_PAYLOAD_BYTES, allowSecrets: contract.allowSecrets })
  if ('refusal' in encoded) throw payloadError(contract.type, encoded.refusal)
  // What is validated is what will be stored: a Date, say, is text by now.
  const checked = validate(contract.payload, encoded.value)
  if (checked instanceof Promise) return checked.then((later) => accepted(contract, encoded, later))
  return accepted(contract, encoded, checked)
}

function accepted(contract: JobContract, { text, warnings }: CheckedPayload, checked: Checked): CheckedPayload {
  if ('issues' in checked) throw new InvalidPayload(contract.type, shown(contract, checked.issues))
  return { text, warnings }
}

function payloadError(type: string, { path, message, isSecret }: Refusal): InvalidPayload | SecretInPayload {
  return isSecret ? new SecretInPayload(type, path, message) : new InvalidPayload(type, [{ path, message }])
}

/**
 * Brings a stored payload to the contract's version and parses it with its schema; the transformed value is what the
 * handler gets. A promise only if the schema is asynchronous: between the parsing and the call of a handler nothing else
 * should get its turn.
 */
export function parseStored(contract: JobContract, stored: unknown, version: number): unknown | Promise<unknown> {
  const checked = validate(contract.payload, upgraded(contract, stored, version))
  return checked instanceof Promise ? checked.then((later) => valueFrom(contract, later)) : valueFrom(contract, checked)
}

function valueFrom(contract: JobContract, checked: Checked): unknown {
  if ('issues' in checked) throw new InvalidPayload(contract.type, shown(contract, checked.issues), 'stored')
  return checked.value
}

/**
 * Some libraries quote the value in their message; where secrets are meant to be, it must not end up in a log. Of a
 * sensitive type no message is told, since one about a whole object may quote what is in it, and no key below a path.
 */
function shown({ allowSecrets, sensitive }: JobContract, issues: readonly PayloadIssue[]): PayloadIssue[] {
  return issues.map(({ path, message }) => {
    const keys = path.split('.')
    const depth = keys.findIndex((_, i) => isAllowed(sensitive, keys.slice(0, i + 1)))
    const isTold = sensitive.length === 0 && !isAllowed(allowSecrets, keys)
    return {
      path: depth === -1 ? path : keys.slice(0, depth + 1).join('.'),
      message: isTold ? message : 'it does not fit the schema',
    }
  })
}

/** What is wrong with a handler's result, for people. */
export function resultIssues(contract: JobContract, issues: readonly PayloadIssue[]): string {
  return shown(contract, issues)
    .map(({ path, message }) => `${path} ${message}`.trim())
    .join('; ')
}

/** The JSON text of a handler's result, or why there is none. */
export function encodeResult(
  { allowSecrets }: Pick<JobContract, 'allowSecrets'>,
  result: unknown,
): { text: string } | { problem: string } {
  const encoded = encodeJson(result, { maxBytes: MAX_RESULT_BYTES, allowSecrets })
  if (!('refusal' in encoded)) return encoded
  const { path, message, isSecret } = encoded.refusal
  const problem = isSecret
    ? `it carries a secret (${message}); results are kept in plain text, return a reference`
    : message
  return { problem: path === '' ? problem : `${path}: ${problem}` }
}

export type Checked = { value: unknown } | { issues: PayloadIssue[] }

export function validate(schema: StandardSchemaV1, input: unknown): Checked | Promise<Checked> {
  const outcome = schema['~standard'].validate(input)
  return outcome instanceof Promise ? outcome.then(checkedFrom) : checkedFrom(outcome)
}

function checkedFrom(outcome: StandardSchemaV1.Result<unknown>): Checked {
  if (outcome.issues === undefined) return { value: outcome.value }
  return { issues: outcome.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })) }
}

type Encoded = { text: string; value: unknown; warnings: readonly EnqueueWarning[] } | { refusal: Refusal }

/** JSON text of a value and the plain data it stands for, or why there is none. */
export function encodeJson(input: unknown, limits: JsonLimits): Encoded {
  try {
    const { value, warnings } = plainJson(input, limits)
    const text = JSON.stringify(value)
    const bytes = Buffer.byteLength(text)
    return bytes > limits.maxBytes ? { refusal: tooLarge(limits.maxBytes, bytes) } : { text, value, warnings }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  return pathText((issue.path ?? []).map((segment) => String(typeof segment === 'object' ? segment.key : segment)))
}
