// The command `lipas`, as a person runs it.
import { migrateProgram } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { lipasMigrations } from '#src/lipas'
import { freshDatabase } from '../../../../packages/engine/test/support/database.ts'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { ran, start } from '../support/command.ts'
import { addBrokenRows, createOlderQueues, fillOlderQueues } from '../support/older-queues.ts'

async function database() {
  const made = await freshDatabase()
  await migrateProgram(made.url, lipasMigrations)
  const pool = new pg.Pool({ connectionString: made.url, max: 1 })
  pool.on('error', () => {})
  return {
    pool,
    env: { DATABASE_URL: made.url },
    count: async (sql: string): Promise<number> =>
      Number((await pool.query(`select count(*) as n from ${sql}`)).rows[0].n),
    async [Symbol.asyncDispose]() {
      await pool.end()
      await made.drop()
    },
  }
}

test('it says what it can do, and what a mistake was', async () => {
  const [help, importHelp, wrong, none] = await Promise.all([
    ran(['--help']),
    ran(['import-queues', '--help']),
    ran(['import-queue']),
    ran(['import-queues']),
  ])
  for (const name of ['import-queues', 'sample-data', 'sandbox']) expect(help?.out).toContain(name)
  expect(importHelp?.out).toContain('Exit codes:')
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('import-queues') })
  expect(none).toMatchObject({ code: 1, out: '' })
  expect(none?.err).toContain('No database is given. Set DATABASE_URL')
})

test('a database without the tables, or that is not there, is said without a stack', async () => {
  await using bare = await freshDatabase()
  const [lacking, nowhere] = await Promise.all([
    ran(['import-queues'], { DATABASE_URL: bare.url }),
    ran(['import-queues', '--database-url', 'postgres://u@127.0.0.1:1/none']),
  ])
  expect(lacking).toMatchObject({ code: 1 })
  expect(lacking?.err).toContain('npx millrace migrate workloads/lipas/dist/src/index.js')
  expect(nowhere?.code).toBe(1)
  for (const { err } of [lacking, nowhere] as { err: string }[]) expect(err).not.toMatch(/\n\s+at /)
})

test('3,000 rows in five tables, the process killed midway and started again: one job for each', async () => {
  await using db = await database()
  await createOlderQueues(db.pool)
  await fillOlderQueues(db.pool, 750)
  await addBrokenRows(db.pool)
  const before = await ran(['import-queues', '--dry-run', '--json'], db.env)
  expect(before.code).toBe(2)
  expect(JSON.parse(before.out)).toMatchObject({ isDryRun: true, queues: { length: 5 } })
  expect(await db.count('millrace.jobs')).toBe(0)

  const first = start(['import-queues'], db.env)
  await eventually(async () => (await db.count('lipas.legacy_import')) > 0)
  first.child.kill('SIGKILL')
  await first.ended
  const second = await ran(['import-queues'], db.env)
  expect(second.code).toBe(2)
  expect(second.out).toMatch(/^QUEUE +FOUND +IMPORTED +ALREADY THERE +REFUSED +RETIRED\n/)
  expect(second.out).toContain('integration_out_queue')
  expect(second.out.match(/^ {2}\w+_queue .+: .+$/gm)).toHaveLength(20)
  expect(await db.count('millrace.jobs')).toBe(3_000)
  expect(await db.count('(select distinct job_id from lipas.legacy_import) as jobs')).toBe(3_000)
  expect(await db.count('integration_out_queue')).toBe(750)
  expect(await db.count('email_out_queue')).toBe(5)
  await db.pool.query('truncate analysis_queue, elevation_queue, email_out_queue, webhook_queue')
  expect(await ran(['import-queues'], db.env)).toMatchObject({ code: 0 })
})

test('sample data fills an empty register once', async () => {
  await using db = await database()
  const first = await ran(['sample-data'], db.env)
  expect(first).toMatchObject({ code: 0, out: 'The register has the municipality Kaislajoki now: 260 places.\n' })
  const again = await ran(['sample-data', '--json'], db.env)
  expect(JSON.parse(again.out)).toEqual({ municipality: 'Kaislajoki', places: 0 })
})

test('the sandbox prints the variables that point to it, and stops in order', async () => {
  const sandbox = start(['sandbox', '--well'])
  const [, url = ''] = await sandbox.printed(/# The page of the sandbox: (\S+)\n[\s\S]*LIPAS_UTP_SUBSCRIPTION_KEY=.+\n/)
  expect(await (await fetch(url)).text()).toContain('Sandbox of LIPAS')
  sandbox.child.kill('SIGTERM')
  const { code, out } = await sandbox.ended
  expect(code).toBe(0)
  for (const line of out.trim().split('\n').slice(1)) expect(line).toMatch(/^LIPAS_\w+=\S+$/)
  expect(await ran(['sandbox', '--port', '99999'])).toMatchObject({ code: 1 })
})
