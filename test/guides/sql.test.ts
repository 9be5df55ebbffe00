// docs/guides/sql.md against the database: its statements run, its columns are those of the views, its program works.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, defineQueues } from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Setup, setup } from '../../packages/engine/test/support/setup.ts'
import { blocks, openDocument, root } from '../support/document.ts'

const guide = 'docs/guides/sql.md'
const page = readFileSync(join(root, guide), 'utf8')

interface Program {
  trace(correlationId: string): Promise<string[]>
  close(): Promise<void>
}

const queues = defineQueues({ default: {} })
const order = defineJob({ type: 'order', queue: queues.default, payload: z.object({}) })

/** As `millrace psql` connects. */
async function connect({ pool }: Setup) {
  const connected = await pool.connect()
  await connected.query('set search_path = millrace, public')
  return connected
}

let t: Setup
let client: Awaited<ReturnType<typeof connect>>

beforeAll(async () => {
  t = await setup()
  client = await connect(t)
})

afterAll(async () => {
  client.release(true)
  await t[Symbol.asyncDispose]()
})

test.each(blocks(guide, 'sql'))('has a statement that runs: %s', async (text) => {
  await client.query(text)
})

describe.each(page.split(/^### /m).slice(1))('%s', (section) => {
  const view = /^`(\w+)`/.exec(section)?.[1]

  test('lists the columns of the view, all of them', async () => {
    const cells = [...section.matchAll(/^\| (`.*?) \| /gm)].map((match) => match[1] as string)
    const listed = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] as string))
    const { fields } = await client.query(`select * from ${view} limit 0`)
    expect(listed.sort()).toEqual(fields.map((field) => field.name).sort())
  })
})

test('its program tells what happened', async () => {
  const millrace = t.client([order])
  const [first, second] = await millrace.enqueueMany(order, [{}, {}], { correlationId: 'c' })
  await millrace.cancel(`${second?.id}`, { by: 'ann' })
  await using document = await openDocument(guide)
  const program = await document.load<Program>('trace.ts', { DATABASE_URL: t.url })
  expect(await program.trace('c')).toEqual([
    `order ${first?.id}: enqueued`,
    `order ${second?.id}: enqueued`,
    `order ${second?.id}: cancelled`,
  ])
  await program.close()
})
