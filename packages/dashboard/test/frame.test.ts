// The frame: what surrounds every screen.
import { expect, inject } from 'vitest'
import { browse, expectAccessible, ownSystem, test } from './support/browse.ts'

test('the navigation, the palette and the help are accessible, and nothing is asked of other hosts', async () => {
  await using opened = await browse('/admin/jobs')
  const { page } = opened
  const nav = page.getByRole('navigation', { name: 'Main' })
  await nav.getByRole('link', { name: 'Queues' }).waitFor()
  expect(await nav.getByRole('link').count()).toBeGreaterThan(10)
  await page.getByText('STAGING').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByRole('heading', { name: 'Go to' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /Screen, queue/ }).waitFor()
  await expectAccessible(page)
})

test('keys and the palette lead to screens, types and jobs', async () => {
  await using opened = await browse('/admin/jobs')
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForURL(/\/admin\/schedules$/)
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: /Screen, queue/ })
  await field.fill('4711')
  await page.getByRole('option', { name: /Job 4711/ }).waitFor()
  await field.fill('van.b')
  await page.getByRole('option', { name: /van\.book/ }).waitFor()
  await field.press('Enter')
  await page.waitForURL(/\/admin\/jobs\?q=type%3Avan\.book/)
  expect(await page.getByRole('combobox', { name: 'Search jobs' }).inputValue()).toBe('type:van.book')
})

test('theme and time zone are remembered in the browser', async () => {
  await using opened = await browse('/admin/audit', { zone: 'Asia/Tokyo' })
  const { page } = opened
  const time = page.getByRole('table', { name: 'Changes, newest first' }).locator('time').first()
  const hour = async () => Number.parseInt((await time.innerText()).slice(-5), 10)
  const inTokyo = await hour()
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'Theme and time zone' }).click()
    await page.getByRole('menuitemradio', { name }).click()
  }
  await choose('Dark')
  await choose('Times in UTC')
  expect(await hour()).toBe((inTokyo + 24 - 9) % 24)
  await page.reload()
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
  await page.getByRole('button', { name: 'Theme and time zone' }).click()
  expect(await page.getByRole('menuitemradio', { name: 'Times in UTC' }).getAttribute('aria-checked')).toBe('true')
})

test('the high contrast theme is accessible, and nothing moves for people who asked for that', async () => {
  await using opened = await browse('/admin/')
  const { page } = opened
  await page.getByRole('button', { name: 'Theme and time zone' }).click()
  await page.getByRole('menuitemradio', { name: 'High contrast' }).click()
  await page.getByRole('heading', { name: 'Failing and slow types' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('contrast')
  await expectAccessible(page)
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
})

test('after the session is over, the login leads back to the same URL', async () => {
  await using opened = await browse('/admin/jobs?q=status%3Adead+queue%3Adefault', { expects: /401/ })
  const { page, context } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  const url = page.url()
  await context.clearCookies()
  await page.keyboard.press('r')
  await page.waitForURL(/\/admin\/login\?next=/)
  await page.getByLabel('Token').fill(inject('callers').admin)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(url)
  expect(await page.getByRole('combobox', { name: 'Search jobs' }).inputValue()).toBe('status:dead queue:default')
})

test('a caller of one tenant sees its work alone, and no screen about all', async () => {
  await using opened = await browse('/admin/jobs', { as: 'tenant' })
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  const nav = page.getByRole('navigation', { name: 'Main' })
  const links = await nav.getByRole('link').allInnerTexts()
  expect(links.join(' ')).toMatch(/Jobs.*Failures/s)
  expect(links.join(' ')).not.toMatch(/Overview|Queues|Workers|Alerts/)
  await page.getByRole('banner').getByText('copper-kettle').waitFor()
  const tenants = await page.locator('.jobs-row .c-tenant').allInnerTexts()
  expect([...new Set(tenants)]).toEqual(['copper-kettle'])
  const { status } = await page.evaluate(async () => ({ status: (await fetch('/admin/api/me')).status }))
  expect(status).toBe(200)
})

test('a tenant that is chosen stays chosen on the next screen', async () => {
  await using opened = await browse('/admin/jobs')
  const { page } = opened
  await page.getByRole('button', { name: 'All tenants' }).click()
  await page.getByRole('combobox', { name: 'Name of a tenant' }).fill('night')
  await page.getByRole('option', { name: /night-market/ }).click()
  await page.waitForURL(/tenant=night-market/)
  await page.locator('.jobs-row .c-tenant').first().waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tenants' }).click()
  await page.waitForURL(/\/tenants\?tenant=night-market/)
  await page.getByRole('button', { name: 'Show all tenants' }).click()
  await page.waitForURL(/\/tenants$/)
})

const HTML = { headers: { 'content-type': 'text/html' } }
const shop = { path: '/shop', title: 'Shop', handle: () => new Response('<h1>The shop</h1>', HTML) }

test('it works under any base path, a deep link survives a reload, and pages of a workload are in the navigation', async () => {
  await using system = await ownSystem({ basePath: '/ops/jobs', pages: [shop] })
  await using opened = await browse('/admin/jobs?q=status%3Adead', { system })
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/ops\/jobs\/admin\/jobs\/\d+$/)
  await page.reload()
  await page.getByRole('heading', { level: 1, name: /is dead/ }).waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Shop' }).click()
  await page.waitForURL(/\/ops\/jobs\/shop$/)
  await page.getByRole('heading', { name: 'The shop' }).waitFor()
})

test('a server that is gone shows as data age, and a pause as a pause', async () => {
  const system = await ownSystem()
  await using opened = await browse('/admin/jobs', {
    system,
    expects: /ERR_CONNECTION|Failed to load|ERR_INCOMPLETE|ERR_EMPTY/,
  })
  const { page } = opened
  const badge = page.getByRole('banner').getByRole('button', { name: /live|paused|contact/ })
  await badge.filter({ hasText: 'live' }).waitFor()
  await page.getByRole('button', { name: /press to pause/ }).click()
  await badge.filter({ hasText: 'paused' }).waitFor()
  await badge.click()
  await badge.filter({ hasText: 'live' }).waitFor()
  await system[Symbol.asyncDispose]()
  await badge.filter({ hasText: /no contact, .* old/ }).waitFor()
})

test('a path that does not exist says so', async () => {
  await using opened = await browse('/admin/nothing/here')
  await opened.page.getByRole('heading', { name: 'There is no such page.' }).waitFor()
  await expectAccessible(opened.page)
})
