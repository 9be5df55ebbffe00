// The README of the package is the list of what there is: every call of it stands there.
import { readFileSync } from 'node:fs'
import * as exported from 'millrace'
import * as adapters from 'millrace/adapters'
import * as testing from 'millrace/testing'
import { expect, test } from 'vitest'

const file = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const text = file('../../README.md')

/** In code, as `name`, or with what follows it: `name(…)`, `name.of`. */
const isNamed = (name: string, within = text): boolean => new RegExp(`\`(?:[\\w.]*\\.)?${name}(?![\\w-])`).test(within)

const methodsOf = (area: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(area)).filter((name) => name !== 'constructor')

test.each([
  ['millrace', exported],
  ['millrace/adapters', adapters],
  ['millrace/testing', testing],
])('everything that %s exports is in the README', (_, module) => {
  expect(Object.keys(module).filter((name) => !isNamed(name))).toEqual([])
})

test('every call of a client is in the README', async () => {
  await using millrace = exported.createMillrace({ database: 'postgres://localhost/none', jobs: [] })
  const areas = Object.entries(millrace)
  const missing = methodsOf(millrace).filter((name) => !text.includes(`\`millrace.${name}(`))
  expect(missing).toEqual([])
  expect(areas.length).toBeGreaterThan(10)
  for (const [area, calls] of areas) {
    const row = text.split('\n').find((line) => line.startsWith(`| \`millrace.${area}\``)) ?? ''
    expect(methodsOf(calls).filter((name) => !isNamed(name, row))).toEqual([])
  }
})

test('every member of a handler’s context is in the README', () => {
  const declaration =
    /export interface JobContext \{\n(.*?)^\}/ms.exec(file('../../dist/worker/context.d.ts'))?.[1] ?? ''
  const members = [...declaration.matchAll(/^ {4}(?:readonly )?(\w+)[<(:?]/gm)].map((match) => match[1] as string)
  expect(members).toContain('transaction')
  const table = text.slice(text.indexOf('| `ctx`'))
  expect(members.filter((name) => !isNamed(name, table))).toEqual([])
})
