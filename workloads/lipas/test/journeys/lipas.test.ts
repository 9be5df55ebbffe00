// What a person does with /lipas: search a place, move it, watch what follows; break the mail server, and see it mended.
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { type Browsed, browse, expectAccessible, test } from '../../../../packages/dashboard/test/support/browse.ts'
import { type Served, served } from '../support/served.ts'

type Page = Browsed['page']

const RIDGE = 12_345
let t: Served

beforeAll(async () => {
  t = await served({ databaseServer: inject('databaseServer') })
  // As the first start does, for the one place that is searched for.
  const { analysis } = await import('#src/contracts')
  const { id } = await t.millrace.enqueue(analysis, { 'lipas-id': RIDGE })
  await t.millrace.result(id)
  await t.system.search.refresh('sites')
  // An outage must not last for a minute. A mail has three attempts: the first opens the breaker, two more may try the service.
  await t.millrace.breakers.configure('email-service', { by: 'test', failures: 1, openFor: '5s' })
}, 60_000)

afterAll(async () => {
  await t?.[Symbol.asyncDispose]()
})

async function visit(path = '/lipas', expects?: RegExp): Promise<Browsed> {
  const system = { url: t.origin, callers: {} as never }
  const opened = await browse(path, { as: null, system, ...(expects !== undefined && { expects }) })
  // Jobs are waited for, too, on a machine that may be busy.
  opened.page.setDefaultTimeout(40_000)
  return opened
}

const lamp = (page: Page, service: string) => page.locator('.lamp', { hasText: service })
const trace = (page: Page) => page.locator('#trace')

test('a place is found, moved, and its jobs are followed to their end, by keyboard alone', async () => {
  await using opened = await visit()
  const { page } = opened
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.type('ridge')
  const result = page.locator('#results').getByRole('link', { name: 'Ridge trail' })
  await result.waitFor()
  await page.keyboard.press('Tab')
  while (!(await result.evaluate((link) => link === document.activeElement))) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const heading = page.getByRole('heading', { name: 'Ridge trail' })
  await heading.waitFor()
  expect(await heading.evaluate((h2) => h2 === document.activeElement)).toBe(true)
  expect(await page.locator('#map .chosen').getAttribute('data-site')).toBe(String(RIDGE))
  const drawn = await page.locator('#map .chosen path').getAttribute('d')
  await page.getByLabel('Move east, m').focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('250')
  await page.keyboard.press('Enter')
  await trace(page).getByText('4 jobs, all done').waitFor()
  expect((await trace(page).locator('li b').allTextContents()).sort()).toEqual([
    'analysis',
    'elevation',
    'email',
    'webhook',
  ])
  await page.getByRole('img', { name: /Elevation profile/ }).waitFor()
  await page.getByText('m up and').waitFor()
  await page.locator('.offers').getByText('trails').waitFor()
  await page.locator('#board').getByText('Saved: Ridge trail').waitFor()
  await page.locator('#board').getByText(`sports-site ${RIDGE}`).waitFor()
  expect(await page.locator('#map .chosen path').getAttribute('d')).not.toBe(drawn)
  expect(await page.locator('#squares rect:not(.none)').count()).toBeGreaterThan(50)
  await page.reload()
  await trace(page).getByText('4 jobs, all done').waitFor()
})

test('mail goes down: its lamp turns red, other work goes on, and it turns green again by itself', async () => {
  await using opened = await visit(`/lipas?site=${RIDGE}`)
  const { page } = opened
  await page.getByRole('button', { name: 'Mail is down' }).click()
  await page.locator('[data-trouble=mail-down][aria-pressed=true]').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await lamp(page, 'email-service').getByText('is held back').waitFor()
  await page.getByRole('button', { name: 'Mail is down' }).click()
  // They did not wait for the mail.
  await trace(page).locator('li', { hasText: 'webhook' }).getByText('done').waitFor()
  await trace(page).locator('li', { hasText: 'analysis' }).getByText('done').waitFor()
  await trace(page).getByText('3 jobs, all done').waitFor()
  await lamp(page, 'email-service').getByText('works').waitFor()
})

test('a breaker is reset by its button, and the search says while it may not ask', async () => {
  await using opened = await visit()
  const { page } = opened
  await t.millrace.breakers.trip('search-service', { by: 'test', for: '10m' })
  await lamp(page, 'search-service').getByText('is held back').waitFor()
  await page.getByRole('searchbox').fill('hall')
  await page.locator('#results').getByText('its breaker is open').waitFor()
  await lamp(page, 'search-service').getByRole('button', { name: 'Reset search-service' }).click()
  await lamp(page, 'search-service').getByText('works').waitFor()
})

test('the page is accessible on a desktop and on a phone, in both themes', async () => {
  await using opened = await visit(`/lipas?site=${RIDGE}&q=ridge`)
  const { page } = opened
  await lamp(page, 'email-service').waitFor()
  // They are all alike, and each costs time.
  await page.evaluate(() => {
    for (const each of document.querySelectorAll('#squares rect:nth-child(n+9), #places a:nth-child(n+9)'))
      each.remove()
  })
  for (const width of [1280, 360])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
    }
})

test('nothing is wider than the window, from a phone to a large screen', async () => {
  await using opened = await visit(`/lipas?site=${RIDGE}&q=ridge`)
  for (const width of [360, 390, 768, 1280, 1920]) {
    await opened.page.setViewportSize({ width, height: 800 })
    expect(await opened.page.evaluate(() => document.documentElement.scrollWidth), `at ${width}`).toBe(width)
  }
})

test('a hostile name stays text on map, panel, search and board, and runs nothing', async () => {
  // The address, too, may be somebody else's work: what it names as a trace is asked for as an id, and shown as text.
  await using opened = await visit(`/lipas?site=1234&trace=..%2Fsites%2F12345%3C`)
  const { page } = opened
  await trace(page).getByText('There is no job of this action').waitFor()
  const name = `</title><img src=x onerror="document.body.dataset.ran='yes'"><script>document.body.dataset.ran='yes'</script>`
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: '<img src=x' }).waitFor()
  await page.locator('#board').getByText('<img src=x').waitFor()
  await expect.poll(() => page.locator('#map [data-site="1234"]').getAttribute('aria-label')).toBe(name)
  await page.reload()
  await page.getByRole('heading', { name: '<img src=x' }).waitFor()
  expect(await page.locator('img, #map script').count()).toBe(0)
  expect(await page.locator('body').getAttribute('data-ran')).toBeNull()
})

test('what the board replaces keeps the focus, and what is wrong with a form is said beside it', async () => {
  await using opened = await visit(`/lipas?site=${RIDGE}`, /400 \(Bad Request\)/)
  const { page } = opened
  const button = page.getByRole('button', { name: 'Partner says 429' })
  await button.focus()
  await page.keyboard.press('Enter')
  await page.locator('[data-trouble=partner-429][aria-pressed=true]').waitFor()
  expect(await button.evaluate((each) => each === document.activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  await page.locator('[data-trouble=partner-429][aria-pressed=false]').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('   ')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('name:').waitFor()
})

test('without script the page shows map, place and search, and says that it saves nothing', async () => {
  await using opened = await visit()
  const context = await opened.context.browser()?.newContext({ javaScriptEnabled: false })
  const page = await context?.newPage()
  await page?.goto(`${t.origin}/lipas?q=ridge`)
  await page?.getByRole('link', { name: 'Ridge trail', exact: false }).last().click()
  expect(await page?.getByRole('heading', { level: 2, name: 'Ridge trail' }).count()).toBe(1)
  expect(await page?.locator('#squares rect').count()).toBe(1_100)
  await context?.close()
})
