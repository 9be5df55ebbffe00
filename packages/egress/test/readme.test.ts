import { readFileSync } from 'node:fs'
import * as exported from '@millrace/egress'
import { expect, test } from 'vitest'

const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('everything that the package exports is in its README', () => {
  expect(Object.keys(exported).filter((name) => !new RegExp(`\`${name}\\b`).test(text))).toEqual([])
})

test('every code of an error is in the README', () => {
  const source = readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8')
  const codes = [...source.matchAll(/^ {2}\| '(\w+)'|type \w+Code = (.*)$/gm)].flatMap(([line]) =>
    [...line.matchAll(/'(\w+)'/g)].map(([, code]) => code ?? ''),
  )
  expect(codes.length).toBeGreaterThan(20)
  expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([])
})
