// The examples of the guide to transactions are taken out of it, type-checked and run.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import type { EnqueueResult, Implementation, JobContract, Millrace } from 'millrace'
import { runJob } from 'millrace/testing'
import pg from 'pg'
import { expect, test } from 'vitest'
import { prismaClient } from '../client/adapters/prisma-client.ts'
import { setup } from '../support/setup.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/transactions.md'), 'utf8')

const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1] as string)

/** The first line of each block names its file. */
const files = blocks('ts').map((text) => ({ name: /^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? '', text }))

/** Below node_modules, so that the examples find their libraries as an application would. */
async function writeExamples() {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'transactions-guide-'))
  for (const { name, text } of files) await writeFile(join(directory, name), text)
  // Stands for what `prisma generate` writes.
  await mkdir(join(directory, 'generated'))
  const client = join(root, 'packages/engine/test/client/adapters/prisma-client.ts')
  await writeFile(
    join(directory, 'generated/client.ts'),
    `export type { RawPrismaClient as PrismaClient } from '${client}'\n`,
  )
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

test('every example is a file of its own and passes the type checker', async () => {
  expect(files.map(({ name }) => name)).not.toContain('')
  await using examples = await writeExamples()
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
  await writeFile(join(examples.directory, 'tsconfig.json'), JSON.stringify(config))
  const failure = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', examples.directory]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  expect(failure).toBe('')
})

type PlaceOrder<Handle> = (millrace: Millrace, handle: Handle, totalCents: number) => Promise<EnqueueResult>

async function opened() {
  const t = await setup()
  const examples = await writeExamples()
  for (const text of blocks('sql')) await t.sql(text)
  const load = <Module>(name: string): Promise<Module> => import(join(examples.directory, name))
  const contracts = await load<Record<string, JobContract>>('contracts.ts')
  return {
    ...t,
    load,
    millrace: t.client(Object.values(contracts)),
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]()
      await examples[Symbol.asyncDispose]()
    },
  }
}

async function running() {
  const t = await opened()
  const handlers = await t.load<{ charge: Implementation; book(pool: pg.Pool): Implementation }>('handlers.ts')
  await t.working([handlers.charge, handlers.book(t.pool)])
  return t
}

test('an order is placed, charged once, and its result awaited', async () => {
  await using t = await running()
  const { placeOrder } = await t.load<{ placeOrder: PlaceOrder<pg.Pool> }>('place-order.ts')
  const { answerFor } = await t.load<{ answerFor(...args: unknown[]): Promise<string> }>('await-result.ts')
  const { signal } = new AbortController()
  const job = await placeOrder(t.millrace, t.pool, 4200)
  expect(await answerFor(t.millrace, job.id, signal)).toMatch(/^paid 4200 at \d{4}-/)
  expect(await t.sql('select paid from orders')).toEqual([{ paid: true }])

  const again = await t.millrace.enqueueByType('order.charge', { orderId: '1' })
  expect(await answerFor(t.millrace, again.id, signal)).toBe('not charged: the order is paid already')
})

test('what was done once at the gateway and in the ledger is not done again', async () => {
  await using t = await opened()
  const { chargeAtGateway } = await t.load<{ chargeAtGateway(call: unknown): Implementation }>('once.ts')
  let calls = 0
  const handler = chargeAtGateway(async () => ({ cents: ++calls }))
  for (const orderId of ['7', '7', '8']) await runJob(handler, { orderId } as never, { millrace: t.millrace })
  expect(await t.sql('select order_id, cents from ledger order by order_id')).toEqual([
    { order_id: '7', cents: 1 },
    { order_id: '8', cents: 2 },
  ])
})

test('each ORM places an order whose job books it', async () => {
  await using t = await running()
  const pool = new pg.Pool({ connectionString: t.url })
  pool.on('connect', (client) => client.on('error', () => {}))
  const kysely = new Kysely<never>({ dialect: new PostgresDialect({ pool }) })
  const db = knex({ client: 'pg', connection: t.url })
  const prisma = prismaClient(t.url)
  const handles = { 'drizzle.ts': drizzle({ client: pool }), 'kysely.ts': kysely, 'knex.ts': db, 'prisma.ts': prisma }
  for (const [name, handle] of Object.entries(handles)) {
    const { placeOrder } = await t.load<{ placeOrder: PlaceOrder<unknown> }>(name)
    const job = await placeOrder(t.millrace, handle, 700)
    expect(await t.millrace.result(job.id), name).toEqual({ status: 'completed', result: { booked: true } })
  }
  expect(await t.sql('select order_id, cents from ledger order by order_id')).toEqual(
    ['1', '2', '3', '4'].map((id) => ({ order_id: id, cents: 700 })),
  )
  await Promise.all([kysely.destroy(), db.destroy(), prisma.$disconnect()])
})
