import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createMillrace, defineJob, defineQueues, implement } from 'millrace'
import { drain, testDatabase } from 'millrace/testing'
import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { templateName } from '#src/testing/test-database'

const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })
const server = inject('serverUrl')

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(text)
  await client.end()
  return rows
}

const exists = async (template: string) =>
  (await query(server, `select from pg_database where datname = '${template}'`)).length === 1

/** A schema that no other test uses has a template that no other test uses. */
const ownSchema = () => `s${Math.random().toString(36).slice(2, 8)}`

const dropTemplate = (name: string) => query(server, `drop database ${name} with (force)`)

/** Runs a program that prints, beside this package. */
async function program(text: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { DATABASE_URL: _, NODE_OPTIONS: __, ...rest } = process.env
  const args = ['--input-type=module', '--eval', text]
  const cwd = new URL('../../', import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd,
    env: { ...rest, ...env },
    timeout: 90_000,
  })
  return stdout.trim()
}

describe('testDatabase', () => {
  test('gives databases that are migrated, know nothing of each other, and are gone afterwards', async () => {
    const [one, two] = await Promise.all([testDatabase({ server }), testDatabase({ server })])
    const millrace = createMillrace({ database: one.url, jobs: [task] })
    await millrace.enqueue(task, {})
    expect(await drain(millrace, [implement(task, () => {})])).toHaveLength(1)
    await millrace.close()
    expect(await query(one.url, 'select from millrace.job_archive')).toHaveLength(1)
    expect(await query(two.url, 'select from millrace.job_archive')).toHaveLength(0)
    await Promise.all([one.drop(), one.drop(), two[Symbol.asyncDispose]()])
    const left = `select from pg_database where datname in ('${one.name}', '${two.name}')`
    expect(await query(server, left)).toEqual([])
  })

  test('makes one template for everybody who asks at once, and uses it again', async () => {
    const schema = ownSchema()
    const template = templateName(schema)
    expect(await exists(template)).toBe(false)
    const databases = await Promise.all([1, 2, 3].map(() => testDatabase({ server, schema })))
    const [made] = await query(server, `select oid from pg_database where datname = '${template}'`)
    const later = await testDatabase({ server, schema })
    expect(await query(server, `select oid from pg_database where datname = '${template}'`)).toEqual([made])
    expect(await query(later.url, `select from ${schema}.job`)).toEqual([])
    await Promise.all([...databases, later].map((database) => database.drop()))
    await dropTemplate(template)
  })

  test('makes a template anew that somebody left half-made', async () => {
    const schema = ownSchema()
    const template = templateName(schema)
    await (await testDatabase({ server, schema })).drop()
    expect(await exists(template)).toBe(true)
    await dropTemplate(template)
    await query(server, `create database ${template}`)
    await using database = await testDatabase({ server, schema })
    expect(await query(database.url, `select from ${schema}.job`)).toEqual([])
    await dropTemplate(template)
  })

  test('copies a template of last week and adds the partitions of this one', async () => {
    const schema = ownSchema()
    const template = templateName(schema)
    await (await testDatabase({ server, schema })).drop()
    expect(await exists(template)).toBe(true)
    await query(server, `alter database ${template} allow_connections true`)
    const url = new URL(server)
    url.pathname = `/${template}`
    const dropAll = `do $$ declare part text; begin
      for part in select inhrelid::regclass::text from pg_inherits where inhrelid::regclass::text ~ '_\\d{8}$'
      loop execute 'drop table if exists ' || part || ' cascade'; end loop; end $$`
    await query(url.href, dropAll)
    await query(server, `comment on database ${template} is '2026-01-01'`)
    await query(server, `alter database ${template} allow_connections false`)
    await using database = await testDatabase({ server, schema })
    const partitions = `select from pg_inherits where inhrelid::regclass::text ~ '_\\d{8}$'`
    expect((await query(database.url, partitions)).length).toBeGreaterThan(0)
    await dropTemplate(template)
  })

  test('without a server says what to install or set', async () => {
    const hook = `export async function resolve(name, context, next) {
      if (name === '@millrace/embedded') throw Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' })
      return next(name, context)
    }`
    const text = `import { register } from 'node:module'
      register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}))
      const { testDatabase } = await import('millrace/testing')
      await testDatabase().catch((error) => console.log(error.message))`
    expect(await program(text, {})).toMatch(/DATABASE_URL is not set and @millrace\/embedded is not installed/)
  })

  test('without DATABASE_URL starts a server of its own, which does not keep the process alive', {
    timeout: 90_000,
  }, async () => {
    const text = `import { testDatabase } from 'millrace/testing'
      const [one, two] = await Promise.all([testDatabase(), testDatabase()])
      console.log(new URL(one.url).port === new URL(two.url).port, one.name === two.name)`
    expect(await program(text, {})).toBe('true false')
  })
})
