// A connection for one statement of an isolated handler: its process has no pool of the village's.
import type { Queryable } from 'millrace'
import pg from 'pg'
import { surroundings } from './surroundings.ts'

export async function withConnection<Value>(work: (db: Queryable) => Promise<Value>): Promise<Value> {
  const client = new pg.Client({
    connectionString: surroundings().databaseUrl,
    application_name: 'village-homepage isolated',
  })
  // One that breaks while nothing is asked would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client as unknown as Queryable)
  } finally {
    await client.end()
  }
}
