// A database of version 0021, filled, is migrated by today's code: every row is still there, and everything goes on.
import { readFile } from 'node:fs/promises'
import {
  cron,
  defineJob,
  defineLimit,
  defineQueues,
  defineSchedule,
  defineWorkflow,
  type Implementation,
  implement,
  migrate,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { migrationFiles } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'
import { ringOf } from '../support/keys.ts'
import { attentive, jobEvent, type Setup, setup } from '../support/setup.ts'

const LAST = '0021'
const filling = new URL('./fixtures/filled-0021.sql', import.meta.url)

const queues = defineQueues({ main: {}, held: {}, shops: {} })
const named = { queue: queues.main, payload: z.object({ name: z.string() }) }
const work = defineJob({ ...named, type: 'work', result: z.object({ did: z.string() }) })
const call = defineJob({ ...named, type: 'call', limits: [defineLimit('calls', { rate: '1000/second' })] })
const ordered = defineJob({ ...named, type: 'ordered', order: { key: () => 'a' } })
const limited = defineJob({ ...named, type: 'limited', keyLimit: { key: () => 'b', concurrency: 1 } })
const shop = defineJob({ ...named, type: 'shop', queue: queues.shops })
const unique = defineJob({ ...named, type: 'unique', queue: queues.held, dedupe: { key: () => 'the-key' } })
const sealed = defineJob({
  type: 'sealed',
  queue: queues.main,
  payload: z.object({ secretive: z.string() }),
  sensitive: ['secretive'],
})

const flow = defineWorkflow('flow')
  .step('first', work, { payload: () => ({ name: 'first' }) })
  .step('second', work, { after: 'first', payload: ({ results }) => ({ name: `${results.first.did}, second` }) })
const approval = defineWorkflow('approval')
  .signal('approved', { payload: z.object({ by: z.string() }) })
  .step('ship', work, { after: 'approved', payload: ({ results }) => ({ name: `for ${results.approved.by}` }) })
const fromCode = defineSchedule({
  name: 'from-code',
  job: work,
  when: cron('* * * * *'),
  payload: { name: 'by the clock' },
})

async function filled() {
  const t = await setup(freshDatabase({ migrated: false }))
  const before = migrationFiles.findIndex(({ file }) => file.startsWith(LAST)) + 1
  await migrate(t.url, { migrations: migrationFiles.slice(0, before) })
  await t.sql(await readFile(filling, 'utf8'))
  return t
}

/** How many rows each table has, without the archive's partitions and the migrator's own tables. */
async function rowCounts(t: Setup): Promise<Record<string, number>> {
  const tables = await t.sql<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'millrace'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not like 'migration%'`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await t.sql<{ count: string }>(`select count(*) from millrace."${name}"`)
    counts[name] = Number(row?.count)
  }
  return counts
}

/** The migrated database with a worker for all of it. */
async function upgraded() {
  const t = await filled()
  await migrate(t.url)
  const done: string[] = []
  const does = (contract: typeof call): Implementation => implement(contract, ({ name }) => void done.push(name))
  const handlers = [
    ...[call, ordered, limited, shop, unique].map((contract) => does(contract as typeof call)),
    implement(work, ({ name }) => {
      done.push(name)
      return { did: name }
    }),
    implement(sealed, ({ secretive }) => void done.push(`opened ${secretive}`)),
  ]
  const millrace = t.client(
    handlers.map(({ contract }) => contract),
    { workflows: [flow, approval], schedules: [fromCode], encryption: ringOf('a') },
  )
  return { ...t, millrace, done, startWorker: () => millrace.work({ handlers, lease: attentive, gracePeriod: '5s' }) }
}

describe('a filled database of version 0021', () => {
  test('has every row after the migration that it had before', async () => {
    await using t = await filled()
    const before = await rowCounts(t)
    const empty = Object.keys(before).filter((name) => before[name] === 0)
    // Reservations exist only during runs; events need a history; turns and upkeep are the engine's own notes.
    expect(empty.sort()).toEqual([
      'budget_reservation',
      'job_event',
      'order_stop',
      'queue_turn',
      'upkeep',
      'workflow_signal',
    ])
    await migrate(t.url)
    expect(await rowCounts(t)).toMatchObject(before)
  })

  test('runs its jobs of every status, and what was held stays so', async () => {
    await using t = await upgraded()
    const ended = [101, 103, 104, 105, 106, 107, 108, 109, 110, 111, 114, 119, 120].map((id) =>
      jobEvent(t.millrace, 'job_completed', String(id)),
    )
    await t.startWorker()
    await Promise.all(ended)
    for (const [earlier, later] of [
      ['first in order', 'second in order'],
      ['first of the key', 'second of the key'],
      ['first of the tenant', 'deferred'],
    ] as const) {
      expect(t.done).toContain(earlier)
      expect(t.done.indexOf(earlier)).toBeLessThan(t.done.indexOf(later))
    }
    expect(t.done).toContain('opened the word')
    expect(await t.millrace.job('102')).toMatchObject({ status: 'pending', attempt: 0 })
    expect(await t.millrace.explain('112')).toMatchObject({ reasons: [{ mechanism: 'pause' }] })
    expect(await t.millrace.explain('113')).toMatchObject({ reasons: [{ mechanism: 'rate' }] })
    expect(await t.millrace.explain('115')).toMatchObject({ reasons: [{ mechanism: 'tenant' }] })
    expect(await t.millrace.enqueue(unique, { name: 'again' })).toMatchObject({ status: 'duplicate', id: '116' })
    const resumed = [112, 116].map((id) => jobEvent(t.millrace, 'job_completed', String(id)))
    await t.millrace.pauses.resume({ queue: 'held' }, { by: 'ann' })
    await Promise.all(resumed)
  })

  test('shows what has ended, and redrives its dead letters', async () => {
    await using t = await upgraded()
    expect(await t.millrace.result('201')).toMatchObject({ status: 'completed', result: { did: 'done' } })
    expect(await t.millrace.job('202')).toMatchObject({ status: 'cancelled', reason: 'not needed' })
    expect(await t.millrace.deadLetters.get('1')).toMatchObject({ jobId: '203', failedAttempts: [{ attempt: 5 }] })
    expect(await t.millrace.deadLetters.get('3')).toMatchObject({ status: 'resolved', notes: 'done by hand' })
    await t.startWorker()
    const redriven = await t.millrace.deadLetters.redrive(['1', '2'], { by: 'ann' })
    const ids = redriven.map((each) => (each.status === 'redriven' ? each.jobId : each.status))
    for (const id of [...ids, '114']) await jobEvent(t.millrace, 'job_completed', id)
    expect(t.done).toContain('dead')
    expect(t.done.filter((each) => each === 'opened the word')).toHaveLength(2)
  })

  test('carries its workflows on', async () => {
    await using t = await upgraded()
    await t.startWorker()
    const { workflows } = t.millrace
    expect(await workflows.result('1')).toMatchObject({ results: { second: { did: 'first, second' } } })
    expect(await workflows.result('2')).toMatchObject({ results: { second: { did: 'before the upgrade, second' } } })
    expect(await workflows.signal('3', 'approved', { by: 'bob' }, { by: 'bob' })).toEqual({ status: 'accepted' })
    expect(await workflows.result('3')).toMatchObject({ results: { ship: { did: 'for bob' } } })
    expect(await workflows.result('4')).toMatchObject({ status: 'completed' })
  })

  test('ticks its schedules, and leaves a paused one alone', async () => {
    await using t = await upgraded()
    const ticked = t.millrace.events.next('schedule_ticked', ({ schedule }) => schedule === 'from-code')
    await t.startWorker()
    expect(await ticked).toMatchObject({ outcome: 'enqueued', origin: 'due' })
    expect(await t.millrace.schedules.get('paused')).toMatchObject({ pause: { by: 'ann', reason: 'holidays' } })
    expect(t.done).not.toContain('by the paused schedule')
  })

  test('has an index for job-<id> in the archive partitions that are made from now on', async () => {
    await using t = await filled()
    const partitions = async () =>
      t.sql<{ name: string; isIndexed: boolean }>(
        `select relid::text as name, exists (
           select from pg_index where indrelid = relid and indisvalid and pg_get_indexdef(indexrelid) like '%USING brin%'
         ) as "isIndexed"
         from pg_partition_tree('millrace.job_archive') where isleaf order by name`,
      )
    const ahead = (await partitions()).at(-1)?.name
    await t.sql(`drop table ${ahead}`)
    const before = (await partitions()).map(({ name }) => name)
    await migrate(t.url)
    const after = await partitions()
    expect(after.map(({ name }) => name)).toEqual([...before, ahead])
    expect(after.filter(({ isIndexed }) => isIndexed)).toEqual([{ name: ahead, isIndexed: true }])
  })
})

test('no migration since 0021 builds an index on a table of old in a transaction', () => {
  const since = migrationFiles.filter(
    ({ file, text }) => file > `${LAST}_governed_since` && !text.startsWith('-- no-transaction'),
  )
  const building = since.flatMap(({ file, text }) =>
    [...text.matchAll(/create (?:unique )?index \w+ on (?!only )([\w.]+)/g)]
      .filter(([, table]) => !text.includes(`create table ${table} `))
      .map(([, table]) => `${file}: ${table}`),
  )
  expect(building).toEqual([])
})
