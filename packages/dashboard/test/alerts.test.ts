// Alerts and escalations: what fires, silences, who was told and whether somebody answers.
import { expect } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'

test('an operator silences an alert with a reason, and ends the silence', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/alerts', { system, as: 'operator' })
  const { page } = opened
  const alert = page.getByRole('listitem').filter({ hasText: 'dead_letters of all' })
  await alert.getByRole('button', { name: 'Silence…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('they are being looked at')
  await dialog.getByLabel('For how long').selectOption('8h')
  await dialog.getByRole('button', { name: 'Silence', exact: true }).click()
  await alert.getByText('silenced by operator: they are being looked at').waitFor()
  await alert.getByRole('button', { name: 'End the silence' }).click()
  await alert.getByRole('button', { name: 'Silence…' }).waitFor()
})

test('every alert leads to its cause', async () => {
  await using opened = await browse('/admin/alerts', { as: 'viewer' })
  const { page } = opened
  const alert = page.getByRole('region', { name: 'Firing' }).getByRole('listitem')
  await alert.filter({ hasText: 'dead_letters of all' }).getByRole('link', { name: 'Failures' }).waitFor()
  await alert
    .filter({ hasText: /breaker_open of/ })
    .first()
    .getByRole('link', { name: 'Breaker' })
    .click()
  await page.waitForURL(/\/budgets\?breaker=/)
  await page.getByRole('heading', { name: 'Breakers' }).waitFor()
})

test('an operator acknowledges an escalation, and is told that nobody delivers a test message', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/alerts?show=escalations', { system, as: 'operator', expects: /409/ })
  const { page } = opened
  const table = page.getByRole('table', { name: 'Escalations, newest first' })
  const row = table
    .getByRole('row')
    .filter({ hasText: /due|overdue/ })
    .first()
  await row.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await table
    .getByText(/^operator, /)
    .first()
    .waitFor()

  await page.getByRole('button', { name: 'Test a channel…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Channel').fill('#ops-alerts')
  await dialog.getByRole('button', { name: 'Send a test message' }).click()
  await dialog.getByRole('alert').getByText('No worker delivers on this database.').waitFor()
})

test('alerts, rules and escalations are accessible', async () => {
  await using opened = await browse('/admin/alerts', { as: 'viewer', theme: 'dark' })
  const { page } = opened
  await page.getByRole('region', { name: 'Firing' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByRole('row').filter({ hasText: 'queue_depth' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Escalations' }).click()
  await page.getByRole('table', { name: 'Escalations, newest first' }).waitFor()
  await expectAccessible(page)
  expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0)
})
