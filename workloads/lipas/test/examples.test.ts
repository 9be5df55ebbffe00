// examples/*.ts run as they are.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createMillrace, defineJob, implement, type LaneOptions, type Queue } from 'millrace'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { analysis } from '#src/contracts'
import { eventually, signal } from '../../../packages/engine/test/support/setup.ts'
import { openDocument, root } from '../../../test/support/document.ts'
import { countSites, countSitesHandler } from '../examples/new-job-type.ts'
import { heldAnalyses } from './support/held-analyses.ts'
import { setup, silent } from './support/lipas.ts'

interface ImportsLane {
  readonly imports: Queue
  readonly lanes: Record<string, LaneOptions>
}

async function printed(file: string, databaseUrl: string): Promise<string[]> {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
  vi.stubEnv('DATABASE_URL', databaseUrl)
  await import(/* @vite-ignore */ new URL(`../examples/${file}`, import.meta.url).href)
  return lines
}

test('correlation: a chain is found by its id', async () => {
  await using t = await setup()
  expect((await printed('correlation.ts', t.url)).sort()).toEqual(['analysis is pending', 'email is pending'])
})

test('deduplication: the second call gets the job of the first', async () => {
  await using t = await setup()
  expect(await printed('deduplication.ts', t.url)).toEqual([
    'the first is queued, the second duplicate',
    'both are one job',
    'under another key it is queued',
  ])
})

test('a new job type: it runs in the fast lane while the general lane is full', async () => {
  await using t = await setup({ hasSampleData: true })
  const gate = signal()
  const handlers = [...heldAnalyses(t, gate.promise), countSitesHandler(t.system)]
  await using millrace = createMillrace({ database: t.url, jobs: [...t.workload.jobs, countSites], logger: silent })
  const worker = await millrace.work({ ...t.workload.settings, handlers, gracePeriod: '5s' })
  await millrace.enqueueMany(
    analysis,
    Array.from({ length: 6 }, (_, i) => ({ 'lipas-id': i + 1 })),
  )
  await eventually(async () => worker.running === 5)
  const { id } = await millrace.enqueue(countSites, {})
  const [count] = await t.sql<{ sites: number }>(
    `select count(*)::int as sites from lipas.sports_site where status = 'active'`,
  )
  expect(await millrace.result(id)).toMatchObject({ status: 'completed', result: { sites: count?.sites } })
  gate.resolve()
})

test('the README’s third lane is one that a worker takes, and its examples of payloads are all valid', async () => {
  await using document = await openDocument('workloads/lipas/README.md')
  const { lanes, imports } = await document.load<ImportsLane>('imports-lane.ts')
  await using t = await setup()
  const rows = defineJob({ type: 'import-rows', queue: imports, payload: z.object({}) })
  await using millrace = createMillrace({ database: t.url, jobs: [...t.workload.jobs, rows], logger: silent })
  const handlers = [...t.workload.handlers, implement(rows, () => {})]
  const worker = await millrace.work({ ...t.workload.settings, lanes, handlers })
  expect(worker.lanes.map(({ name, slots }) => `${name} ${slots}`)).toEqual(['fast 3', 'general 5', 'imports 1'])
  const { id } = await millrace.enqueue(rows, {})
  expect(await millrace.result(id)).toMatchObject({ status: 'completed' })

  // A process of its own: this command ends it.
  const types = ['types', '--module', join(root, 'workloads/lipas/dist/src/index.js'), '--examples']
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'packages/cli/bin/millrace.js'), ...types])
  for (const { type } of t.workload.jobs) expect(stdout).toContain(type)
})
