// What a newcomer sees of `npm start`: the village fills itself, and the sandbox shows what was told to whom.
import { testDatabases } from '@millrace/embedded'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { type Browsed, browse, expectAccessible, test } from '../../../../packages/dashboard/test/support/browse.ts'
import { type StartedScript, startScript } from '../../../../test/support/start-script.ts'

type Page = Browsed['page']

const databases = testDatabases(inject('databaseServer'))
let started: StartedScript

beforeAll(async () => {
  const empty = await databases.template('village', async () => {})
  const { url } = await databases.fresh(empty)
  started = await startScript('start', { databaseUrl: url })
}, 60_000)

afterAll(async () => {
  await started?.stop()
  await databases.close()
})

interface Looks {
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

/** Pictures may come from the CDN, which the sandbox stands in for. */
const CDN = /^request to another host: http:\/\/127\.0\.0\.1:\d+\/cdn\//

/** Nobody is logged in: the page is public. A request to another server, or a complaint of the browser, fails the test. */
const visit = (label: 'Village' | 'Sandbox', looks: Looks = {}) => {
  const { origin, pathname } = new URL(started.line(label))
  return browse(pathname, { as: null, system: { url: origin, callers: {} as never }, expects: CDN, ...looks })
}

/** The first test has waited for stories with tags. */
const tagged = (page: Page) => page.locator('.today .topic').first().waitFor()

/** Its script asks every 15 s, and whenever the tab is seen again. */
async function seenWithoutReload(page: Page, text: string): Promise<void> {
  const look = async () => {
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    return page.getByText(text).count()
  }
  await expect.poll(look, { interval: 300, timeout: 60_000 }).toBeGreaterThan(0)
}

test('the page fills itself while it is looked at, without being reloaded', { timeout: 120_000 }, async () => {
  await using opened = await visit('Village')
  const { page } = opened
  await page.evaluate(() => {
    document.body.dataset.seen = 'from the start'
  })
  for (const text of ['good news', 'as of', 'high', 'Severe Thunderstorm Warning', '1 feed was disabled'])
    await seenWithoutReload(page, text)
  expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Village'])
  expect(await page.locator('body').getAttribute('data-seen')).toBe('from the start')
})

test('pictures take the place of their placeholders, and each is there', { timeout: 60_000 }, async () => {
  await using opened = await visit('Village')
  const { page } = opened
  const shown = async () => {
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    return page.locator('.sites img, .marketplace img').count()
  }
  await expect.poll(shown, { interval: 500, timeout: 50_000 }).toBeGreaterThanOrEqual(9)
  await page.reload()
  const widths = await page.locator('.cards img').evaluateAll(async (images) => {
    for (const image of images as HTMLImageElement[]) image.loading = 'eager'
    await Promise.all((images as HTMLImageElement[]).map((image) => image.decode()))
    return (images as HTMLImageElement[]).map(({ naturalWidth }) => naturalWidth)
  })
  expect(Math.min(...widths)).toBeGreaterThan(0)
})

test.each([
  { width: 1280, theme: 'light' },
  { width: 1280, theme: 'dark' },
  { width: 320, theme: 'light' },
  { width: 320, theme: 'dark' },
] as const)('the page is accessible at $width px in $theme', async (looks) => {
  await using opened = await visit('Village', looks)
  await tagged(opened.page)
  await expectAccessible(opened.page)
})

test('nothing is wider than the window, from a phone to a large screen', async () => {
  for (const width of [320, 390, 768, 1280, 1920]) {
    await using opened = await visit('Village', { width })
    await tagged(opened.page)
    expect(await opened.page.evaluate(() => document.documentElement.scrollWidth), `at ${width}`).toBe(width)
  }
})

test('a keyboard reaches the news by one jump, and chooses a category', async () => {
  await using opened = await visit('Village')
  const { page } = opened
  await tagged(page)
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the news')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('All')
  await page.keyboard.press('Tab')
  const category = await page.evaluate(() => document.activeElement?.textContent)
  await page.keyboard.press('Enter')
  await page.waitForURL(/category=/)
  expect(await page.locator('[aria-current=page]').textContent()).toBe(category)
})

test('what has the focus is not replaced under it', async () => {
  await using opened = await visit('Village')
  const { page } = opened
  await tagged(page)
  const link = page.locator('.today h3 a').first()
  await link.focus()
  const isKept = await page.evaluate(async () => {
    const section = document.querySelector<HTMLElement>('.today')
    const first = section?.querySelector('h3 a')
    if (section != null) section.dataset.etag = '"an old one"'
    document.dispatchEvent(new Event('visibilitychange'))
    await new Promise((resolve) => setTimeout(resolve, 500))
    return first?.isConnected === true && document.activeElement === first
  })
  expect(isKept).toBe(true)
  const isFresh = await page.evaluate(async () => {
    const section = document.querySelector<HTMLElement>('.today')
    ;(document.activeElement as HTMLElement).blur()
    document.dispatchEvent(new Event('visibilitychange'))
    for (let i = 0; i < 100 && section?.dataset.etag === '"an old one"'; i++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    return section?.dataset.etag !== '"an old one"'
  })
  expect(isFresh).toBe(true)
})

test('without script the page says the same, and reloads itself', async () => {
  await using opened = await visit('Village')
  const context = await opened.context.browser()?.newContext({ javaScriptEnabled: false })
  const page = await context?.newPage()
  await page?.goto(started.line('Village'))
  expect(await page?.locator('.today h3').count()).toBeGreaterThan(5)
  expect(await page?.locator('noscript').count()).toBe(1)
  await context?.close()
})

test('the sandbox shows what was told to whom, and a switch breaks a service', async () => {
  await using opened = await visit('Sandbox')
  const { page } = opened
  await page.getByText('is disabled after 5 failed fetches in a row').first().waitFor()
  await expectAccessible(page)
  const stooq = page.getByRole('form', { name: 'Stooq' })
  await stooq.getByRole('button', { name: 'down' }).click()
  await page.getByText('answers 503').waitFor()
  expect(await stooq.getByRole('button', { name: 'down' }).getAttribute('aria-pressed')).toBe('true')
  await stooq.getByRole('button', { name: 'ok' }).click()
  await page.getByText('answers 503').waitFor({ state: 'detached' })
})

test('the sandbox is accessible on a phone in the dark', async () => {
  await using opened = await visit('Sandbox', { width: 390, theme: 'dark' })
  await expectAccessible(opened.page)
  expect(await opened.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})
