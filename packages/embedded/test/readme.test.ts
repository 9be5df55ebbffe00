import { readFileSync } from 'node:fs'
import * as exported from '@millrace/embedded'
import { expect, test } from 'vitest'

test('everything that the package exports is in its README', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  expect(Object.keys(exported).filter((name) => !new RegExp(`\`${name}\\b`).test(text))).toEqual([])
})
