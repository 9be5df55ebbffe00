// More of everything than fits a screen: 200 queues, 300 types, 5,000 tenants.
import { afterAll, beforeAll, expect } from 'vitest'
import { browse, ownSystem, test } from './support/browse.ts'
import { CROWD, fillCrowd } from './support/crowd.ts'

let system: Awaited<ReturnType<typeof ownSystem>>

beforeAll(async () => {
  system = await ownSystem({ isEmpty: true, pace: null })
  await fillCrowd(system.databaseUrl)
})
afterAll(async () => {
  await system[Symbol.asyncDispose]()
})

for (const width of [1280, 390])
  test(`the overview of 200 queues shows the worst of them, ${width} wide`, async () => {
    await using opened = await browse('/admin/', { system, width })
    const { page } = opened
    await page.getByRole('heading', { level: 1, name: /^200 of 206 queues are late/ }).waitFor()
    await page.getByRole('link', { name: '196 more queues' }).waitFor()
    const attention = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
    expect(await attention.first().textContent()).toContain('No worker runs')
    await attention.filter({ hasText: '195 more queues are late' }).getByRole('link', { name: 'Queues' }).waitFor()
    expect(await page.locator('.queues article').count()).toBe(10)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  })

test('200 queues are a table, and 5,000 tenants of one of them a picture and eleven rows', async () => {
  await using opened = await browse('/admin/queues', { system })
  const { page } = opened
  await expect.poll(() => page.getByRole('table').getByRole('rowheader').count()).toBeGreaterThan(CROWD.queues)
  await page.goto(`${system.url}/admin/tenants?queue=queue-0000`)
  await page.getByRole('img', { name: /5,000 tenants with work in queue-0000/ }).waitFor()
  const shares = page.getByRole('region', { name: 'Who gets what' })
  await shares.getByRole('row', { name: /4,991 others/ }).waitFor()
  expect(await shares.getByRole('row').count()).toBeLessThan(14)
})

test('one of 300 types and one of 5,000 tenants is found by a part of its name', async () => {
  await using opened = await browse('/admin/jobs', { system })
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  const field = page.getByRole('combobox', { name: 'Search jobs' })
  await field.fill('type:type-029')
  await page.getByRole('option', { name: /type-0299/ }).waitFor()
  await field.fill('tenant:tenant-4321')
  await field.press('Escape')
  await field.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'One job fits.' }).waitFor()
})
