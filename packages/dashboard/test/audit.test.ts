// Audit: who changed what.
import { expect } from 'vitest'
import { browse, expectAccessible, test } from './support/browse.ts'

test('the audit log is filtered by who and what, and shows before and after', async () => {
  await using opened = await browse('/admin/audit', { as: 'viewer' })
  const { page } = opened
  const table = page.getByRole('table', { name: 'Changes, newest first' })
  await table.waitFor()
  await page.getByLabel('Filter by').selectOption('action')
  await page.getByLabel('Value of the filter').fill('job.prioritise')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.waitForURL(/action=job\.prioritise/)
  await table.getByRole('row').nth(1).getByText('priority').waitFor()
  await page.getByRole('button', { name: 'Remove the filter action' }).waitFor()
  for (const head of await table.getByRole('rowheader').allInnerTexts()) expect(head).toContain('job.prioritise')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Remove the filter action' }).click()
  await page.getByRole('button', { name: 'Next page' }).waitFor()
})
