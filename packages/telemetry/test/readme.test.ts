import { readFileSync } from 'node:fs'
import * as exported from '@millrace/telemetry'
import { expect, test } from 'vitest'

const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('everything that @millrace/telemetry exports is in the README', () => {
  expect(Object.keys(exported).filter((name) => !new RegExp(`\`${name}[(\`]`).test(text))).toEqual([])
})
