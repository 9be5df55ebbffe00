import { readFileSync } from 'node:fs'
import * as exported from '@millrace/redis'
import * as testing from '@millrace/redis/testing'
import { expect, test } from 'vitest'

const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('everything that the package exports is in its README', () => {
  const names = [...Object.keys(exported), ...Object.keys(testing)].filter((name) => name !== 'RedisServer')
  expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(text))).toEqual([])
})

test('every code of an error is in the README', () => {
  const source = readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8')
  const codes = [...source.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, code]) => code ?? '')
  expect(codes.length).toBeGreaterThan(8)
  expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([])
})
