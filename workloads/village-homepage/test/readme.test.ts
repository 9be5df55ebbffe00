// The README: its example of a job type is written to files, and the test that it shows is run here.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { filesOf, root } from '../../../test/support/document.ts'

const README = 'workloads/village-homepage/README.md'
const files = filesOf(README)
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'village-readme-'))
afterAll(() => rm(folder, { recursive: true }))

for (const { name, text } of files) {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  // What is not part of the example stays where it is.
  const support = join(root, 'workloads/village-homepage/test/support/')
  const here = text.replaceAll(/'#src\/([\w/-]+)'/g, "'../../src/$1.ts'").replaceAll("'../support/", `'${support}`)
  writeFileSync(join(folder, name), here)
}

test('the example has its four steps', () => {
  expect(files.map(({ name }) => name)).toEqual([
    'src/feeds/forget-contract.ts',
    'src/feeds/forget-items.ts',
    'src/feeds/forget-schedule.ts',
    'test/feeds/forget-items.test.ts',
  ])
})

// Its tests become tests of this file.
await import(join(folder, 'test/feeds/forget-items.test.ts'))
