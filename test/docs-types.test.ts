import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { blocks, filesOf, openDocument, root } from './support/document.ts'

const guides = readdirSync(join(root, 'docs/guides'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/guides/${name}`)

/** The transactions guide needs a generated Prisma client: its own test makes one, and checks the types. */
const checked = ['README.md', ...guides].filter((path) => path !== 'docs/guides/transactions.md')

/** As `tsc --init` writes it, with the types of Node: what a reader's program has, and nothing of this repository's own. */
const usual = {
  module: 'nodenext',
  target: 'esnext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  moduleDetection: 'force',
  skipLibCheck: true,
  noEmit: true,
}

test.each(checked)('the code of %s passes the type checker in a usual project', async (path) => {
  await using document = await openDocument(path)
  const files = filesOf(path).map(({ name }) => name)
  if (files.length === 0) return
  const config = { compilerOptions: usual, files }
  await writeFile(join(document.directory, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const failure = await promisify(execFile)(tsc, ['-p', document.directory]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  expect(failure).toBe('')
})

test.each(guides)('every block of code in %s is a file of its program', (path) => {
  expect(blocks(path, 'ts').length).toBe(filesOf(path).length)
})
