// examples/*.ts run as they are.
import { jobInState } from 'millrace/testing'
import { expect, test, vi } from 'vitest'
import { eventually } from '../../../packages/engine/test/support/setup.ts'
import { countSites, countSitesHandler } from '../examples/new-job-type.ts'
import { setup } from './support/lipas.ts'

async function printed(file: string, databaseUrl: string): Promise<string[]> {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
  vi.stubEnv('DATABASE_URL', databaseUrl)
  await import(`../examples/${file}`)
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
  const handlers = [...t.workload.handlers, countSitesHandler(t.system)]
  const { createMillrace } = await import('millrace')
  await using millrace = createMillrace({ database: t.url, jobs: [...t.workload.jobs, countSites] })
  const worker = await millrace.work({ ...t.workload.settings, handlers, gracePeriod: '2s' })
  const { id } = await millrace.enqueue(countSites, {})
  expect(await millrace.result(id)).toMatchObject({ status: 'completed', result: { sites: expect.any(Number) } })
  expect(worker.lanes.map(({ name }) => name)).toEqual(['fast', 'general'])
  void [jobInState, eventually]
})
