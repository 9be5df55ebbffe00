// Budgets and breakers: what is spent, another limit, a breaker reset.
import { expect } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'

test('an operator raises a budget after a look at what that brings, and resets a breaker', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/budgets', { system, as: 'operator' })
  const { page } = opened
  const card = page.getByRole('region', { name: 'order-screening' })
  await card.getByText('queued', { exact: true }).waitFor()
  await card.getByRole('button', { name: 'Change the limit…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Limit in dollars').fill('-5')
  await dialog.getByText('Expected a number, 0 or more.').first().waitFor()
  await dialog.getByLabel('Limit in dollars').fill('800')
  await dialog.getByText('Its jobs would run at full speed.').waitFor()
  await dialog.getByRole('button', { name: 'Set the limit' }).click()
  await card.getByText('of $800.00').waitFor()
  await card.getByText('normal', { exact: true }).waitFor()

  const row = page.getByRole('row').filter({ hasText: 'kestrel-carrier' })
  await row.getByText(/^(open|probing)$/).waitFor()
  await row.getByRole('button', { name: 'Reset' }).click()
  await page.getByText('kestrel-carrier may be called again.').waitFor()
})

test('budgets and breakers are accessible on a phone', async () => {
  await using opened = await browse('/admin/budgets', { as: 'viewer', width: 390, theme: 'dark' })
  const { page } = opened
  await page.getByRole('region', { name: 'Breakers' }).waitFor()
  await page.getByRole('table', { name: 'Spent by job type and originator' }).first().waitFor()
  await expectAccessible(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})
