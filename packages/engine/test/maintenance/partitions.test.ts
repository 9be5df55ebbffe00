import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import { ensurePartitions, prunePartitions } from '#src/store/partitions'
import { setup as base, jobEvent } from '../support/setup.ts'

async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 4 })
  return {
    ...t,
    db,
    partitions: async () =>
      (
        await t.sql<{ name: string }>(
          `select relname as name from pg_class join pg_inherits on inhrelid = oid
         where relname ~ '_\\d{8}$' and relkind = 'r' order by 1`,
        )
      ).map((row) => row.name),
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

const day = (text: string) => new Date(`${text}T23:59:59.999Z`)

describe('partitions', () => {
  test('are made by UTC day, from yesterday to three days ahead, for every kind of history', async () => {
    await using t = await setup()
    expect(await ensurePartitions(t.db, day('2031-12-30'))).toEqual(
      ['job_archive_long', 'job_archive_short', 'job_archive_standard', 'job_attempt', 'job_event'].flatMap((parent) =>
        ['20311229', '20311230', '20311231', '20320101', '20320102'].map((suffix) => `${parent}_${suffix}`),
      ),
    )
    expect(await ensurePartitions(t.db, day('2031-12-30'))).toEqual([])
  })

  test('can be made by many at once', async () => {
    await using t = await setup()
    await Promise.all(Array.from({ length: 4 }, () => ensurePartitions(t.db, day('2032-05-05'))))
    expect((await t.partitions()).filter((name) => name.includes('_2032050'))).toHaveLength(25)
  })

  test('are dropped when their time is over: a day, a week, ninety days, thirty for attempts', async () => {
    await using t = await setup()
    await ensurePartitions(t.db, day('2031-01-10'))
    const dropped = await prunePartitions(t.db, day('2031-01-18'))
    expect(dropped.filter((name) => name.includes('_2031'))).toEqual([
      ...['09', '10', '11', '12', '13'].map((d) => `job_archive_short_203101${d}`),
      'job_archive_standard_20310109',
      'job_archive_standard_20310110',
    ])
    expect(await t.sql(`select to_regclass('millrace.job_archive_standard_20310110') as gone`)).toEqual([
      { gone: null },
    ])
    expect((await prunePartitions(t.db, day('2031-05-01'))).some((name) => name.startsWith('job_archive_long'))).toBe(
      true,
    )
  })

  test('a removal that was cut off is finished by the next pass', async () => {
    await using t = await setup()
    await ensurePartitions(t.db, day('2031-01-10'))
    await t.sql('alter table millrace.job_archive_standard detach partition millrace.job_archive_standard_20310109')
    expect(await prunePartitions(t.db, day('2031-01-17'))).toContain('job_archive_standard_20310109')
    expect(await t.sql(`select to_regclass('millrace.job_archive_standard_20310109') as gone`)).toEqual([
      { gone: null },
    ])
  })

  test('missing when a job finishes are made by the acker, and the job completes', async () => {
    await using t = await setup()
    const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })
    const { millrace } = await t.working([implement(task, () => 'ok')])
    for (const name of await t.partitions()) await t.sql(`drop table millrace.${name}`)
    const { id } = await millrace.enqueue(task, {})
    await jobEvent(millrace, 'job_completed', id)
    expect(await millrace.job(id)).toMatchObject({ status: 'completed', result: 'ok' })
  })
})
