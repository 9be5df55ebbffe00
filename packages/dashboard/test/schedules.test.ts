// Schedules: what fires when, run now, pause with a reason, another timing.
import { expect } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'

test('an operator runs a schedule now, and sees its tick and its job', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/schedules?name=sales-report', { system, as: 'operator' })
  const { page } = opened
  const panel = page.getByRole('complementary', { name: 'Schedule sales-report' })
  await panel.getByRole('button', { name: 'Run now' }).click()
  await page.getByText('sales-report was ticked: its job is enqueued.').waitFor()
  const newest = panel.getByRole('region', { name: 'Last ticks' }).getByRole('listitem').first()
  await newest.getByText('operator').waitFor()
  const job = await newest.getByRole('link').innerText()
  const answer = await page.request.get(`${system.url}/admin/api/jobs/${job}`)
  expect(await answer.json()).toMatchObject({ type: 'report.sales' })
})

test('an operator pauses a schedule with a reason, undoes it, and edits its timing', async () => {
  await using system = await ownSystem()
  await using opened = await browse('/admin/schedules?name=sales-report', { system, as: 'operator' })
  const { page } = opened
  const panel = page.getByRole('complementary', { name: 'Schedule sales-report' })
  await panel.getByRole('button', { name: 'Pause…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Say why: others will ask.').waitFor({ state: 'attached' })
  await dialog.getByLabel('Reason').fill('the warehouse is counted')
  await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByRole('heading', { level: 1 }).filter({ hasText: 'does not fire: sales-report' }).waitFor()
  await page.getByText('Paused by operator: the warehouse is counted').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await panel.getByRole('button', { name: 'Pause…' }).waitFor()

  await panel.getByRole('button', { name: 'Edit timing…' }).click()
  await dialog.getByLabel('Cron expression').fill('not a cron')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Cron expression').fill('15 3 * * *')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await panel.getByRole('button', { name: "Back to the code's timing" }).waitFor()
  expect(opened.problems.splice(0).every((problem) => problem.includes('400'))).toBe(true)
})

test('schedules are readable for everybody, and a viewer is offered nothing', async () => {
  await using opened = await browse('/admin/schedules?name=invoices', { as: 'viewer', theme: 'dark' })
  const { page } = opened
  await page.getByRole('region', { name: 'Last ticks' }).waitFor()
  await expectAccessible(page)
  expect(await page.getByRole('button', { name: 'Run now' }).count()).toBe(0)
})
