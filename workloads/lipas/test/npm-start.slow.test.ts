// What a newcomer sees of `npm run start:lipas`: its addresses, and a map that fills itself.

import { testDatabases } from '@millrace/embedded'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type StartedScript, startScript } from '../../../test/support/start-script.ts'

const databases = testDatabases(inject('serverUrl'))
let started: StartedScript

beforeAll(async () => {
  const empty = await databases.template('lipas', async () => {})
  const { url } = await databases.fresh(empty)
  started = await startScript('start:lipas', { databaseUrl: url })
}, 120_000)

afterAll(async () => {
  await started?.stop()
  await databases.close()
})

const ask = async <Answer>(path: string): Promise<Answer> =>
  (await (await fetch(new URL(path, started.line('LIPAS')))).json()) as Answer

test('it prints the addresses of the page, the sandbox and the dashboard', () => {
  for (const label of ['LIPAS', 'Sandbox', 'Admin']) expect(started.line(label)).toMatch(/^http:\/\/127\.0\.0\.1:\d+/)
})

test('squares fill in, and sample traffic saves places whose owners get mail', { timeout: 180_000 }, async () => {
  const levels = async (): Promise<string> => (await ask<{ levels: string }>('/lipas/api/map')).levels
  await expect.poll(async () => (await levels()).replaceAll('-', '').length, { timeout: 120_000 }).toBeGreaterThan(100)
  expect(await levels()).toHaveLength(1_100)
  const mails = async () => (await ask<{ mails: unknown[] }>('/lipas/api/board')).mails.length
  await expect.poll(mails, { timeout: 60_000 }).toBeGreaterThan(0)
})

test('Ctrl-C ends all of it', async () => {
  expect((await started.stop()).code).toBe(0)
  await expect(fetch(started.line('Sandbox'))).rejects.toThrow()
})
