// The programs of the guide are taken out of it, type-checked and run.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { JobContract, Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../packages/engine/test/support/setup.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/defining-jobs.md'), 'utf8')
const files = [...guide.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)].map(([, name, text]) => ({
  name: name as string,
  text: text as string,
}))

/** Below node_modules, so that the examples find `millrace` and `zod` as an application would. */
async function writeExample() {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'guide-example-'))
  for (const { name, text } of files) await writeFile(join(directory, name), text)
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

test('the guide’s programs pass the type checker', async () => {
  expect(files.map(({ name }) => name)).toEqual(['contracts.ts', 'check.ts', 'enqueue.ts'])
  await using example = await writeExample()
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      composite: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
    },
    files: files.map(({ name }) => name),
  }
  await writeFile(join(example.directory, 'tsconfig.json'), JSON.stringify(config))
  const failure = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', example.directory]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  expect(failure).toBe('')
})

test('the guide’s programs do what it says', async () => {
  await using t = await setup()
  await using example = await writeExample()
  const load = <Module>(name: string): Promise<Module> => import(join(example.directory, name))
  const contracts = await load<Record<string, JobContract>>('contracts.ts')
  const { checkExamples } = await load<{ checkExamples(): Promise<number> }>('check.ts')
  expect(await checkExamples()).toBe(2)
  const { demonstrate } = await load<{ demonstrate(millrace: Millrace): Promise<string[]> }>('enqueue.ts')
  const told = await demonstrate(t.client(Object.values(contracts)))
  expect(told).toEqual(['queued', 'duplicate', 'queued', 'invoiceId', 'smtpPassword'])
  expect(await t.sql('select type, tenant, dedup_key from millrace.job order by id')).toEqual([
    { type: 'invoice.send', tenant: null, dedup_key: 'in_1' },
    { type: 'shop.sync', tenant: 's1', dedup_key: null },
  ])
})
