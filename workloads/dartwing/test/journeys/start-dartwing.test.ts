// What a newcomer sees of `npm run start:dartwing`: organizations side by side, and what the buttons of the sandbox do.
import { testDatabases } from '@millrace/embedded'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { browse, expectAccessible, test } from '../../../../packages/dashboard/test/support/browse.ts'
import { type StartedScript, startScript } from '../../../../test/support/start-script.ts'

const databases = testDatabases(inject('databaseServer'))
let started: StartedScript

beforeAll(async () => {
  const empty = await databases.template('dartwing', async () => {})
  const { url } = await databases.fresh(empty)
  started = await startScript('start:dartwing', { databaseUrl: url })
}, 60_000)

afterAll(async () => {
  await started?.stop()
  await databases.close()
})

/** A request to another server, or a complaint of the browser, fails the test. */
const visit = (looks: { width?: number; theme?: 'light' | 'dark' } = {}) => {
  const { origin, pathname } = new URL(started.line('Dartwing'))
  return browse(pathname, { as: null, system: { url: origin, callers: {} as never }, ...looks })
}

test.each([
  { width: 1280, theme: 'light' },
  { width: 390, theme: 'dark' },
] as const)('the page is accessible and no wider than the window at $width px in $theme', async (looks) => {
  await using opened = await visit(looks)
  const { page } = opened
  await page.getByText(/^live, as of/).waitFor()
  await expectAccessible(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(looks.width)
})

test('the organizations stand side by side, and the page moves without being reloaded', async () => {
  await using opened = await visit()
  const { page } = opened
  await page.evaluate(() => {
    document.body.dataset.seen = 'from the start'
  })
  expect(await page.locator('.org h2').allTextContents()).toEqual([1, 2, 3, 4, 5].map((n) => `ORG-2025-0000${n}`))
  expect(await page.locator('.queue li').count()).toBe(14)
  await page.getByRole('button', { name: 'Suspend the large one' }).click()
  await page.locator('.org h2', { hasText: 'suspended' }).waitFor()
  await page.getByRole('button', { name: 'Suspend the large one' }).click()
  await page.locator('.org h2', { hasText: 'suspended' }).waitFor({ state: 'detached' })
  expect(await page.locator('body').getAttribute('data-seen')).toBe('from the start')
})

test('an import of 200,000 rows is named, warned and throttled', async () => {
  await using opened = await visit()
  const { page } = opened
  const tries = page.locator('.tries li')
  /** Writing 30 MB takes a while on a busy machine. */
  const said = (label: string) => expect.poll(() => tries.filter({ hasText: label }).locator('p').textContent())
  await page.getByRole('button', { name: 'Import 200,000 rows' }).click()
  await said('Import').toMatch(/^Job \d+ splits import \d+\.$/m)
  await expect.poll(() => page.getByRole('status').textContent()).toMatch(/ORG-2025-00001 has \d+ bulk jobs waiting/)
  await expect.poll(() => page.locator('.org .warned').count()).toBe(1)
  await page.getByRole('button', { name: 'Make the fax line busy' }).click()
  await said('fax line').toMatch('The line is busy for 60 s.')
  await page.getByRole('button', { name: 'ignores its signal' }).click()
  await said('signal').toMatch(/^Job \d+ runs for 90 s\.$/m)
})
