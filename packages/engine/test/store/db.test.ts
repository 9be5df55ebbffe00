import { connect, createServer, type Server, type Socket } from 'node:net'
import { DatabaseTimeout, DatabaseUnavailable, migrate } from 'millrace'
import { describe, expect, test } from 'vitest'
import { ConnectGate } from '#src/store/connect-gate'
import { Database, isConnectionFailure, type Session } from '#src/store/db'
import { jobGet, jobInsert, type NewJob, queueCounts } from '#src/store/jobs'
import { CommitUnknown, sessionOn } from '#src/store/transaction'
import { freshDatabase } from '../support/database.ts'
import { setup as base, eventually, signal } from '../support/setup.ts'

async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  return {
    ...t,
    db,
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

const job: NewJob = {
  type: 'task',
  queue: 'default',
  tenant: null,
  priority: 1,
  payload: '{}',
  payloadVersion: 1,
  runAt: null,
  delayMs: 0,
  maxAttempts: 1,
  dedupKey: null,
  orderKey: null,
  orderStops: false,
  limitKey: null,
  limitConcurrency: null,
  tenantJobs: null,
  dedupe: { mode: 'live' },
  correlationId: null,
  parentJobId: null,
  createdBy: null,
  traceParent: null,
  workflowId: null,
}

/** A server that takes connections and says nothing, or counts those it turns away. */
async function mute(): Promise<{
  port: number
  connects: () => number
  server: Server
  [Symbol.asyncDispose](): Promise<void>
}> {
  let connects = 0
  const server = createServer((socket) => {
    connects++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    port,
    server,
    connects: () => connects,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Passes on what goes to and from Postgres, until it is told to keep all of it for itself. */
async function blackHole(url: string) {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  let isClosed = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.push(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
      one.on('data', (chunk) => isClosed || other.write(chunk))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as { port: number }).port)
  return {
    url: through.href,
    swallow: (is: boolean) => {
      isClosed = is
    },
    open: () => sockets.filter((socket) => !socket.destroyed).length,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('a statement', () => {
  test('whose answer never comes fails in time, and its connection is gone', async () => {
    await using t = await setup()
    await using hole = await blackHole(t.url)
    const db = new Database({ connection: { connectionString: hole.url }, schema: 'millrace', maxConnections: 1 })
    const inHole = (tx: Session) => {
      hole.swallow(true)
      return queueCounts(tx, null)
    }
    const works = [
      () => db.run('queueCounts', [null], { deadlineMs: 50 }),
      () => db.transaction(inHole, 50),
      () => db.transactionAhead(inHole, { deadlineMs: 50 }),
    ]
    for (const work of works) {
      expect(await queueCounts(db, null)).toEqual([])
      hole.swallow(true)
      await expect(work()).rejects.toBeInstanceOf(DatabaseTimeout)
      await eventually(async () => hole.open() === 0)
      hole.swallow(false)
    }
    await db.close()
  })

  test('that is under way when the client is closed fails, and its connection is gone', async () => {
    await using t = await setup()
    await using hole = await blackHole(t.url)
    const db = new Database({ connection: { connectionString: hole.url }, schema: 'millrace', maxConnections: 1 })
    expect(await queueCounts(db, null)).toEqual([])
    hole.swallow(true)
    const failure = queueCounts(db, null).catch((error: unknown) => error)
    await db.close(50)
    expect(isConnectionFailure(await failure)).toBe(true)
    await expect(queueCounts(db, null)).rejects.toBeInstanceOf(DatabaseUnavailable)
    await eventually(async () => hole.open() === 0)
  })

  test('that misses its deadline takes its connection with it', async () => {
    await using t = await setup()
    const client = await t.pool.connect()
    await client.query('begin; lock table millrace.job')
    await expect(t.db.run('queueCounts', [null], { deadlineMs: 50 })).rejects.toBeInstanceOf(DatabaseTimeout)
    await client.query('commit')
    client.release()
    expect(await queueCounts(t.db, null)).toEqual([])
  })

  test('the server refuses is reported as the server said it, and the connection goes on', async () => {
    await using t = await setup()
    const refused = await t.db.run('jobGet', ['no number']).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: '22P02' })
    expect(isConnectionFailure(refused)).toBe(false)
    expect(await jobGet(t.db, '1')).toBeUndefined()
  })
})

describe('a transaction', () => {
  test('whose work failed unnoticed is not taken for committed', async () => {
    await using t = await setup()
    const committing = t.db.transaction(async (tx) => {
      await tx.query('select 1 / 0').catch(() => {})
      return 'fine'
    })
    await expect(committing).rejects.toThrow(/had failed before, so it was rolled back/)
  })

  test('rolls back when its work throws, and passes the error on', async () => {
    await using t = await setup()
    await t.sql('create table thing (n int)')
    const failing = t.db.transaction(async (tx) => {
      await tx.query('insert into thing values (1)')
      throw new RangeError('no')
    })
    await expect(failing).rejects.toBeInstanceOf(RangeError)
    expect(await t.sql('select * from thing')).toEqual([])
  })

  test('that is over takes no more statements, which would be in the next one on its connection', async () => {
    await using t = await setup()
    await t.sql('create table effect (what text)')
    const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
    const isOver = signal()
    let late: Promise<unknown> = Promise.resolve()
    const failing = db.transaction(async (tx) => {
      late = isOver.promise.then(() => tx.query(`insert into effect values ('late')`))
      late.catch(() => {})
      await tx.query('select 1 / 0')
    })
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    await db.transaction(async (tx) => {
      await tx.query(`insert into effect values ('in time')`)
      isOver.resolve()
      await expect(late).rejects.toThrow(/This transaction is over/)
    })
    await db.close()
    expect(await t.sql('select what from effect')).toEqual([{ what: 'in time' }])
  })

  test('whose connection dies during COMMIT has an unknown end', async () => {
    await using t = await setup()
    await t.sql(`create table slow (n int primary key deferrable initially deferred)`)
    await t.sql(
      `create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(30); return null; end $$`,
    )
    await t.sql(
      `create constraint trigger slow_commit after insert on slow deferrable initially deferred for each row execute function wait()`,
    )
    const ending = t.db
      .transaction(async (tx) => {
        await tx.query('insert into slow values (1)')
      }, 300)
      .catch((error: unknown) => error)
    expect(await ending).toBeInstanceOf(CommitUnknown)
  })

  test('runs out of time as a whole', async () => {
    await using t = await setup()
    const slow = t.db.transaction((tx) => tx.query('select pg_sleep(30)'), 50)
    await expect(slow).rejects.toBeInstanceOf(DatabaseTimeout)
  })
})

describe('a transaction that is sent ahead', () => {
  test('answers all that is asked for at once, one after the other', async () => {
    await using t = await setup()
    const asking = t.db.atOnce((tx) => Promise.all([jobInsert(tx, null, [job]), queueCounts(tx, null)]))
    expect(await asking).toEqual([[expect.any(String)], [expect.objectContaining({ queue: 'default' })]])
    expect(await queueCounts(t.db, null)).toHaveLength(1)
  })

  test('fails with what a write failed with that nobody awaited, and leaves nothing', async () => {
    await using t = await setup()
    const writing = t.db.transactionAhead(async (tx) => {
      await jobInsert(tx, null, [job])
      await tx.write('workflowPostpone', [null, 'no number', 'why', 1])
      return 'fine'
    })
    await expect(writing).rejects.toMatchObject({ code: '22P02', message: expect.stringContaining('no number') })
    expect(await queueCounts(t.db, null)).toEqual([])
  })

  test('says of the statements behind one that failed what that one failed with', async () => {
    await using t = await setup()
    const said: unknown[] = []
    const failing = t.db.transactionAhead(async (tx) => {
      await tx.write('workflowPostpone', [null, 'no number', 'why', 1])
      await jobInsert(tx, null, [job]).catch((error: unknown) => said.push(error))
      await queueCounts(tx, null).catch((error: unknown) => said.push(error))
    })
    await expect(failing).rejects.toMatchObject({ code: '22P02' })
    expect(said).toMatchObject([{ code: '22P02' }, { code: '22P02' }])
  })

  test('is done again without kept plans when a pooler has lost them, and once is enough', async () => {
    await using t = await setup()
    let runs = 0
    const inserting = () =>
      t.db.transactionAhead((tx) => {
        runs++
        return jobInsert(tx, null, [job])
      })
    await inserting()
    await t.db.execute('deallocate all')
    await inserting()
    await inserting()
    expect(runs).toBe(4)
    expect(await queueCounts(t.db, null)).toMatchObject([{ queue: 'default' }])
    expect(await t.sql('select count(*)::int as n from millrace.job')).toEqual([{ n: 3 }])
  })

  test('has an unknown end when its connection dies with the commit under way', async () => {
    await using t = await setup()
    const client = await t.pool.connect()
    await client.query('begin; lock table millrace.job in share mode')
    const ending = t.db.atOnce((tx) => jobInsert(tx, null, [job])).catch((error: unknown) => error)
    await eventually(async () => {
      const [waiting] = await t.sql<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      if (waiting === undefined) return false
      await t.sql('select pg_terminate_backend($1)', [waiting.pid])
      return true
    })
    expect(await ending).toBeInstanceOf(CommitUnknown)
    await client.query('commit')
    client.release()
  })
})

describe('while the server is out of reach', () => {
  test('one process tries to connect at most once per pause, whatever it wants to run', async () => {
    await using server = await mute()
    const gate = new ConnectGate()
    const connection = { host: '127.0.0.1', port: server.port, user: 'x', database: 'x', ssl: false }
    const pools = [1, 2].map(() => new Database({ connection, schema: 'millrace', maxConnections: 5, gate }))
    await expect(pools[0]?.run('queueCounts', [null])).rejects.toBeInstanceOf(DatabaseUnavailable)
    const tries = Array.from({ length: 100 }, (_, i) => pools[i % 2]?.run('queueCounts', [null]))
    const results = await Promise.allSettled(tries)
    expect(results.every((result) => result.status === 'rejected')).toBe(true)
    expect(server.connects()).toBe(1)
    await Promise.all(pools.map((pool) => pool.close()))
  })
})

test('another schema than the default is used throughout, however it is named', async () => {
  await using database = await freshDatabase({ migrated: false })
  const schema = 'Jobs of "$&"'
  await migrate(database.url, { schema })
  const db = new Database({ connection: { connectionString: database.url }, schema, maxConnections: 1 })
  expect(await queueCounts(db, null)).toEqual([])
  await db.close()
})

test("a caller's transaction in another shape than pg's own is enough", async () => {
  await using t = await setup()
  const tx = { query: async (text: string, values?: unknown[]) => ({ rows: (await t.pool.query(text, values)).rows }) }
  expect(await queueCounts(sessionOn(tx, 'millrace'), null)).toEqual([])
})

test('an insert of many rows takes its time, and other statements keep their plans', async () => {
  await using t = await setup()
  await t.db.transactionAhead((tx) => jobInsert(tx, null, new Array(20_000).fill(job)))
  const mode = await t.db.transactionAhead(async (tx) => (await tx.query('show plan_cache_mode')).rows)
  expect(mode).toEqual([{ plan_cache_mode: 'force_generic_plan' }])
})

test('the inserts are prepared once per connection, and no other statement is', async () => {
  await using t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  for (let size = 1; size <= 8; size++) await jobInsert(db, null, new Array(size).fill(job))
  await queueCounts(db, null)
  const prepared = await db.transaction((tx) =>
    tx.query(
      'select statement, (generic_plans + custom_plans)::int as runs from pg_prepared_statements order by prepare_time',
    ),
  )
  await db.close()
  expect(prepared.rows).toEqual([
    { statement: db.text('jobInsertOne'), runs: 1 },
    { statement: db.text('jobInsert'), runs: 7 },
  ])
  expect(await t.sql('select count(*)::int from millrace.job')).toEqual([{ count: 36 }])
})
