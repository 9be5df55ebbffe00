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

test.each(checked)('the code of %s passes the type checker', async (path) => {
  await using document = await openDocument(path)
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      composite: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
    },
    files: filesOf(path).map(({ name }) => name),
  }
  if (config.files.length === 0) return
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
