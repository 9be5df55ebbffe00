// The overview: what is wrong, why, and the way to the cause.
import type { Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'
import { experiment } from './support/lab.ts'
import { clientOf } from './support/system.ts'

const cardOf = (page: Page, queue: string) =>
  page.locator('article').filter({ has: page.getByRole('link', { name: queue, exact: true }) })

test('the cause of a late queue is one click away', async () => {
  await using opened = await browse('/admin/')
  const { page } = opened
  const verdict = page.getByRole('heading', { level: 1 })
  await expect.poll(() => verdict.textContent()).toMatch(/queues? (is|are) late.*default waits/)
  const attention = page.getByRole('region', { name: 'Needs attention' })
  const line = attention.getByRole('listitem').filter({ hasText: 'default is late' })
  expect(await line.textContent()).toContain('its SLA is 5 min')
  await line.getByRole('link', { name: 'Why' }).click()
  await page.waitForURL(/\/admin\/jobs\?q=queue%3Adefault/)
})

test('a paused queue is named with its reason, and its card says so', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  await millrace.pauses.pause({ queue: 'lab' }, { by: 'ann', reason: 'The bench is being cleaned' })
  try {
    await millrace.enqueue(experiment, { note: 'waits for the bench' })
    await using opened = await browse('/admin/')
    const attention = opened.page.getByRole('region', { name: 'Needs attention' })
    const line = attention.getByRole('listitem').filter({ hasText: 'The bench is being cleaned' })
    const more = attention.getByRole('button', { name: /more$/ })
    await expect
      .poll(async () => {
        if (await more.isVisible()) await more.click()
        return line.count()
      })
      .toBe(1)
    expect(await line.textContent()).toContain('lab is paused by ann')
    expect(await cardOf(opened.page, 'lab').textContent()).toMatch(/paused.*waiting/)
  } finally {
    await millrace.pauses.resume({ queue: 'lab' }, { by: 'ann' })
  }
})

test('the charts follow the time range, and the oldest due job is drawn for the time before the page was opened', async () => {
  await using opened = await browse('/admin/?range=3h')
  const { page } = opened
  const card = page.getByRole('region', { name: 'Wait before start' })
  await card.getByText('As a table').click()
  // An hour ago the receipts of a suspended shop had waited for hours.
  const row = card.getByRole('row').nth(-30)
  await expect.poll(async () => (await row.getByRole('cell').allInnerTexts()).at(-1)).toMatch(/^\d h/)
  for (const range of ['15 minutes', 'hour', '24 hours', '7 days']) {
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('menuitemradio', { name: `Last ${range}` }).click()
    await page.getByRole('group', { name: /^Wait before start over the last/ }).waitFor()
  }
})

test('figures move while one looks, and nothing else does', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  await using opened = await browse('/admin/')
  const { page } = opened
  const card = cardOf(page, 'bulk')
  await card.waitFor()
  await page.getByRole('heading', { name: 'Who gets what' }).waitFor()
  await page.evaluate(() => {
    const shifts: number[] = []
    Object.assign(globalThis, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value)
    }).observe({ type: 'layout-shift' })
  })
  const shown = await card.locator('.big').textContent()
  await millrace.enqueueMany(
    experiment,
    Array.from({ length: 30 }, (_, index) => ({ note: `job ${index}` })),
  )
  const lab = cardOf(page, 'lab')
  await expect.poll(() => lab.locator('.row').first().textContent()).toContain('slots')
  expect(await card.locator('.big').textContent()).toMatch(/waiting/)
  expect(shown).toMatch(/^\d/)
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts)
  expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.02)
})

test('a project without jobs says what to type', async () => {
  await using system = await ownSystem({ isEmpty: true })
  await using opened = await browse('/admin/', { system })
  const { page } = opened
  await page.getByRole('heading', { name: 'Nothing has happened here yet.' }).waitFor()
  await expect.poll(() => page.getByText(/^npx millrace enqueue \S+/).textContent()).toMatch(/--wait$/)
  await expectAccessible(page, 'main')
})

for (const theme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    test(`the overview is accessible, ${theme} at ${width}`, async () => {
      await using opened = await browse('/admin/', { theme, width })
      await opened.page.getByRole('heading', { name: 'Failing and slow types' }).waitFor()
      await expectAccessible(opened.page)
      expect(await opened.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    })

test('a caller of one tenant gets an overview of its own work', async () => {
  await using opened = await browse('/admin/', { as: 'tenant' })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /jobs? wait, .* of failure wait for a decision/ }).waitFor()
  expect(await page.getByText('thistle-and-twine').count()).toBe(0)
  await expectAccessible(page, 'main')
})
