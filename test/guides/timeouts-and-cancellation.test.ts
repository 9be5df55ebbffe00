// A process that is started for a handler loads what Node can run, so these examples are compiled.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { JobContract, Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { filesOf, openDocument, root } from '../support/document.ts'

const guide = 'docs/guides/timeouts-and-cancellation.md'

async function compiled() {
  const document = await openDocument(guide)
  const compilerOptions = { composite: false, declaration: false, declarationMap: false, outDir: '.' }
  const files = filesOf(guide).map(({ name }) => name)
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files }
  await writeFile(join(document.directory, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(document.directory, 'package.json'), JSON.stringify({ type: 'module' }))
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', document.directory])
  return document
}

test('the examples compile and run, inline and in a process of their own', async () => {
  await using t = await setup()
  await using example = await compiled()
  const site = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  const contracts = await example.load<Record<'fetchPage' | 'renderPdf', JobContract>>('contracts.js')
  const { millrace } = await example.load<{ millrace: Millrace }>('worker.js', { DATABASE_URL: t.url })
  try {
    const resultOf = async (contract: JobContract, payload: unknown) => {
      const { id } = await millrace.enqueueByType(contract.type, payload)
      await millrace.events.next('job_completed', ({ job }) => job.id === id)
      return (await millrace.job(id))?.result
    }
    expect(await resultOf(contracts.renderPdf, { pages: 3 })).toEqual({ bytes: 3_000 })
    expect(await t.sql('select type, parent_job_id is not null as child from millrace.job')).toEqual([
      { type: 'page.fetch', child: true },
    ])
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    expect(await resultOf(contracts.fetchPage, { url })).toBe(5)
  } finally {
    await millrace.close()
    site.close()
  }
})
