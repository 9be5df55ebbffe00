// /village/feeds in a real browser: what an operator sees and presses, on a phone and a desk, in both themes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { admin, nodeListener } from '@millrace/admin'
import axe, { type AxeResults } from 'axe-core'
import { type BrowserServer, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedSources } from '#sandbox/seed-sources'
import { startChromium } from '../../../../packages/dashboard/test/support/chromium.ts'
import { setup } from '../support/setup.ts'

let browser: BrowserServer
beforeAll(async () => {
  browser = await startChromium()
})
afterAll(() => browser?.close())

async function open() {
  const t = await setup()
  await seedSources(t.parts.database, t.sandbox.urlOf('feeds'))
  const { routes = [], pages = [] } = t.village
  const handler = admin(t.millrace, { routes, pages, isDevelopment: true })
  const server = createServer(nodeListener(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connected = await chromium.connect(browser.wsEndpoint())
  return {
    ...t,
    connected,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/village/feeds`,
    async [Symbol.asyncDispose]() {
      await connected.close()
      await handler.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await t[Symbol.asyncDispose]()
    },
  }
}

test('an operator enables a feed and refreshes it, without script', async () => {
  await using t = await open()
  await t.sql("update rss_sources set is_active = false, error_count = 5 where name = 'Busy Bee'")
  const page = await (await t.connected.newContext({ javaScriptEnabled: false })).newPage()
  await page.goto(t.url)
  await page.getByRole('button', { name: 'Enable Busy Bee' }).click()
  expect(await page.getByRole('status').textContent()).toContain('Busy Bee is enabled again.')
  await page.getByRole('button', { name: 'Refresh now Busy Bee' }).click()
  expect(await page.getByRole('status').textContent()).toMatch(/Busy Bee is being refreshed\. Job \d+/)
})

test.each([
  [320, 'light'],
  [320, 'dark'],
  [1280, 'light'],
  [1280, 'dark'],
] as const)('at %i px, %s, nothing is cut off and axe finds nothing', async (width, colorScheme) => {
  await using t = await open()
  await t.sql(
    "update rss_sources set error_count = 2, last_error_type = 'http_503', last_error_message = 'It is down.'",
  )
  const context = await t.connected.newContext({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true })
  const page = await context.newPage()
  await page.goto(t.url)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
  if (process.env.VILLAGE_SHOTS)
    await page.screenshot({ path: `${process.env.VILLAGE_SHOTS}/feeds-${width}-${colorScheme}.png` })
})
