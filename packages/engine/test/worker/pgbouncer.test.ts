import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMillrace, defineJob, defineQueues, implement, migrate } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Events } from '#src/events'
import { TableKeeper } from '#src/maintenance/table-keeper'
import { Database } from '#src/store/db'
import { dropLeftover, reindex } from '#src/store/upkeep'
import { freshDatabase } from '../support/database.ts'
import { eventually, jobEvent, shortLease, silent } from '../support/setup.ts'

function findPgbouncer(): string | undefined {
  try {
    return execFileSync('sh', ['-c', 'PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v pgbouncer'], {
      encoding: 'utf8',
    }).trim()
  } catch {
    return undefined
  }
}

function versionOf(program: string): number {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? []
  return Number(major) * 100 + Number(minor)
}

const pgbouncer = findPgbouncer()
/** From 1.21 on it can keep track of prepared statements; the older ones, and those told not to, are the harder case. */
const untracked = pgbouncer !== undefined && versionOf(pgbouncer) >= 121 ? ['max_prepared_statements = 0'] : []
if (pgbouncer === undefined)
  process.stderr.write('\nSKIPPED: pgbouncer is not installed, so nothing is tested through it\n')

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** PgBouncer in transaction mode in front of a fresh database. `direct`: the database without it. */
async function setup(poolSize = 6) {
  const database = await freshDatabase({ migrated: false })
  const target = new URL(database.url)
  const directory = mkdtempSync(join(tmpdir(), 'millrace-pgbouncer-'))
  const port = await freePort()
  const name = target.pathname.slice(1)
  const password = decodeURIComponent(target.password)
  const server = `host=${target.hostname} port=${target.port || 5432} user=${target.username} password='${password}' dbname=${name}`
  writeFileSync(
    join(directory, 'pgbouncer.ini'),
    [
      '[databases]',
      `${name} = ${server}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 100',
      'server_tls_sslmode = disable',
      ...untracked,
    ].join('\n'),
  )
  chmodSync(directory, 0o755)
  const asRoot = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child: ChildProcess = spawn(pgbouncer as string, [...asRoot, join(directory, 'pgbouncer.ini')], {
    stdio: 'ignore',
  })
  const url = `postgres://${target.username}@127.0.0.1:${port}/${name}?sslmode=disable`
  await eventually(async () => {
    const client = new pg.Client(url)
    client.on('error', () => {})
    const isUp = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => {})
    return isUp
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill('SIGINT')
    await gone
  }
  return {
    url,
    direct: database.url,
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(directory, { recursive: true })
      await database.drop()
    },
  }
}

describe.skipIf(pgbouncer === undefined)('through PgBouncer in transaction mode', () => {
  const task = defineJob({
    type: 'task',
    queue: defineQueues({ default: { pollInterval: '50ms' } }).default,
    payload: z.object({ n: z.number() }),
    dedupe: { key: ({ n }) => (n < 10 ? `${n}` : null) },
  })

  test('migrating, enqueueing, working, cancelling and awaiting all work, by polling', async () => {
    await using t = await setup()
    await migrate(t.url)
    await using millrace = createMillrace({ database: t.url, jobs: [task], logger: silent })
    const trusts: boolean[] = []
    const errors: { during: string; error: unknown }[] = []
    millrace.events.on('listen_trusted', ({ isTrusted }) => trusts.push(isTrusted))
    millrace.events.on('database_error', (event) => errors.push(event))
    let runs = 0
    await millrace.work({
      lease: shortLease,
      handlers: [
        implement(task, ({ n }, ctx) => {
          runs++
          return n === 3 ? ctx.transaction(async (tx) => (await tx.query('select 1 as one')).rows) : n
        }),
      ],
    })
    // Enqueued by somebody else, so that nothing but polling can find them.
    await using other = createMillrace({ database: t.url, jobs: [task], logger: silent, notify: false })
    const results = await other.enqueueMany(
      task,
      Array.from({ length: 300 }, (_, n) => ({ n })),
    )
    await eventually(async () => (await other.job(results[299]?.id ?? ''))?.status === 'completed' && runs === 300)
    expect(await other.result(results[3]?.id ?? '')).toEqual({ status: 'completed', result: [{ one: 1 }] })
    expect(trusts).not.toContain(true)
    // A heartbeat may miss its short deadline on a busy machine; no statement may fail for what a pooler does to it.
    expect(errors.filter(({ during }) => during !== 'heartbeat')).toEqual([])

    const { findings } = await millrace.health()
    const says = (check: string) => findings.find((finding) => finding.check === check)?.says
    expect(says('database')).toMatch(/through a connection pooler\.$/)
    expect(says('listen')).toMatch(/^Notifications do not reach the worker with pid \d+/)
    await using direct = createMillrace({ database: t.direct, jobs: [], logger: silent })
    expect((await direct.health()).findings[0]?.says).toMatch(/^PostgreSQL [\d.]+ answers in \d+ ms\.$/)

    const later = await other.enqueue(task, { n: 5 }, { delay: '1h' })
    expect(await other.cancel(later.id, { by: 'ann' })).toBe('cancelled')
    const soon = await millrace.enqueue(task, { n: 7 })
    await jobEvent(millrace, 'job_completed', soon.id)

    await using waiting = createMillrace({ database: t.url, jobs: [task], logger: silent })
    const awaited = await waiting.enqueue(task, { n: 50 }, { delay: '200ms' })
    expect(await waiting.result(awaited.id)).toEqual({ status: 'completed', result: 50 })
  })

  test('jobs of tenants, claimed one by one, all run where sessions forget what was prepared', async () => {
    await using t = await setup(2)
    await migrate(t.direct)
    await using millrace = createMillrace({ database: t.url, jobs: [task], logger: silent })
    const errors: { during: string; error: unknown }[] = []
    millrace.events.on('database_error', (event) => errors.push(event))
    await millrace.work({ lease: shortLease, handlers: [implement(task, ({ n }) => n)] })
    for (let n = 10; n < 20; n++) {
      const { id } = await millrace.enqueue(task, { n }, { tenant: `tenant ${n % 3}` })
      expect(await millrace.result(id)).toEqual({ status: 'completed', result: n })
    }
    expect(errors.filter(({ during }) => during !== 'heartbeat')).toEqual([])
  })

  test('a bloated table is cleaned, and an index rebuilt', async () => {
    await using t = await setup(2)
    await migrate(t.direct)
    const direct = new pg.Client(t.direct)
    await direct.connect()
    await direct.query('alter table millrace.job set (autovacuum_enabled = off)')
    await direct.query(
      `insert into millrace.job (type, queue, priority, run_at, max_attempts, payload, created_at, updated_at)
       select 'task', 'default', 5, now(), 5, '{}', now(), now() from generate_series(1, 12000) as g`,
    )
    await direct.query('delete from millrace.job')
    await direct.query('select pg_stat_force_next_flush()')
    await direct.end()
    const open = (maxConnections: number) =>
      new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections })
    const db = open(2)
    const keeper = new TableKeeper({ db, open, events: new Events(), logger: silent })
    expect(await keeper.tick()).toEqual({ vacuumed: ['job'], rebuilt: [] })
    await reindex(db, 'job_for_claim_idx', 10_000)
    await dropLeftover(db, 'job_for_claim_idx_ccnew', 10_000)
    await db.close()
  })

  test('enqueues by several clients all succeed where sessions forget what was prepared, or have it already', async () => {
    await using t = await setup(2)
    await migrate(t.direct)
    const direct = new pg.Client(t.direct)
    await direct.connect()
    const failures = async () => {
      const { rows } = await direct.query(
        `select xact_rollback::int as count from pg_stat_database where datname = current_database()`,
      )
      return rows[0].count as number
    }
    const before = await failures()
    const clients = Array.from({ length: 4 }, () =>
      createMillrace({ database: t.url, jobs: [task], logger: silent, notify: false }),
    )
    const ids: string[] = []
    for (let round = 0; round < 20; round++) {
      const wishes = clients.flatMap((client, c) =>
        Array.from({ length: 5 }, (_, i) => client.enqueue(task, { n: 100 + round * 20 + c * 5 + i })),
      )
      ids.push(...(await Promise.all(wishes)).map(({ id }) => id))
    }
    const { rows } = await direct.query(`select id, (payload->>'n')::int as n from millrace.job order by n`)
    expect(rows).toEqual(ids.map((id, i) => ({ id, n: 100 + i })))
    await Promise.all(clients.map((client) => client.close()))
    // Sessions tell their failures when they end, at the latest.
    await t.stop()
    // 26000 and 42P05. Each client meets them with what it has in flight then, and never again.
    const failed = await eventually(async () => (await failures()) - before || undefined)
    expect(failed).toBeLessThanOrEqual(2 * clients.length)
    await direct.end()
  })
})
