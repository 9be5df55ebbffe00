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
  readonly readTwice = signal()

  override async run<Row>(statement: StatementName, values: readonly unknown[], options?: RunOptions): Promise<Row[]> {
    const rows = await super.run<Row>(statement, values, options)
    this.statements.push(statement)
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
      values ('dlq_alert', '', '{"count": 60, "threshold": 50}', gen_random_uuid(), now()),
        ('of a newer version', '', '{}', gen_random_uuid(), now())`)
    expect(db.statements).toEqual([])
    events.on('dlq_alert', (alert) => heard.push(alert))
    await db.readTwice.promise
    expect(heard).toEqual([{ count: 60, threshold: 50 }])
  } finally {
    await notices.close()
    await db.close()
  }
})
