// What a newcomer runs first: `npm start` and `npm run start:tenants`.

import { testDatabase } from 'millrace/testing'
import { expect, inject, test } from 'vitest'
import { startScript } from './support/start-script.ts'

/** Of a start on a machine that is busy with other tests. */
const SLOWLY = { timeout: 90_000 }

test('npm start runs Village Homepage against its sandbox, and stops in order', SLOWLY, async () => {
  await using database = await testDatabase({ server: inject('serverUrl') })
  await using village = await startScript('start', { databaseUrl: database.url })
  expect(village.line('Workload')).toBe('village-homepage')
  for (const service of ['anthropic', 'alpha-vantage', 'nws', 'pagerduty', 'slack', 'smtp'])
    expect(village.line(service)).toBe('sandbox')
  const page = await fetch(village.line('Village'))
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<h1>Village</h1>')])
  const sandbox = await fetch(village.line('Sandbox'))
  expect(await sandbox.text()).toContain('Sandbox internet')
  const { output, code } = await village.stop()
  expect(code).toBe(0)
  expect(output).toContain('the worker has stopped')
})

test('npm run start:tenants runs the order desk', SLOWLY, async () => {
  await using database = await testDatabase({ server: inject('serverUrl') })
  await using desk = await startScript('start:tenants', { databaseUrl: database.url })
  expect(desk.line('Workload')).toBe('order desk')
  expect((await desk.stop()).code).toBe(0)
})
