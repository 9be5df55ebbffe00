// The workload of the guide: its tables, job, route and pages at work.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { admin } from '@millrace/admin'
import type { RoleWalk } from '@millrace/admin/testing'
import type { Workload } from '@millrace/cli/workload'
import { createMetrics } from '@millrace/telemetry'
import { type Millrace, migrateProgram, type ProgramMigrations } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { blocks, openDocument } from '../support/document.ts'

const path = 'docs/guides/build-a-workload.md'

test('the guide’s workload makes its tables, runs its job, and serves its route and page', async () => {
  await using t = await setup()
  await using guide = await openDocument(path)
  await mkdir(join(guide.directory, 'migrations'))
  await writeFile(join(guide.directory, 'migrations/0001_places.sql'), blocks(path, 'sql')[0] as string)
  const { default: workload } = await guide.load<{ default: Workload }>('workload.ts')
  await migrateProgram(t.url, workload.migrations as ProgramMigrations)
  const millrace = t.client(workload.jobs)
  const metrics = createMetrics(millrace, { metrics: workload.metrics ?? [] })
  const { routes = [], pages = [] } = workload
  const served = admin(millrace, { routes, pages })
  const worker = await millrace.work({ handlers: workload.handlers })

  const lines: string[] = []
  const context = {
    ...{ millrace, worker, databaseUrl: t.url, mode: 'dev' as const, queues: ['HIGH'] },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    announce: (label: string, value: string) => void lines.push(`${label}: ${value}`),
  }
  await workload.start?.(context)
  expect(lines).toEqual(['Village: serves HIGH'])
  const completed = millrace.events.next('job_completed')
  await workload.ready?.(context)
  await completed
  expect(await t.sql('select name from village.place')).toEqual([{ name: 'Elm' }])
  expect((await metrics.page(undefined)).body).toContain('village_places_founded_total 1')

  const page = await served(new Request('http://localhost/village/anything'))
  expect(await page.text()).toContain('Hello, stranger')
  const found = (headers: Record<string, string>) =>
    served(new Request('http://localhost/admin/api/places/Oak', { method: 'POST', headers }))
  expect((await found({})).status).toBe(401)
  const { secret } = await millrace.tokens.create({ name: 'ann', role: 'operator', by: 'test' })
  const answer = await found({ authorization: `Bearer ${secret}` })
  expect(answer.status).toBe(200)
  const { jobId } = (await answer.json()) as { jobId: string }
  expect(await millrace.result(jobId)).toMatchObject({ status: 'completed', result: { isNew: true } })
  await served.close()
  await metrics.stop()

  const { walk } = await guide.load<{ walk(client: Millrace): Promise<RoleWalk> }>('roles.ts')
  const walked = await walk(millrace)
  expect(walked.faults).toEqual([])
  expect(walked.checks).toBeGreaterThan(10)
})
