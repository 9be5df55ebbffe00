// Events that are heard in other processes than the one that raises them.
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Notices } from '#src/client/notices'
import { Events } from '#src/events'
import { Database, type RunOptions } from '#src/store/db'
import type { StatementName } from '#src/store/statements'
import { graveyard } from '../support/dead-letters.ts'
import { setup, signal } from '../support/setup.ts'

const queues = defineQueues({ default: { tenantJobs: { max: 1, over: 'warn' } } })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({}) })

test('a client that only listens hears that many dead letters wait', async () => {
  await using t = await graveyard()
  const [worker, admin] = [t.client([task]), t.client([task])]
  await t.letters(worker, task, [{}, {}])
  const heard = admin.events.next('dlq_alert')
  await worker.work({ handlers: [implement(task, () => {})], deadLetterAlertAt: 2 })
  expect(await heard).toEqual({ count: 2, threshold: 2 })
})

test('a client that only listens hears which tenant has too many jobs, and who created them', async () => {
  await using t = await setup()
  const [program, admin] = [t.client([task]), t.client([task])]
  const own: unknown[] = []
  program.events.on('job_limit_warning', (warning) => own.push(warning))
  const heard = admin.events.next('job_limit_warning')
  await program.enqueue(task, {}, { tenant: 'acme', createdBy: 'bob' })
  const warning = { tenant: 'acme', queue: 'default', jobs: 2, limit: 1, createdBy: 'ann' }
  for (let i = 0; i < 3; i++) await program.enqueue(task, {}, { tenant: 'acme', createdBy: 'ann' })
  expect(await heard).toEqual(warning)
  expect(own).toEqual([warning, warning, warning])
  // A storm of the same is told once.
  await program.close()
  expect(await t.sql('select event, facts from millrace.notice')).toEqual([
    { event: 'job_limit_warning', facts: warning },
  ])
})

class CountedDatabase extends Database {
  readonly statements: StatementName[] = []
  /** How many rows each reading got. */
  readonly readings: number[] = []
  readonly readTwice = signal()

  override async run<Row>(statement: StatementName, values: readonly unknown[], options?: RunOptions): Promise<Row[]> {
    const rows = await super.run<Row>(statement, values, options)
    this.statements.push(statement)
    if (statement === 'noticeList') this.readings.push(rows.length)
    if (this.statements.filter((each) => each === 'noticeList').length === 2) setImmediate(this.readTwice.resolve)
    return rows
  }
}

test('a client reads nothing until it listens, and hears each notice once', async () => {
  await using t = await setup()
  const db = new CountedDatabase({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const events = new Events({ listen: () => notices.listen(), raised: (...event) => notices.raised(...event) })
  const notices = new Notices({ db, events, onError: () => {} })
  const heard: unknown[] = []
  try {
    events.on('job_completed', () => {})
    await t.sql(`insert into millrace.notice (event, subject, facts, origin, raised_at)
      values ('dlq_alert', '', '{"count": 60, "threshold": 50}', gen_random_uuid(), now() - interval '20 seconds'),
        ('of a newer version', '', '{}', gen_random_uuid(), now() - interval '20 seconds')`)
    expect(db.statements).toEqual([])
    events.on('dlq_alert', (alert) => heard.push(alert))
    await db.readTwice.promise
    expect(heard).toEqual([{ count: 60, threshold: 50 }])
    expect(db.readings.slice(0, 2)).toEqual([2, 0])
  } finally {
    await notices.close()
    await db.close()
  }
})

/** Writes nothing, and not even that before the gate opens. */
class GatedDatabase extends Database {
  readonly tenants: unknown[] = []
  gate: Promise<void> = Promise.resolve()

  override async run<Row>(statement: StatementName, values: readonly unknown[]): Promise<Row[]> {
    await this.gate
    if (statement === 'noticeRaise') this.tenants.push(JSON.parse(values[2] as string).tenant)
    return []
  }
}

function gated() {
  const connection = { connectionString: 'postgres://127.0.0.1:1/none' }
  const db = new GatedDatabase({ connection, schema: 'millrace', maxConnections: 1 })
  const notices = new Notices({ db, events: new Events(), onError: () => {} })
  const raise = (tenant: number) =>
    notices.raised('job_limit_warning', { tenant: `${tenant}`, queue: 'default', jobs: 2, limit: 1, createdBy: null })
  return { db, notices, raise, written: () => new Promise(setImmediate) }
}

test('a client that warns of very many tenants forgets only the oldest, and does not tell of the others again', async () => {
  const { db, notices, raise, written } = gated()
  for (let tenant = 0; tenant <= 10_000; tenant++) {
    raise(tenant)
    if (tenant % 50 === 0) await written()
  }
  expect(db.tenants).toHaveLength(10_001)
  for (const tenant of [1, 5_000, 10_000, 0]) raise(tenant)
  await notices.close()
  expect(db.tenants.slice(10_001)).toEqual(['0'])
})

test('while a database is slow, notices beyond a hundred are dropped, and told when they are raised again', async () => {
  const { db, notices, raise, written } = gated()
  const open = signal()
  db.gate = open.promise
  for (let tenant = 0; tenant < 500; tenant++) raise(tenant)
  open.resolve()
  await written()
  expect(db.tenants).toHaveLength(100)
  raise(499)
  await notices.close()
  expect(db.tenants.slice(100)).toEqual(['499'])
})
