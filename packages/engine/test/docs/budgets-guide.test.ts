// The examples of the guide to budgets are taken out of it, type-checked and run.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Budget, defineJob, type Implementation, implement, type JobContract, type Millrace } from 'millrace'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/budgets.md'), 'utf8')
const files = [...guide.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => ({
  name,
  text,
}))

async function opened() {
  const t = await setup()
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'budgets-guide-'))
  for (const { name, text } of files) await writeFile(join(directory, name), text)
  return {
    ...t,
    directory,
    load: <Module>(name: string): Promise<Module> => import(join(directory, name)),
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]()
      await rm(directory, { recursive: true })
    },
  }
}

test('the examples pass the type checker', async () => {
  await using t = await opened()
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      composite: false,
      declaration: false,
      declarationMap: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
    },
    include: ['*.ts'],
  }
  await writeFile(join(t.directory, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(t.directory, 'package.json'), '{ "type": "module" }')
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const failure = await promisify(execFile)(process.execPath, [tsc, '-p', t.directory]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  expect(failure).toBe('')
})

test('the handler spends what the service charges, and the raise says where the budget stands', async () => {
  await using t = await opened()
  const contracts = await t.load<{ tagArticles: JobContract }>('contracts.ts')
  const { tagging } = await t.load<{ tagging(tag: unknown): Implementation }>('tag-articles.ts')
  const { raise } = await t.load<{ raise(millrace: Millrace, cents: number, by: string): Promise<string> }>('raise.ts')
  const millrace = t.client([contracts.tagArticles])
  const batches: number[] = []
  const handler = tagging(async (articles: string[]) => {
    batches.push(articles.length)
    return { cents: 15_000 }
  })
  const articles = Array.from({ length: 50 }, (_, i) => `article ${i}`)
  expect(await runJob(handler, { articles }, { millrace })).toMatchObject({ result: { left: 5_000 } })
  expect(batches).toEqual([20, 20, 10])
  expect(await runJob(handler, { articles }, { millrace })).toMatchObject({ outcome: 'snoozed' })
  expect(await raise(millrace, 5_000, 'ann')).toMatch(/^45000 of 55000 cents used in \d{4}-\d\d, REDUCE$/)
  expect(await millrace.budgets.usage('ai-tagging')).toMatchObject([
    { type: 'articles.tag', amount: 45_000, calls: 50 },
  ])
})

test('a budget in a table of its own', async () => {
  await using t = await opened()
  const [, sql = ''] = /^```sql\n(.*?)^```$/ms.exec(guide) ?? []
  await t.sql(sql)
  const { ownTable } = await t.load<{ ownTable: Budget }>('own-table.ts')
  const { queues } = await t.load<{ queues: { bulk: JobContract['queue'] } }>('contracts.ts')
  const job = defineJob({ type: 'own', queue: queues.bulk, payload: z.object({}), budget: ownTable })
  const millrace = t.client([job])
  const spending = implement(job, (_, ctx) => ctx.budget.spend(600, { calls: 2 }))
  for (const _ of [1, 2]) expect(await runJob(spending, {}, { millrace })).toMatchObject({ outcome: 'completed' })
  expect(await t.sql('select cents, requests from ai_usage')).toEqual([{ cents: 1_200, requests: 4 }])
  await t.sql('update ai_usage set cents = 0')
  expect(await millrace.budgets.get('ai-own')).toMatchObject({ spent: 0 })
})
