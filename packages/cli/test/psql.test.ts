import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environmentFor } from '#src/psql-environment'
import { findPsql } from '#src/psql-program'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { Program, ran } from './support/program.ts'
import { StateHome } from './support/state-home.ts'

const psql = await findPsql(process.env).catch(() => undefined)
if (psql === undefined)
  process.stderr.write('\nSKIPPED: psql is not installed, so `millrace psql` is not tested with it\n')

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  ran(['psql', ...args], { PSQLRC: '/dev/null', ...env })

/** A directory with programs in it, which are shell scripts. */
async function programs(scripts: Record<string, string>) {
  const path = await mkdtemp(join(tmpdir(), 'millrace-psql-'))
  await chmod(path, 0o755)
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(path, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

describe.skipIf(psql === undefined)('millrace psql', () => {
  test('opens the database of DATABASE_URL with the views in its search path', async () => {
    await using database = await freshDatabase()
    const env = { DATABASE_URL: database.url }
    expect(await run(['-At', '-c', 'show search_path', '-c', 'select count(*) from jobs'], env)).toEqual({
      code: 0,
      out: 'millrace,public\n0\n',
      err: '',
    })
  })

  test('--database-url wins over DATABASE_URL', async () => {
    await using database = await freshDatabase()
    const args = ['--database-url', database.url, '-At', '-c', 'select current_database()']
    const { code, out } = await run(args, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' })
    expect({ code, out }).toEqual({ code: 0, out: `${new URL(database.url).pathname.slice(1)}\n` })
  })

  test('reads a file, passes on variables that we have an option for too, and ends with the code of psql', async () => {
    await using database = await freshDatabase()
    await using scripts = await programs({})
    const file = join(scripts.path, 'report.sql')
    await writeFile(file, 'select :n + 1;\nselect 1 / 0;\nselect 5;\n')
    const env = { DATABASE_URL: database.url }
    expect(await run(['-v', 'n=41', '-v', 'ON_ERROR_STOP=1', '-At', '-f', file], env)).toEqual({
      code: 3,
      out: '42\n',
      err: expect.stringContaining('division by zero'),
    })
    expect(await run(['-c', 'select 1 / 0'], env)).toMatchObject({ code: 1 })
    expect(await run(['-c', 'select 1'], { DATABASE_URL: 'postgres://u@127.0.0.1:1/x' })).toMatchObject({ code: 2 })
  })

  test('without DATABASE_URL it starts and migrates the embedded Postgres, and leaves nothing running', async () => {
    await using home = await StateHome.create()
    expect(await run(['-At', '-c', 'select count(*) from job_metrics'], home.env)).toEqual({
      code: 0,
      out: '0\n',
      err: '',
    })
    expect(await home.servers()).toEqual([])
  })

  test('without DATABASE_URL it joins the embedded Postgres that runs, and leaves it running', async () => {
    await using home = await StateHome.create()
    await using dev = new Program(['dev', '--port', '0'], home.env)
    const [, port] = await dev.said(/embedded Postgres \S+ on port (\d+)/)
    await dev.said(/Ctrl-C to stop/)
    const servers = await home.servers()
    expect(await run(['-At', '-c', 'show port'], home.env)).toMatchObject({ code: 0, out: `${port}\n` })
    expect(await home.servers()).toEqual(servers)
  })
})

describe('arguments', () => {
  test('are passed on as they are, whatever we might make of them ourselves', async () => {
    await using scripts = await programs({ psql: 'for arg; do echo "[$arg]"; done' })
    const env = { DATABASE_URL: 'postgres://u@h/d', MILLRACE_PSQL: join(scripts.path, 'psql') }
    const args = [
      '-h',
      'elsewhere',
      '-V',
      '--version',
      '-c',
      'select $1; -- "it\'s"',
      '--database-url',
      'x',
      '--help',
      '--',
    ]
    expect((await run(args, env)).out).toBe(args.map((arg) => `[${arg}]\n`).join(''))
    expect((await run(['app', '-x'], env)).out).toBe('[app]\n[-x]\n')
    expect((await run([], env)).out).toBe('')
  })

  test('keeps the password out of the command line', async () => {
    await using scripts = await programs({ psql: 'echo "$@"; exec env' })
    const env = {
      DATABASE_URL: 'postgres://ann:s%40cret@127.0.0.1:5432/app',
      MILLRACE_PSQL: join(scripts.path, 'psql'),
    }
    const { out } = await run(['-c', 'select 1'], env)
    const [args, ...variables] = out.split('\n')
    expect(args).toBe('-c select 1')
    expect(variables).toEqual(expect.arrayContaining(['PGPASSWORD=s@cret', 'PGUSER=ann', 'PGDATABASE=app']))
  })

  test('--help as the first one is for us', async () => {
    const { code, out } = await run(['--help'], { PATH: '' })
    expect(code).toBe(0)
    expect(out).toMatch(/Usage: millrace psql \[--database-url <url>\] \[psql arguments\]/)
  })
})

describe('signals', () => {
  test('that end psql end us after it, with the code of the signal', async () => {
    await using scripts = await programs({ psql: 'echo ready; exec sleep 60' })
    const env = { DATABASE_URL: 'postgres://u@h/d', MILLRACE_PSQL: join(scripts.path, 'psql') }
    await using program = new Program(['psql'], env)
    await program.said(/ready/)
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 143 })
  })

  test('of Ctrl-C are for psql: it decides whether to end', async () => {
    await using scripts = await programs({ psql: 'echo ready; read line; echo "got $line"; exit 7' })
    const env = { DATABASE_URL: 'postgres://u@h/d', MILLRACE_PSQL: join(scripts.path, 'psql') }
    await using program = new Program(['psql'], env)
    await program.said(/ready/)
    program.signal('SIGINT')
    program.write('still here\n')
    expect(await program.ended()).toMatchObject({ code: 7, out: 'ready\ngot still here\n' })
  })
})

describe('psql', () => {
  test('is taken from MILLRACE_PSQL, else PATH, else the binaries of the embedded Postgres', async () => {
    await using one = await programs({ psql: '', initdb: '', postgres: 'echo "postgres (PostgreSQL) 15.0"' })
    await using two = await programs({ psql: '' })
    const bin = one.path
    expect(await findPsql({ MILLRACE_PSQL: join(bin, 'psql'), PATH: two.path })).toBe(join(bin, 'psql'))
    expect(await findPsql({ PATH: `/nowhere::${two.path}`, MILLRACE_POSTGRES_BIN: bin })).toBe(join(two.path, 'psql'))
    expect(await findPsql({ PATH: '/nowhere', MILLRACE_POSTGRES_BIN: bin })).toBe(join(bin, 'psql'))
  })

  test('that is missing is an error that says what to install, before any database is started', async () => {
    await using home = await StateHome.create()
    await using node = await programs({})
    await symlink(process.execPath, join(node.path, 'node'))
    expect(await run([], { ...home.env, PATH: node.path, MILLRACE_POSTGRES_BIN: '' })).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: psql was not found .*apt-get install postgresql-client.*MILLRACE_PSQL/),
    })
    expect(await home.servers()).toEqual([])
  })

  test('that MILLRACE_PSQL names wrongly is not replaced by another', async () => {
    const { code, err } = await run([], { DATABASE_URL: 'postgres://u@h/d', MILLRACE_PSQL: '/nowhere/psql' })
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: MILLRACE_PSQL names \/nowhere/),
    })
  })
})

