// Each adapter with the real library, by the same tests.
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { CamelCasePlugin, Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import { defineJob, defineQueues, implement, KeyBusy, NotATransaction, type Queryable, SchemaMissing } from 'millrace'
import { fromDrizzle, fromKnex, fromKysely, fromPrisma } from 'millrace/adapters'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup } from '../../support/setup.ts'
import { prismaClient } from './prisma-client.ts'

interface Library {
  /** Hands out the library itself as if it were a transaction. */
  mistaken(): Queryable
  /** Runs `work` in a transaction of that library: `tx` for us, `write` for its own SQL. */
  transaction<Value>(work: (tx: Queryable, write: (sql: string) => Promise<unknown>) => Promise<Value>): Promise<Value>
  close(): Promise<unknown>
}

/** Its connections may be ended from outside when the database is dropped. */
function quietPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options)
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  return pool
}

const libraries: Record<string, (url: string) => Library> = {
  Drizzle: (url) => {
    const pool = quietPool({ connectionString: url })
    const db = drizzle({ client: pool })
    return {
      // @ts-expect-error a database is no transaction
      mistaken: () => fromDrizzle(db),
      transaction: (work) =>
        db.transaction((tx) => work(fromDrizzle(tx), async (text) => tx.execute(drizzleSql.raw(text)))),
      close: () => pool.end(),
    }
  },

  // With the plugin that renames columns, as many have it.
  Kysely: (url) => {
    const db = new Kysely<unknown>({
      dialect: new PostgresDialect({ pool: quietPool({ connectionString: url }) }),
      plugins: [new CamelCasePlugin()],
    })
    return {
      // @ts-expect-error Kysely itself is no transaction
      mistaken: () => fromKysely(db),
      transaction: (work) =>
        db.transaction().execute((trx) => work(fromKysely(trx), (text) => kyselySql.raw(text).execute(trx))),
      close: () => db.destroy(),
    }
  },

  Knex: (url) => {
    const db = knex({ client: 'pg', connection: url })
    return {
      // @ts-expect-error Knex itself is no transaction
      mistaken: () => fromKnex(db),
      transaction: (work) => db.transaction((trx) => work(fromKnex(trx), async (text) => trx.raw(text))),
      close: () => db.destroy(),
    }
  },

  Prisma: (url) => {
    const prisma = prismaClient(url)
    return {
      // @ts-expect-error the client itself is no transaction
      mistaken: () => fromPrisma(prisma),
      transaction: (work) => prisma.$transaction((tx) => work(fromPrisma(tx), (text) => tx.$executeRawUnsafe(text))),
      close: () => prisma.$disconnect(),
    }
  },
}

const job = defineJob({
  type: 'job',
  queue: defineQueues({ default: {} }).default,
  payload: z.object({ n: z.number(), text: z.string().optional() }),
  dedupe: { key: ({ n }) => (n < 0 ? `${n}` : null) },
  retry: { attempts: 2, backoff: () => 0 },
})

