// What is wrong with a configuration: every mistake at once, each with its place, what was expected, and a suggestion.
import type { z } from 'zod'
import { keysOf, schemaAt } from './schema-paths.ts'

export interface Problem {
  readonly path: readonly PropertyKey[]
  readonly text: string
}

/** The configuration cannot be used: what happened, what was expected, what to do. */
export class ConfigurationUnusable extends Error {
  override readonly name = 'ConfigurationUnusable'
  readonly problems: readonly string[]

  constructor(file: string, problems: readonly string[]) {
    const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
    super(`The configuration has ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}\nCorrect ${file}.`)
    this.problems = problems
  }
}

/** The problems behind an issue of the schema: a table with two unknown keys has two. */
export function problemsOf(schema: z.ZodType, issue: z.core.$ZodIssue): Problem[] {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(keysOf(schemaAt(schema, path) ?? schema) ?? {})
    return issue.keys.map((key) => ({ path: [...path, key], text: `unknown key${didYouMean(key, known)}` }))
  }
  if (issue.code === 'invalid_key')
    return [{ path, text: 'unknown key: expected high, default, screenshot, low or bulk' }]
  return [{ path, text: expectation(issue) }]
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'too_small':
      return issue.origin === 'string' ? 'expected text, and it is empty' : `expected at least ${issue.minimum}`
    case 'too_big':
      return `expected at most ${issue.maximum}`
    case 'invalid_value':
      return `expected ${issue.values
        .map(String)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')}`
    case 'invalid_format':
      return issue.format === 'url'
        ? 'expected an address like https://example.com'
        : `expected ${article(issue.format)}`
    case 'invalid_type':
      return `expected ${EXPECTED[issue.expected] ?? article(issue.expected)}`
    default:
      return issue.message
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  int: 'a whole number',
  object: 'a table of keys',
  array: 'a list',
  string: 'text',
  boolean: 'true or false',
}

const article = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

function didYouMean(wrong: string, known: readonly string[]): string {
  const near = known
    .map((key) => ({ key, distance: distance(wrong, key) }))
    .sort((a, b) => a.distance - b.distance)
    .at(0)
  if (near !== undefined && near.distance <= Math.max(2, wrong.length / 3)) return `, did you mean "${near.key}"?`
  return `: expected one of ${known.join(', ')}`
}

/** How many letters must be added, removed or changed. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(changed, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    above = row
  }
  return above[b.length] ?? 0
}
