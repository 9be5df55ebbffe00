// The examples of the README are taken out of it, type-checked and run; the queries of the operations page are run.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Millrace, Worker } from 'millrace'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Setup, setup } from '../packages/engine/test/support/setup.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The text of each code block of that language. */
function blocks(path: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')
  return [...textOf(path).matchAll(fence)].map((match) => match[1] as string)
}

/** A block whose first line names a file is that file. */
const files = blocks('README.md', 'ts').flatMap((text) => {
  const name = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1]
  return name === undefined ? [] : [{ name, text }]
})

interface Web {
  signUp(email: string): Promise<{ accountId: string; job: { id: string } }>
  close(): Promise<void>
}

interface WorkerProgram {
  millrace: Millrace
  worker: Worker
}

/** Below node_modules, so that the examples find `millrace`, `pg` and `zod` as an application would. */
async function writeExample() {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'readme-example-'))
  for (const { name, text } of files) await writeFile(join(directory, name), text)
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

test('the README has a whole program', () => {
  expect(files.map(({ name }) => name)).toEqual(['contracts.ts', 'web.ts', 'worker.ts'])
})

test('the README can be read in one sitting', () => {
  expect(textOf('README.md').split('\n').length).toBeLessThan(200)
})

test('the example passes the type checker', async () => {
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
  const tsc = join(root, 'node_modules/.bin/tsc')
  const failure = await promisify(execFile)(tsc, ['-p', example.directory]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  expect(failure).toBe('')
})

test('the example credits the bonus once and completes its job', async () => {
  await using t = await setup()
  await using example = await writeExample()
  for (const text of blocks('README.md', 'sql')) await t.sql(text)

  vi.stubEnv('DATABASE_URL', t.url)
  const load = <Module>(name: string): Promise<Module> => import(join(example.directory, name))
  const web = await load<Web>('web.ts')
  const program = await load<WorkerProgram>('worker.ts')
  vi.unstubAllEnvs()

  const completed = program.millrace.events.next('job_completed')
  const { accountId, job } = await web.signUp('ann@example.com')
  expect(await completed).toMatchObject({ job: { id: job.id, type: 'bonus.credit', attempt: 1 } })
  expect(await program.millrace.job(job.id)).toMatchObject({ status: 'completed', result: { credited: 500 } })
  expect(await t.sql('select id, balance_cents from account')).toEqual([{ id: accountId, balance_cents: 500 }])

  await web.close()
  await program.millrace.close()
  expect(program.worker.isReady).toBe(false)
})

describe('the operations page', () => {
  const queries = blocks('docs/operations.md', 'sql')
    .flatMap((text) => text.split(/;\n/))
    .filter((text) => text.trim())
  let t: Setup

  beforeAll(async () => {
    t = await setup()
  })

  afterAll(() => t[Symbol.asyncDispose]())

  test.each(queries)('has a query that runs: %s', async (query) => {
    await t.sql(query)
  })
})