describe.each(Object.entries(libraries))('a transaction of %s', (_, open) => {
  async function withLibrary() {
    const t = await setup()
    await t.sql('create table ledger (cents int)')
    const library = open(t.url)
    return {
      ...t,
      library,
      entries: () => t.sql('select cents from ledger'),
      async [Symbol.asyncDispose]() {
        await library.close()
        await t[Symbol.asyncDispose]()
      },
    }
  }

  test('is not the library itself, which has a pool', async () => {
    await using t = await withLibrary()
    expect(() => t.library.mistaken()).toThrow(NotATransaction)
  })

  test('that commits has enqueued its job, every field of it', async () => {
    await using t = await withLibrary()
    const millrace = t.client([job])
    const runAt = new Date('2031-05-06T07:08:09.123Z')
    const text = `what? a 'quoted' "$1" \\ {brace}, :name, ümlaut`
    const { id, status } = await t.library.transaction(async (tx, write) => {
      await write('insert into ledger values (5)')
      return millrace.enqueue(job, { n: 1, text }, { tx, runAt, priority: 3, tenant: 'acme', createdBy: 'ann' })
    })
    expect(status).toBe('queued')
    expect(id).toEqual(expect.stringMatching(/^\d+$/))
    expect(await t.entries()).toEqual([{ cents: 5 }])
    expect(await millrace.job(id)).toMatchObject({
      status: 'pending',
      payload: { n: 1, text },
      runAt,
      priority: 3,
      tenant: 'acme',
      createdBy: 'ann',
    })
  })

  test('that rolls back has enqueued nothing', async () => {
    await using t = await withLibrary()
    const millrace = t.client([job])
    const failed = t.library.transaction(async (tx, write) => {
      await write('insert into ledger values (5)')
      await millrace.enqueue(job, { n: 1 }, { tx })
      throw new Error('changed my mind')
    })
    await expect(failed).rejects.toThrow('changed my mind')
    expect(await t.entries()).toEqual([])
    expect(await t.sql('select id from millrace.job')).toEqual([])
  })

  test('keeps the time that it is told, in whatever zone the session is', async () => {
    await using t = await withLibrary()
    await t.sql(
      `do $$ begin execute format('alter database %I set timezone to ''Asia/Tokyo''', current_database()); end $$`,
    )
    const now = new Date('2031-05-06T07:08:09.123Z')
    const millrace = t.client([job], { clock: { databaseNow: () => now } })
    const { id } = await t.library.transaction((tx) => millrace.enqueue(job, { n: 1 }, { tx }))
    expect(await millrace.job(id)).toMatchObject({ createdAt: now, runAt: now })
  })

  test('learns of a duplicate whose key is held before or inside it', async () => {
    await using t = await withLibrary()
    const millrace = t.client([job])
    const holder = await millrace.enqueue(job, { n: -1 })
    const results = await t.library.transaction(async (tx) => [
      await millrace.enqueue(job, { n: -1 }, { tx }),
      await millrace.enqueue(job, { n: -2 }, { tx }),
      await millrace.enqueue(job, { n: -2 }, { tx }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['duplicate', 'queued', 'duplicate'])
    expect(results[0]?.id).toBe(holder.id)
    expect(results[2]?.id).toBe(results[1]?.id)
  })

  test('enqueues a hundred at once', async () => {
    await using t = await withLibrary()
    const millrace = t.client([job])
    const payloads = Array.from({ length: 100 }, (_unused, n) => ({ n }))
    const results = await t.library.transaction((tx) => millrace.enqueueMany(job, payloads, { tx }))
    expect(new Set(results.map(({ id }) => id)).size).toBe(100)
    expect(await millrace.job(results[42]?.id ?? '')).toMatchObject({ payload: { n: 42 } })
  })

  test('wakes the worker when it commits, and its result can be awaited', async () => {
    await using t = await withLibrary()
    const { millrace } = await t.working([implement(job, ({ n }) => 2 * n)])
    const { id } = await t.library.transaction((tx) => millrace.enqueue(job, { n: 4 }, { tx }))
    expect(await millrace.result(id)).toEqual({ status: 'completed', result: 8 })
  })

  test('completes the job that a handler runs, together with its effects', async () => {
    await using t = await withLibrary()
    let runs = 0
    const { millrace } = await t.working([
      implement(job, (_payload, ctx) =>
        t.library.transaction(async (tx, write) => {
          await write('insert into ledger values (5)')
          await ctx.complete(tx, { by: 'hand' })
          if (++runs === 1) throw new Error('after all not')
        }),
      ),
    ])
    const { id } = await millrace.enqueue(job, { n: 1 })
    await jobEvent(millrace, 'job_completed', id)
    expect(await t.entries()).toEqual([{ cents: 5 }])
    expect(await millrace.job(id)).toMatchObject({ status: 'completed', result: { by: 'hand' }, attempt: 2 })
  })

  test('learns that another run has taken over, and rolls back', async () => {
    await using t = await withLibrary()
    const { millrace } = await t.working([
      implement(job, (_payload, ctx) =>
        t.library.transaction(async (tx, write) => {
          await write('insert into ledger values (5)')
          await t.sql('update millrace.job set run_id = gen_random_uuid() where id = $1', [ctx.jobId])
          await ctx.complete(tx)
        }),
      ),
    ])
    const { id } = await millrace.enqueue(job, { n: 1 })
    await jobEvent(millrace, 'job_fence_lost', id)
    expect(await t.entries()).toEqual([])
  })

  test('runs any statement with numbered parameters, whatever else looks like one', async () => {
    await using t = await withLibrary()
    const text = `select $2::text as b, $1::int as a, $2::text as again, '{"a":1}'::jsonb ? 'a' as has -- what $3?`
    const { rows } = await t.library.transaction((tx) => tx.query(text, [1, 'x']))
    expect(rows).toEqual([{ b: 'x', a: 1, again: 'x', has: true }])
  })

  test('gets the error of a failed statement as Postgres said it', async () => {
    await using t = await withLibrary()
    const lost = t.client([job], { schema: 'nowhere' })
    const error = await t.library.transaction((tx) => lost.enqueue(job, { n: 1 }, { tx })).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(SchemaMissing)
    expect(error.cause).toBeInstanceOf(pg.DatabaseError)
    // Which of the two, depends on the version of Postgres.
    expect(['42P01', '3F000']).toContain(error.cause.code)
    expect(error.cause.message).toMatch(/"nowhere.*" does not exist$/)
  })

  test('is told KeyBusy when it limits how long it waits for a key', async () => {
    await using t = await withLibrary()
    const millrace = t.client([job])
    const other = await t.pool.connect()
    await other.query('begin')
    await millrace.enqueue(job, { n: -1 }, { tx: other })
    const busy = t.library.transaction(async (tx, write) => {
      await write(`set local lock_timeout = '50ms'`)
      return millrace.enqueue(job, { n: -1 }, { tx })
    })
    await expect(busy).rejects.toThrow(KeyBusy)
    await other.query('rollback')
    other.release()
  })
})

test('ids are strings whatever a driver makes of bigint', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  for (const parse of [Number, BigInt]) {
    const pool = quietPool({
      connectionString: t.url,
      types: { getTypeParser: (oid, format) => (oid === 20 ? parse : pg.types.getTypeParser(oid, format as 'text')) },
    })
    // Not a pg.Client, so its own parsers are what reads the answer.
    const tx: Queryable = { query: (text, values) => pool.query(text, values) }
    const { id } = await millrace.enqueue(job, { n: 1 }, { tx })
    expect(await millrace.job(id)).toMatchObject({ id: expect.stringMatching(/^\d+$/) })
    await pool.end()
  }
})
