import { createMillrace, defineJob, defineQueues, implement, migrate } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { channelOf, endedChannelOf } from '#src/store/notifications'
import { freshDatabase } from '../support/database.ts'
import { jobEvent, setup } from '../support/setup.ts'

const { mail } = defineQueues({ mail: {} })
const letter = defineJob({ type: 'letter', queue: mail, payload: z.string() })

test.each([
  ["o'brien", /"o'brien" is not usable: it must have no apostrophes/],
  ['', /"" is not usable: it must be text, and not empty/],
  ['x'.repeat(64), /it has 64 bytes, and Postgres takes 63 at most/],
  ['ä'.repeat(32), /it has 64 bytes/],
  ['a\nb', /"a\\nb" is not usable: it must have no apostrophes, control characters/],
  ['pg_jobs', /Postgres keeps names that begin with "pg_" for itself/],
])('the schema name %j is refused at once, with the reason', async (schema, reason) => {
  const database = 'postgres://nobody@localhost:1/none'
  expect(() => createMillrace({ database, jobs: [letter], schema })).toThrow(reason)
  await expect(migrate(database, { schema })).rejects.toThrow(reason)
  await expect(migrate(database, { schema })).rejects.toMatchObject({ code: 'invalid_definition' })
})

test('a schema whose name is as long as Postgres allows works, notifications included', async () => {
  const schema = 'x'.repeat(63)
  await using t = await setup(freshDatabase({ migrated: false }))
  await migrate(t.url, { schema })
  const worker = t.client([letter], { schema })
  const trusts = worker.events.next('listen_trusted', ({ isTrusted }) => isTrusted)
  await worker.work({ handlers: [implement(letter, () => {})] })
  await trusts
  const millrace = t.client([letter], { schema })
  const { id } = await millrace.enqueue(letter, 'alone')
  await jobEvent(worker, 'job_completed', id)
  const tx = await t.pool.connect()
  await tx.query('begin')
  const told = await millrace.enqueue(letter, 'in a transaction', { tx })
  await tx.query('commit')
  tx.release()
  await jobEvent(worker, 'job_completed', told.id)
})

test('channels are named for the schema, and different schemas have different ones', () => {
  expect([channelOf('millrace'), endedChannelOf('millrace')]).toEqual(['millrace_pulse', 'millrace_ended'])
  const names = ['x', 'y'].flatMap((end) => [channelOf('x'.repeat(62) + end), endedChannelOf('x'.repeat(62) + end)])
  expect(new Set(names).size).toBe(4)
  for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63)
})
