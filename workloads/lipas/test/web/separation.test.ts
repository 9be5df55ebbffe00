// Two processes: the web process serves the page and enqueues, and loads no handler; the worker serves no page.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { admin } from '@millrace/admin'
import type { StartContext } from '@millrace/cli/workload'
import { expect, test } from 'vitest'
import { lipas } from '#src/lipas'
import { readSettings } from '#src/settings'
import { requestOf } from '../../../../packages/admin/test/support/setup.ts'
import { silent } from '../support/lipas.ts'
import { oneHall, webSetup } from '../support/web.ts'

const DIST = fileURLToPath(new URL('../../dist/src/', import.meta.url))

/** Prints the address of every module that is loaded with a module of ours. */
const TELLING = `
import { register } from 'node:module'
const hook = "import { writeSync } from 'node:fs'; export const load = (url, context, next) => { writeSync(1, url + '\\\\n'); return next(url, context) }"
register('data:text/javascript,' + encodeURIComponent(hook))
await import(process.argv[1])`

async function modulesOf(entry: string): Promise<string[]> {
  const { LIPAS_SANDBOX: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', TELLING, `${DIST}${entry}`],
    { env, maxBuffer: 10_000_000 },
  )
  return stdout.split('\n').filter((url) => url.includes('/lipas/dist/src/'))
}

test('the web process loads no handler, and no server of the sandbox', async () => {
  const web = await modulesOf('web.js')
  expect(web.filter((url) => /\/web\/page\.js$/.test(url))).toHaveLength(1)
  expect(web.filter((url) => /\/handlers(\/|\.js)/.test(url))).toEqual([])
  expect(web.filter((url) => /\/sandbox\//.test(url)).map((url) => url.split('/').at(-1))).toEqual(['trouble.js'])
})

test('with the address of the search alone the web process serves the page, and a save is enqueued', async () => {
  await using t = await webSetup()
  await oneHall(t)
  const web = lipas({ settings: readSettings({ LIPAS_SEARCH_URL: t.sandbox.variables.LIPAS_SEARCH_URL ?? '' }) })
  expect(web.handlers).toEqual([])
  expect(web.schedules).toEqual([])
  const { millrace, url: databaseUrl } = t
  const context: StartContext = {
    ...{ millrace, logger: silent, databaseUrl, mode: 'admin', queues: [] },
    announce: () => {},
  }
  const started = await web.start?.(context)
  const handler = admin(millrace, { routes: web.routes ?? [], pages: web.pages ?? [] })
  const token = await t.token('operator')
  const page = await (await handler(requestOf('GET /lipas?site=7', { token }))).text()
  expect(page).toContain('Hall')
  // There is no sandbox beside it: nothing to break, and mails go to a real server.
  expect(page).not.toMatch(/Make trouble|Sandbox/)
  const saved = await handler(requestOf('POST /lipas/api/sites/7', { token, body: { name: 'Other' } }))
  expect(saved.status).toBe(200)
  const jobs = await t.sql('select status from millrace.jobs order by id')
  expect(jobs).toEqual([{ status: 'pending' }, { status: 'pending' }, { status: 'pending' }])
  const trouble = requestOf('POST /lipas/api/trouble', { token, body: { name: 'mail-down', on: true } })
  expect((await handler(trouble)).status).toBe(404)
  await handler.close()
  await started?.stop()
})
