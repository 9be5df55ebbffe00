// An order desk at work on a database and in a folder of its own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OrderDeskOptions, orderDesk } from '@millrace/order-desk'
import { createMillrace, type Logger } from 'millrace'
import pg from 'pg'
import { freshDatabase } from '../../../packages/engine/test/support/database.ts'

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Orders are placed; for anything to become of them, start a worker. */
export async function setup(options: OrderDeskOptions) {
  const database = await freshDatabase()
  const databaseUrl = database.url
  const folder = await mkdtemp(join(tmpdir(), 'millrace-desk-'))
  const desk = orderDesk({ ordersPerSecond: 100, labelMs: 0, jamEvery: 0, downEvery: 0, folder, ...options })
  const { jobs, workflows = [] } = desk
  const millrace = createMillrace({ database: databaseUrl, jobs, workflows, logger: silent })
  await desk.setup?.({ databaseUrl })
  await desk.setup?.({ databaseUrl })
  const started = await desk.start?.({
    ...{ millrace, logger: silent, databaseUrl, mode: 'dev', queues: [] },
    announce: () => {},
  })
  const client = new pg.Client(databaseUrl)
  await client.connect()
  return {
    desk,
    millrace,
    client,
    folder,
    async [Symbol.asyncDispose]() {
      await client.end()
      await millrace.close()
      await started?.stop()
      await database.drop()
      await rm(folder, { recursive: true })
    },
  }
}
