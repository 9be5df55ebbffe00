// `npm run measure`: how soon each screen can be read, and how long a key takes, in the browser. It reports, and judges nothing.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, inject } from 'vitest'
import { browse, ownSystem, test } from './support/browse.ts'
import { fillCrowd } from './support/crowd.ts'

const SCREENS = [
  '',
  'jobs',
  'failures',
  'queues',
  'tenants',
  'workflows',
  'schedules',
  'workers',
  'budgets',
  'alerts',
  'audit',
]
const folder = fileURLToPath(new URL('../screenshots/', import.meta.url))

interface Figures {
  readonly screen: string
  /** Milliseconds since the request. */
  readonly firstPaint: number
  /** Until the sentence on top is there and nothing is being read. */
  readonly readable: number
  /** From a key to the next paint, the slower of two. */
  readonly key: number
  /** Layout shift, summed up. */
  readonly shift: number
  readonly requests: number
}

const rows: (Figures & { system: string })[] = []
let crowd: Awaited<ReturnType<typeof ownSystem>>

beforeAll(async () => {
  crowd = await ownSystem({ isEmpty: true, pace: null })
  await fillCrowd(crowd.databaseUrl)
}, 60_000)

afterAll(async () => {
  await crowd[Symbol.asyncDispose]()
  console.table(rows)
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}measured.json`, `${JSON.stringify(rows, null, 2)}\n`)
})

/** In the page, before anything else runs. */
function watch(): void {
  const seen = { shift: 0, slowest: 0, readable: 0 }
  Object.assign(globalThis, { seen })
  const observe = (type: string, each: (entry: never) => void, more: object = {}) =>
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) each(entry as never)
    }).observe({ type, buffered: true, ...more })
  observe('layout-shift', ({ value, hadRecentInput }: { value: number; hadRecentInput: boolean }) => {
    if (!hadRecentInput) seen.shift += value
  })
  observe('event', ({ duration }: { duration: number }) => (seen.slowest = Math.max(seen.slowest, duration)), {
    durationThreshold: 16,
  })
  const look = () => {
    const isRead = document.querySelector('main h1') && !document.querySelector('[aria-busy=true]')
    if (isRead) seen.readable = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

interface Seen {
  readonly shift: number
  readonly slowest: number
  readonly readable: number
}
const seenIn = (page: Page) => page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen)

async function measured(page: Page, screen: string, url: string): Promise<Figures> {
  await page.goto(`${url}/admin/${screen}`)
  await page.waitForFunction(() => (globalThis as unknown as { seen: Seen }).seen.readable > 0)
  // A key that draws a dialog, and one that takes it away.
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
  const paints = await page.evaluate(() => ({
    first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    requests: performance.getEntriesByType('resource').length,
  }))
  const { readable, slowest, shift } = await seenIn(page)
  return {
    ...{
      screen: screen || 'overview',
      firstPaint: Math.round(paints.first),
      readable: Math.round(Math.max(readable, paints.first)),
    },
    ...{ key: slowest, shift: Math.round(shift * 1_000) / 1_000, requests: paints.requests },
  }
}

for (const name of ['demo', 'crowd'] as const)
  test(`${name}: every screen`, { timeout: 120_000 }, async () => {
    const system = name === 'crowd' ? crowd : { url: inject('systemUrl'), callers: inject('callers') }
    await using opened = await browse('/admin/api/me', { system })
    await opened.page.addInitScript(watch)
    // The first one fills the cache of the browser: it is measured as well, as a first visit.
    for (const screen of SCREENS) rows.push({ system: name, ...(await measured(opened.page, screen, system.url)) })
  })
