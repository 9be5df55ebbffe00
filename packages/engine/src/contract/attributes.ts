// Values of a payload that its contract names for people who search traces and logs: `attributes: ['event_id', 'url']`.
import { InvalidDefinition } from '../errors.ts'
import { plainRedactor, type Redactor } from './redact.ts'

/** Several values where a path has a `*`. */
export type AttributeValue = string | number | boolean | string[]

const MAX_TEXT = 200
const MAX_VALUES = 20

/** Attributes leave the database in plain text, so none may stand where secrets are meant to be. */
export function checkAttributes(
  type: string,
  attributes: readonly string[],
  { sensitive, allowSecrets }: { sensitive: readonly string[]; allowSecrets: readonly string[] },
): readonly string[] {
  for (const path of attributes) {
    const option = meet(sensitive, path) ? 'sensitive' : meet(allowSecrets, path) ? 'allowSecrets' : undefined
    if (option === undefined) continue
    throw new InvalidDefinition(
      `Job "${type}" has '${path}' in attributes, and ${option} covers it: spans and log lines must not tell it. Remove one of the two.`,
    )
  }
  return attributes
}

/** Whether a value can stand at or below both the attribute and one of the paths. */
function meet(paths: readonly string[], attribute: string): boolean {
  const keys = attribute.split('.')
  return paths.some((path) =>
    path.split('.').every((other, i) => keys[i] === undefined || keys[i] === '*' || other === '*' || keys[i] === other),
  )
}

/**
 * What stands at these paths of a payload, by path. Texts pass the redactor and are cut at 200 characters; objects and
 * null are left out.
 */
export function payloadAttributes(
  paths: readonly string[],
  payload: unknown,
  redactor: Redactor = plainRedactor,
): Record<string, AttributeValue> {
  const found: Record<string, AttributeValue> = {}
  for (const path of paths) {
    const keys = path.split('.')
    const values = valuesAt(payload, keys, 0).slice(0, MAX_VALUES)
    const told = values.flatMap((value) => toldValue(keys.at(-1) as string, value, redactor))
    if (told.length > 0) found[path] = keys.includes('*') ? told.map(String) : (told[0] as AttributeValue)
  }
  return found
}

function valuesAt(value: unknown, keys: readonly string[], depth: number): unknown[] {
  if (depth === keys.length) return [value]
  if (typeof value !== 'object' || value === null) return []
  const key = keys[depth] as string
  if (key === '*') return Object.values(value).flatMap((child) => valuesAt(child, keys, depth + 1))
  return Object.hasOwn(value, key) ? valuesAt((value as Record<string, unknown>)[key], keys, depth + 1) : []
}

/** Redacted by its name and by its shape. */
function toldValue(key: string, value: unknown, redactor: Redactor): (string | number | boolean)[] {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return []
  const told = (redactor.json({ [key]: value }) as Record<string, string | number | boolean>)[key] ?? ''
  return [typeof told === 'string' && told.length > MAX_TEXT ? `${told.slice(0, MAX_TEXT)}…` : told]
}
