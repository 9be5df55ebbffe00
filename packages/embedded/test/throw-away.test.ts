import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findPostgres, startThrowAway, type ThrowAwayPostgres } from '@millrace/embedded'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withClient } from '#src/connection'
import { poll } from '#src/poll'
import { isRunning } from '#src/process-identity'
import { sql } from './sql.ts'

describe('a throw-away server', () => {
  let server: ThrowAwayPostgres

  beforeAll(async () => {
    server = await startThrowAway()
  })

  afterAll(async () => {
    await server.stop()
  })

  it('is durable, speaks UTF-8 and listens on this machine only', async () => {
    const settings = ['fsync', 'server_encoding', 'listen_addresses', 'unix_socket_directories', 'data_directory']
    const values = await Promise.all(settings.map((name) => sql(server.url, `show ${name}`)))
    expect(values.flat()).toEqual(['on', 'UTF8', '127.0.0.1', '', server.dataDirectory])
    expect(await sql(server.url, 'select current_database()')).toEqual(['millrace'])
    expect(await sql(server.url, "select split_part(current_setting('server_version'), ' ', 1)")).toEqual([
      server.version,
    ])
  })

  it('refuses a wrong password', async () => {
    const stranger = new URL(server.url)
    stranger.password = 'guess'
    await expect(sql(stranger.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  })

  it('crashes, and comes back on the same port with what was committed', async () => {
    await sql(server.url, 'create table kept as select 42 as answer')
    const firstPid = server.pid
    await server.crash()
    expect(isRunning(firstPid)).toBe(false)
    await expect(sql(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await server.restart()
    expect(server.pid).not.toBe(firstPid)
    expect(await sql(server.url, 'select answer from kept')).toEqual([42])
    expect(await logOf(server)).toContain('automatic recovery')
  })

  it('lets go of clients that wait for it when it crashes', async () => {
    await withClient(server.url, async (client) => {
      const waiting = expect(client.query('select pg_sleep(60)')).rejects.toThrow()
      await poll(async () => ((await sql(server.url, sleepers))[0] === 1 ? true : undefined), {
        withinMs: 10_000,
        expired: () => new Error('nobody sleeps'),
      })
      await server.crash()
      await waiting
    })
    await server.restart()
  })

  it('restarts although a backend of the killed server is still at work', async () => {
    await withClient(server.url, async (client) => {
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const busy = client.query(aSecondOfWork).catch(() => {})
      process.kill(server.pid, 'SIGKILL')
      await server.restart()
      expect(isRunning(rows[0].pid)).toBe(false)
      await busy
    })
    expect(await logOf(server)).toContain('pre-existing shared memory block')
    expect(await sql(server.url, 'select answer from kept')).toEqual([42])
  })

  it('restarts while it runs, frozen or not', async () => {
    process.kill(server.pid, 'SIGSTOP')
    await server.restart()
    expect(await sql(server.url, 'select answer from kept')).toEqual([42])
  })

  it('leaves neither process nor directory behind, however often it is stopped', async () => {
    process.kill(server.pid, 'SIGSTOP')
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    expect(isRunning(server.pid)).toBe(false)
    expect(existsSync(dirname(server.dataDirectory))).toBe(false)
    await expect(server.restart()).rejects.toThrow('start another one')
  })
})

const sleepers = "select count(*)::int from pg_stat_activity where wait_event = 'PgSleep'"
// Without a pause in which the backend could notice that its postmaster is gone.
const aSecondOfWork = `do $$ declare until timestamptz := clock_timestamp() + '1 s';
  begin while clock_timestamp() < until loop end loop; end $$`

async function logOf(server: ThrowAwayPostgres): Promise<string> {
  return await readFile(join(dirname(server.dataDirectory), 'postgres.log'), 'utf8')
}

it('takes settings but keeps its address, and ignores Postgres variables meant for other servers', async () => {
  const settings = { fsync: 'off', max_connections: '23', listen_addresses: '*' }
  const env = { ...process.env, PGDATA: '/nowhere', PGPORT: '1', LD_LIBRARY_PATH: '/nowhere' }
  await using server = await startThrowAway({ settings, env })
  const values = await Promise.all(Object.keys(settings).map((name) => sql(server.url, `show ${name}`)))
  expect(values.flat()).toEqual(['off', '23', '127.0.0.1'])
})

it('that need not be durable waits for no disk, and loses nothing when only the server crashes', async () => {
  await using server = await startThrowAway({ isDurable: false, settings: { max_wal_size: '64MB' } })
  expect(await sql(server.url, 'show fsync')).toEqual(['off'])
  expect(await sql(server.url, 'show max_wal_size')).toEqual(['64MB'])
  await sql(server.url, 'create table kept as select 42 as answer')
  await server.crash()
  await server.restart()
  expect(await sql(server.url, 'show fsync')).toEqual(['off'])
  expect(await sql(server.url, 'select answer from kept')).toEqual([42])
})

it('says why it did not start, with the end of its log, and leaves nothing behind', async () => {
  const failure = startThrowAway({ settings: { shared_buffers: 'plenty' } })
  await expect(failure).rejects.toMatchObject({ code: 'start_failed' })
  await expect(failure).rejects.toThrow(/ended with code 1.*postgres\.log.*invalid value for parameter/s)
  const [file = ''] = /\S+postgres\.log/.exec(await failure.catch((error) => error.message)) ?? []
  expect(existsSync(dirname(file))).toBe(false)
})

it.skipIf(findPostgres(15) === undefined)('uses the binaries that MILLRACE_POSTGRES_BIN names', async () => {
  await using server = await startThrowAway({ env: { ...process.env, MILLRACE_POSTGRES_BIN: findPostgres(15) } })
  expect(server.version).toMatch(/^15\.\d+$/)
})
