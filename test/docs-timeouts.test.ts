// The examples of the guide to timeouts are taken out of it, compiled and run: compiled, because a process that is
// started for a handler loads what Node can run.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { JobContract, Millrace } from 'millrace'
import { expect, test, vi } from 'vitest'
import { setup } from '../packages/engine/test/support/setup.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/timeouts-and-cancellation.md'), 'utf8')
const files = [...guide.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)].map(([, name, text]) => ({ name, text }))

/** Below node_modules, so that the examples find `millrace` and `zod` as an application would. */
async function compiled() {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'timeouts-example-'))
  for (const { name, text } of files) await writeFile(join(directory, name as string), text as string)
  const compilerOptions = { composite: false, declaration: false, declarationMap: false, outDir: '.' }
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files: files.map(({ name }) => name) }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
  const failure = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', directory]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  expect(failure).toBe('')
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

test('the examples compile and run, inline and in a process of their own', async () => {
  expect(files.map(({ name }) => name)).toEqual(['contracts.ts', 'fetch-page.ts', 'render-pdf.ts', 'worker.ts'])
  await using t = await setup()
  await using example = await compiled()
  const site = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  vi.stubEnv('DATABASE_URL', t.url)
  const contracts: Record<'fetchPage' | 'renderPdf', JobContract> = await import(
    join(example.directory, 'contracts.js')
  )
  const { millrace }: { millrace: Millrace } = await import(join(example.directory, 'worker.js'))
  vi.unstubAllEnvs()
  try {
    const resultOf = async (contract: JobContract, payload: unknown) => {
      const { id } = await millrace.enqueueByType(contract.type, payload)
      await millrace.events.next('job_completed', ({ job }) => job.id === id)
      return (await millrace.job(id))?.result
    }
    expect(await resultOf(contracts.renderPdf, { pages: 3 })).toEqual({ bytes: 3_000 })
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    expect(await resultOf(contracts.fetchPage, { url })).toBe(5)
  } finally {
    await millrace.close()
    site.close()
  }
})
