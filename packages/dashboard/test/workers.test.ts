// Workers: who works, and what is asked of one.
import { expect } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'

test('an operator lets a worker take no more jobs, and take them again', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/workers', { system, as: 'operator' })
  const { page } = opened
  const table = page.getByRole('table', { name: 'Workers' })
  await table.getByRole('rowheader').first().getByRole('link').click()
  await page.getByRole('button', { name: 'Quiet…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('a new version follows')
  await dialog.getByRole('button', { name: 'Quiet it' }).click()
  await table.getByText('operator: a new version follows').waitFor()
  await page.getByRole('button', { name: 'Take jobs again' }).click()
  await page.getByRole('button', { name: 'Quiet…' }).waitFor()
  await table.getByText('operator: a new version follows').waitFor({ state: 'detached' })
})

test('workers show their lanes, and a viewer may ask nothing of them', async () => {
  await using opened = await browse('/admin/workers', { as: 'viewer' })
  const { page } = opened
  await page.getByRole('table', { name: 'Workers' }).getByRole('rowheader').first().getByRole('link').click()
  await page.getByRole('region', { name: 'Lanes' }).waitFor()
  await expectAccessible(page)
  expect(await page.getByRole('button', { name: 'Stop…' }).count()).toBe(0)
})
