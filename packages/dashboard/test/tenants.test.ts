// Tenants: who gets what share, and another weight for one of them.
import type { Millrace } from 'millrace'
import { expect } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'
import { clientOf } from './support/system.ts'

test('the shares of a queue are a picture, a table, and a list of the rules that hold jobs', async () => {
  await using opened = await browse('/admin/tenants?queue=default')
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /tenants? waits? for breaker kestrel-carrier/ }).waitFor()
  await page.getByRole('img', { name: /tenants with work in default, each by how much it asks for/ }).waitFor()
  await page.getByRole('row', { name: /moss-lane-records.*suspension/ }).waitFor()
  await page.getByRole('row', { name: /^suspension.*unpaid since October/ }).waitFor()
  await expectAccessible(page)
  await page.getByRole('navigation', { name: 'Queue' }).getByRole('link', { name: 'screenshot' }).click()
  await page.getByRole('row', { name: /^pause.*the browser image is being replaced/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('queue')).toBe('screenshot')
})

/** Four tenants want slots of the queue. */
async function fillBulk(millrace: Millrace): Promise<void> {
  for (const tenant of ['thistle-and-twine', 'cedar-post', 'amber-kiln', 'hollow-oak'])
    await millrace.enqueueByType('newsletter.send', { to: 'customer-1@example.com', campaign: 'autumn' }, { tenant })
}

test('a weight previews what it would do, and what is due changes with it when it is saved; a tenant is suspended and resumed', async () => {
  // Without a worker nobody takes their jobs away meanwhile.
  await using system = await ownSystem({ pace: null })
  await using millrace = clientOf(system.databaseUrl)
  await fillBulk(millrace)
  const before = (await millrace.fairness('bulk')).top.find(({ tenant }) => tenant === 'thistle-and-twine')
  await using opened = await browse('/admin/tenants/thistle-and-twine?queue=bulk', { as: 'operator', system })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /thistle-and-twine/ }).waitFor()
  await page.getByLabel('as a number').fill('6')
  const due = page.getByRole('row', { name: /thistle-and-twine is due/ })
  await due.waitFor()
  const [now, then] = (await due.getByRole('cell').allInnerTexts()).map((text) => Number.parseFloat(text))
  expect(then).toBeGreaterThan(Number(now) * 2)
  await page.getByText('millrace tenants set thistle-and-twine --weight 6').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save weight 6' }).click()
  await page.getByText('Weight, now 6').waitFor()
  expect(await millrace.tenants.get('thistle-and-twine')).toMatchObject({ weight: 6, updatedBy: 'operator' })
  const after = (await millrace.fairness('bulk')).top.find(({ tenant }) => tenant === 'thistle-and-twine')
  expect(after?.dueShare).toBeGreaterThan(Number(before?.dueShare) * 2)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('Weight, now 1').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${system.url}/admin/tenants/cedar-post`)
  await page.getByRole('button', { name: 'Suspend cedar-post…' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('asked for it')
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'cedar-post is suspended: asked for it.' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Resume cedar-post' }).click()
  await page.getByRole('button', { name: 'Suspend cedar-post…' }).waitFor()
}, 60_000)

test('a tenant’s own user sees its work, nothing of others, and no button', async () => {
  await using opened = await browse('/admin/tenants/copper-kettle', { as: 'tenant' })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /copper-kettle/ }).waitFor()
  await page.getByRole('heading', { name: 'In each queue now' }).waitFor()
  expect(await page.getByRole('button', { name: /Save|Suspend|Set a limit/ }).count()).toBe(0)
  expect(await page.getByText('thistle-and-twine').count()).toBe(0)
})

test('a hostile name is shown as text', async () => {
  const name = 'Ünïcode & <b>Söhne</b>'
  await using opened = await browse(`/admin/tenants/${encodeURIComponent(name)}`)
  await opened.page.getByRole('heading', { level: 1, name: /Ünïcode & <b>Söhne<\/b>/ }).waitFor()
})

test('where no work belongs to a tenant the screen says what to type', async () => {
  await using system = await ownSystem({ isEmpty: true })
  await using opened = await browse('/admin/tenants', { system })
  await opened.page.getByText('npm run start:tenants').waitFor()
  await expectAccessible(opened.page)
})
