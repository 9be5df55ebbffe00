// Queues: find the one that is held, pause one, and let it run again.
import { expect } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'
import { clientOf } from './support/system.ts'

test('the list of queues says which are paused and leads to each of them', async () => {
  await using opened = await browse('/admin/queues')
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /screenshot is paused/ }).waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'screenshot' }).first().click()
  await page.getByRole('heading', { level: 1, name: /screenshot is paused by ops@fernwick.example/ }).waitFor()
  await expectAccessible(page)
})

test('an operator pauses a queue with a reason and an end, takes it back, resumes another, and sets a limit', async () => {
  await using system = await ownSystem()
  await using millrace = clientOf(system.databaseUrl)
  await using opened = await browse('/admin/queues/low', { as: 'operator', system })
  const { page } = opened
  await page.getByRole('button', { name: 'Pause low…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Give a reason first.').waitFor({ state: 'attached' })
  await dialog.getByLabel('Reason').fill('the archive is moved')
  await dialog.getByLabel('For').selectOption('1h')
  await dialog.getByRole('button', { name: 'Pause it' }).click()
  await page.getByRole('heading', { level: 1, name: /low is paused by operator: the archive is moved/ }).waitFor()
  const [pause] = (await millrace.pauses.list()).filter(({ queue }) => queue === 'low')
  expect(pause).toMatchObject({ reason: 'the archive is moved', by: 'operator' })
  expect(Number(pause?.expiresAt) - Number(pause?.createdAt)).toBe(3_600_000)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Pause low…' }).waitFor()
  expect((await millrace.pauses.list()).some(({ queue }) => queue === 'low')).toBe(false)
  await page.goto(`${system.url}/admin/queues/screenshot`)
  await page.getByRole('button', { name: 'Resume screenshot' }).click()
  await page.getByRole('button', { name: 'Pause screenshot…' }).waitFor()
  expect((await millrace.pauses.list()).some(({ queue }) => queue === 'screenshot')).toBe(false)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${system.url}/admin/queues/default`)
  await page.getByRole('button', { name: 'Change the limit texts' }).click()
  await page.getByRole('dialog').getByLabel('Started').fill('20')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('texts: 20 in 1 min').waitFor()
  expect(await millrace.limits.get('texts')).toMatchObject({ rate: { jobs: 20, perMs: 60_000 }, setBy: 'operator' })
  await expectAccessible(page)
}, 60_000)

test('a viewer sees a queue without buttons that would be refused', async () => {
  await using opened = await browse('/admin/queues/default', { as: 'viewer' })
  const { page } = opened
  await page.getByRole('heading', { name: 'Who is held back, and by which rule' }).waitFor()
  expect(await page.getByRole('button', { name: /Pause|Resume|Change|Limit the queue/ }).count()).toBe(0)
  await page
    .getByRole('row', { name: /breaker kestrel-carrier/ })
    .first()
    .waitFor()
})

test('a queue that nobody knows says so', async () => {
  await using opened = await browse('/admin/queues/%3Cb%3Enone')
  await opened.page.getByRole('heading', { level: 1, name: 'There is no queue <b>none.' }).waitFor()
})