describe('the environment of psql', () => {
  const search = '-c search_path=millrace,public'

  test.each([
    ['postgres://h/d', { PGHOST: 'h', PGDATABASE: 'd', PGOPTIONS: search }],
    [
      'postgresql://u%40x:p%2Fw@[::1]:6432/my%20db',
      { PGHOST: '::1', PGPORT: '6432', PGUSER: 'u@x', PGPASSWORD: 'p/w' },
    ],
    ['postgres://u:p@/d?host=/run/postgresql', { PGHOST: '/run/postgresql', PGDATABASE: 'd', PGUSER: 'u' }],
    ['postgres://u@/d', { PGHOST: 'localhost' }],
    ['postgres:///d', { PGHOST: 'localhost' }],
    ['postgres://h/d?sslmode=no-verify&pgbouncer=true', { PGSSLMODE: 'require' }],
    ['postgres://h/d?options=-c%20search_path%3Dapp', { PGOPTIONS: `-c search_path=app ${search}` }],
  ])('says the same as %s', (url, expected) => {
    expect(environmentFor(url, { HOME: '/home/ann' })).toMatchObject({ HOME: '/home/ann', ...expected })
  })

  test('keeps what the URL does not say', () => {
    const env = { PGHOST: 'elsewhere', PGPASSWORD: 'secret', PGOPTIONS: '-c work_mem=1GB' }
    expect(environmentFor('postgres:///d', env)).toMatchObject({
      PGHOST: 'elsewhere',
      PGPASSWORD: 'secret',
      PGOPTIONS: `-c work_mem=1GB ${search}`,
    })
  })

  test.each(['nonsense', 'https://h/d', 'postgres://u:p@h:port/d'])('cannot be made of %s', (url) => {
    expect(() => environmentFor(url, {})).toThrow(/^The database URL cannot be read\. Expected postgres:/)
  })
})
