// The examples of the README are taken out of it and run; the queries of the operations page are run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Millrace, Worker } from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Setup, setup } from '../packages/engine/test/support/setup.ts'
import { blocks, filesOf, openDocument, root } from './support/document.ts'

interface Web {
  signUp(email: string): Promise<{ accountId: string; job: { id: string } }>
  close(): Promise<void>
}

interface WorkerProgram {
  millrace: Millrace
  worker: Worker
}

test('the README has a whole program', () => {
  const names = filesOf('README.md').map(({ name }) => name)
  expect(names).toEqual(['src/workload.ts', 'contracts.ts', 'web.ts', 'worker.ts'])
})

test('the README can be read in one sitting', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThan(200)
})

test('the example credits the bonus once and completes its job', async () => {
  await using t = await setup()
  await using example = await openDocument('README.md')
  for (const text of blocks('README.md', 'sql')) await t.sql(text)

  const env = { DATABASE_URL: t.url }
  const web = await example.load<Web>('web.ts', env)
  const program = await example.load<WorkerProgram>('worker.ts', env)

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
