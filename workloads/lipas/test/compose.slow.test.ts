// compose.yaml: its web process and its worker start as it says, as plain processes beside `lipas sandbox`.
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { get, Program } from '../../../packages/cli/test/support/program.ts'
import { freshDatabase } from '../../../packages/engine/test/support/database.ts'
import { eventually } from '../../../packages/engine/test/support/setup.ts'
import { root } from '../../../test/support/document.ts'
import { ran, start } from './support/command.ts'
import { type Service, services } from './support/compose.ts'

/** What follows `node packages/cli/bin/millrace.js`, on this machine: any free port, and paths from the root of the repository. */
const argumentsOf = ({ command: [node, cli, ...rest] }: Service): string[] => {
  expect([node, cli]).toEqual(['node', 'packages/cli/bin/millrace.js'])
  return rest.map((word, i) =>
    rest[i - 1] === '--port' ? '0' : word.startsWith('workloads/') ? join(root, word) : word,
  )
}

/** Its variables, with those of .env filled in. */
function environmentOf({ environment }: Service, given: Readonly<Record<string, string>>): Record<string, string> {
  const filled = environment.map((line) =>
    line.replaceAll(
      /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
      (_, name: string, kind?: string, text?: string) => given[name] ?? (kind === '-' ? (text ?? '') : ''),
    ),
  )
  return Object.fromEntries(filled.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

test('the web process enqueues and serves the page, the worker runs the jobs and serves no page', {
  timeout: 120_000,
}, async () => {
  const database = await freshDatabase({ migrated: false })
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  pool.on('error', () => {})
  try {
    const sandbox = start(['sandbox', '--well', '--json'])
    const env = { DB_PASSWORD: 'x', ADMIN_TOKEN: 'a-token-of-32-characters-or-more!' }
    const [, line = ''] = await sandbox.printed(/^(\{.*\})\n/)
    const { url, variables } = JSON.parse(line) as { url: string; variables: Record<string, string> }
    const of = (service: Service) => ({ ...variables, ...environmentOf(service, env), DATABASE_URL: database.url })

    const migrated = await new Program(argumentsOf(services.migrate), of(services.migrate)).ended()
    expect(migrated).toMatchObject({ code: 0 })
    expect(await ran(['sample-data'], { DATABASE_URL: database.url })).toMatchObject({ code: 0 })

    const [backend, worker] = [services.backend, services['lipas-worker']].map(
      (each) => new Program(argumentsOf(each), of(each)),
    )
    if (backend === undefined || worker === undefined) throw new Error('two processes were expected')
    const served = (program: Program, path: RegExp) =>
      program.said(path).then(([, found = '']) => found.replace('0.0.0.0', '127.0.0.1'))
    const web = await served(backend, /(http:\/\/[\w.]+:\d+)\/lipas/)
    const health = await served(worker, /(http:\/\/[\w.]+:\d+)\/readyz/)
    const page = await fetch(`${web}/lipas`)
    expect(page.status).toBe(200)
    expect((await page.text()).includes('data-site="1234"')).toBe(true)
    expect((await fetch(`${health}/lipas`)).status).toBe(404)
    await eventually(async () => (await get(`${health}/readyz`)).status === 200)

    const saved = await fetch(`${web}/lipas/api/sites/1234`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'The hall of the test' }),
    })
    expect(saved.status).toBe(200)
    const { 'correlation-id': correlationId, jobs } = (await saved.json()) as {
      'correlation-id': string
      jobs: { type: string }[]
    }
    expect(jobs.map(({ type }) => type).sort()).toEqual(['analysis', 'email', 'webhook'])
    await eventually(async () => {
      const { rows } = await pool.query('select status from millrace.jobs where correlation_id = $1', [correlationId])
      return rows.length === 3 && rows.every(({ status }) => status === 'completed')
    }, 60_000)
    const told = (await get(`${url}/control`)).body as { mails?: { subject: string }[] }
    expect(JSON.stringify(told)).toContain('Saved: The hall of the test')

    backend.signal('SIGTERM')
    worker.signal('SIGTERM')
    expect((await Promise.all([backend.ended(), worker.ended()])).map(({ code }) => code)).toEqual([0, 0])
  } finally {
    await pool.end()
    await database.drop()
  }
})
