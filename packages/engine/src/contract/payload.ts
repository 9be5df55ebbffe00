// Checking values against a contract's schemas, and turning them into JSON that Postgres will take.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { InvalidPayload, type PayloadIssue } from '../errors.ts'
import type { JobContract } from './job.ts'

export const MAX_PAYLOAD_BYTES = 256 * 1024
export const MAX_RESULT_BYTES = 64 * 1024

/**
 * Parses `input` with the contract's schema; the transformed value is what the handler gets. A promise only if the
 * schema is asynchronous: between the parsing and the call of a handler nothing else should get its turn.
 */
export function parsePayload(contract: JobContract, input: unknown): unknown | Promise<unknown> {
  const checked = validate(contract.payload, input)
  return checked instanceof Promise ? checked.then((later) => valueFrom(contract, later)) : valueFrom(contract, checked)
}

function valueFrom(contract: JobContract, checked: Checked): unknown {
  if ('issues' in checked) throw new InvalidPayload(contract.type, checked.issues)
  return checked.value
}

/** The JSON text to store for `input`, or InvalidPayload. */
export function encodePayload(contract: JobContract, input: unknown): string {
  const encoded = encodeJson(input, MAX_PAYLOAD_BYTES)
  if ('problem' in encoded) throw new InvalidPayload(contract.type, [{ path: '', message: encoded.problem }])
  return encoded.text
}

type Checked = { value: unknown } | { issues: PayloadIssue[] }

export function validate(schema: StandardSchemaV1, input: unknown): Checked | Promise<Checked> {
  const outcome = schema['~standard'].validate(input)
  return outcome instanceof Promise ? outcome.then(checkedFrom) : checkedFrom(outcome)
}

function checkedFrom(outcome: StandardSchemaV1.Result<unknown>): Checked {
  if (outcome.issues === undefined) return { value: outcome.value }
  return { issues: outcome.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })) }
}

/** JSON text of a value, or why there is none. */
export function encodeJson(value: unknown, maxBytes: number): { text: string } | { problem: string } {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    return { problem: `it cannot be written as JSON (${(error as Error).message})` }
  }
  if (text === undefined) return { problem: `it cannot be written as JSON (it is ${typeof value})` }
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) {
    return { problem: `it is ${bytes} bytes of JSON, the limit is ${maxBytes}; store the data and pass a reference` }
  }
  if (hasUnstorableText(text)) {
    return { problem: 'it contains \\u0000 or a lone surrogate, which Postgres cannot store in jsonb' }
  }
  return { text }
}

/** JSON.stringify writes NUL and lone surrogates as escapes; an escape after an even number of backslashes is real. */
const SUSPICIOUS = /\\u(?:0000|d[89a-f])/
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/

function hasUnstorableText(json: string): boolean {
  return SUSPICIOUS.test(json) && UNSTORABLE.test(json)
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  return (issue.path ?? [])
    .map((segment) => (typeof segment === 'object' ? String(segment.key) : String(segment)))
    .join('.')
}
