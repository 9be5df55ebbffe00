import type { JobContract, Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { jobEvent, setup } from '../../packages/engine/test/support/setup.ts'
import { blocks, openDocument } from '../support/document.ts'

const page = 'docs/guides/tenant-context.md'

interface WorkerProgram {
  startWorker(database: string): Promise<Millrace>
  countTasks: JobContract
  addTask: JobContract
}

interface Untrusted {
  runUntrusted(login: object, sql: string): Promise<unknown[]>
}

/** A database as the guide leaves it. Roles belong to the server, so they must go with it. */
async function guided() {
  const t = await setup()
  const guide = await openDocument(page)
  const [table, role, audit, logins] = blocks(page, 'sql') as [string, string, string, string]
  const { migration } = await guide.load<{ migration: string }>('policies.ts')
  for (const text of [table, role, migration]) await t.sql(text)
  return {
    ...t,
    ...guide,
    audit: () => t.sql(audit),
    secureLogins: () => t.sql(logins),
    async [Symbol.asyncDispose]() {
      const made = `select rolname as name from pg_roles where rolname in ('org_a', 'untrusted', 'app_tenant')`
      for (const { name } of await t.sql<{ name: string }>(made)) {
        await t.sql(`drop owned by ${name}`)
        await t.sql(`drop role ${name}`)
      }
      await t[Symbol.asyncDispose]()
      await guide[Symbol.asyncDispose]()
    },
  }
}

test('the worker of the guide sees its tenant’s rows, adds to them, and is refused another’s', async () => {
  await using t = await guided()
  const { startWorker, countTasks, addTask } = await t.load<WorkerProgram>('worker.ts')
  await using millrace = await startWorker(t.url)
  const counted = millrace.events.next('job_completed', ({ job }) => job.type === 'tasks.count')
  const task = { title: 'Write it down', organizationId: 'org_a' }
  await millrace.enqueue(addTask, task, { tenant: 'org_a' })
  expect(await millrace.job((await counted).job.id)).toMatchObject({ tenant: 'org_a', result: { tasks: 1 } })

  const other = await millrace.enqueue(countTasks, {}, { tenant: 'org_b' })
  expect(await millrace.result(other.id)).toMatchObject({ result: { tasks: 0 } })

  const { id } = await millrace.enqueue(addTask, task, { tenant: 'org_b' })
  expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ failure: { class: 'TenantIsolationViolation' } })
  expect(await t.audit()).toMatchObject([{ actor: `job:${id}`, tenant: 'org_b', target: 'table:task' }])

  const { openTables } = await t.load<{ openTables(millrace: Millrace): Promise<string[]> }>('policies-check.ts')
  expect(await openTables(millrace)).toEqual([])
  await t.sql('create table forgotten (organization_id text)')
  expect(await openTables(millrace)).toContain('forgotten: row security is not enabled')
})

test('SQL of a tenant’s own cannot leave the login that the guide gives it', async () => {
  await using t = await guided()
  await t.secureLogins()
  await t.sql(`insert into task (organization_id, title) values ('org_a', 'of a'), ('org_b', 'of b')`)
  const { runUntrusted } = await t.load<Untrusted>('untrusted.ts')
  const login = { database: t.url, tenant: 'org_a', password: 'a-secret' }
  expect(await runUntrusted(login, 'select title from task')).toEqual([{ title: 'of a' }])
  const becoming = `select set_config('millrace.tenant', 'org_b', true)`
  expect(await runUntrusted(login, `with other as materialized (${becoming}) select title from other, task`)).toEqual(
    [],
  )
  await expect(runUntrusted(login, 'select * from millrace.job')).rejects.toThrow(/permission denied/)
})
