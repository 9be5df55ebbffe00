// The examples of docs/guides/testing.md are taken out of it, compiled, and run by Node's own test runner.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const page = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8')
const files = [...page.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)].map(([, name, text]) => ({
  name: name as string,
  text: text as string,
}))

const run = (command: string, args: string[], env: NodeJS.ProcessEnv = process.env) =>
  promisify(execFile)(command, args, { env }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  )

/** Below node_modules, so that the examples find `millrace` and `zod` as an application would. */
async function writeExamples() {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'testing-guide-'))
  for (const { name, text } of files) await writeFile(join(directory, name), text)
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: { composite: false, declaration: false, declarationMap: false, outDir: 'dist', rootDir: '.' },
    files: files.map(({ name }) => name),
  }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

test('the examples of the guide compile, and pass with node --test', { timeout: 120_000 }, async () => {
  const tests = files.filter(({ name }) => name.endsWith('.test.ts'))
  expect(tests.length).toBeGreaterThan(4)
  await using examples = await writeExamples()
  expect(await run(join(root, 'node_modules/.bin/tsc'), ['-p', examples.directory])).toEqual({ code: 0, output: '' })

  const compiled = tests.map(({ name }) => join(examples.directory, 'dist', name.replace(/\.ts$/, '.js')))
  const { NODE_OPTIONS: _, ...env } = process.env
  const { code, output } = await run(process.execPath, ['--test', '--test-concurrency=2', ...compiled], {
    ...env,
    DATABASE_URL: inject('serverUrl'),
  })
  expect(output).toMatch(/# pass [1-9]/)
  expect({ code, failed: /# fail (\d+)/.exec(output)?.[1] }, output).toEqual({ code: 0, failed: '0' })
})
