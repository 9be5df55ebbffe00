// A page in the real browser, watched: an error in the console, an exception or a request to another host fails the test.
import { testDatabases } from '@millrace/embedded'
import axe, { type AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect, inject, test as vitestTest } from 'vitest'
import { type Callers, makeTokens } from './global-setup.ts'
import { type SystemOptions, startSystem } from './system.ts'

/** Skipped where there is no browser; in CI the set-up has failed then. */
export const test = vitestTest.runIf(inject('browser') !== '')

export interface BrowseOptions {
  /** Default: admin. Null: nobody is logged in. */
  readonly as?: keyof Callers | null
  /** Default 1280. 390 is a phone. */
  readonly width?: number
  readonly theme?: 'light' | 'dark'
  /** Where the browser is. Default: where this machine is. */
  readonly zone?: string
  /** Default: the shared system. Tests that change more than a thing of their own take `ownSystem()`. */
  readonly system?: { readonly url: string; readonly callers: Callers }
  /** Problems that the test causes on purpose: those whose text matches are none. */
  readonly expects?: RegExp
}

export interface Browsed extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page has complained of so far. */
  readonly problems: string[]
}

let connected: Promise<Browser> | undefined

/** `path` as in a link: '/admin/jobs?q=status:dead'. */
export async function browse(path: string, options: BrowseOptions = {}): Promise<Browsed> {
  const { as = 'admin', width = 1280, theme = 'light', zone } = options
  const { url, callers } = options.system ?? { url: inject('systemUrl'), callers: inject('callers') }
  connected ??= chromium.connect(inject('browser'))
  const context = await (await connected).newContext({
    viewport: { width, height: width < 600 ? 844 : 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...(zone && { timezoneId: zone }),
    ...(width < 600 && { hasTouch: true, isMobile: true }),
  })
  // Before the test itself is over, so that the error says for what it waited.
  context.setDefaultTimeout(15_000)
  if (as !== null) await logIn(context, url, callers[as])
  const page = await context.newPage()
  const problems = watch(page, new URL(url).origin, options.expects)
  await page.goto(`${url}${path}`)
  return {
    ...{ page, context, problems },
    async [Symbol.asyncDispose]() {
      await context.close()
      expect(problems, 'what the page complained of').toEqual([])
    },
  }
}

async function logIn(context: BrowserContext, url: string, token: string): Promise<void> {
  const { origin } = new URL(url)
  const answer = await context.request.post(`${url}/admin/login`, {
    form: { token },
    headers: { origin },
    maxRedirects: 0,
  })
  if (answer.status() !== 303) throw new Error(`The login answered ${answer.status()}: ${await answer.text()}`)
}

function watch(page: Page, origin: string, expected: RegExp | undefined): string[] {
  const problems: string[] = []
  const note = (text: string) => {
    if (!expected?.test(text)) problems.push(text)
  }
  page.on('pageerror', (error) => note(`exception: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) note(`request to another host: ${url}`)
  })
  return problems
}

export interface OwnSystemOptions extends SystemOptions {
  /** Nothing has happened in it yet. */
  readonly isEmpty?: boolean
}

/** A system on a filled database of its own, for a test that changes a lot. */
export async function ownSystem({ isEmpty = false, ...options }: OwnSystemOptions = {}) {
  const databases = testDatabases(inject('databaseServer'))
  const database = await databases.fresh(inject(isEmpty ? 'emptyTemplate' : 'filledTemplate'))
  const callers = await makeTokens(database.url)
  const system = await startSystem(database.url, options)
  return {
    ...{ url: system.url, databaseUrl: database.url, callers },
    async [Symbol.asyncDispose]() {
      await system.close()
      await databases.close()
    },
  }
}

/** No violation of WCAG 2.2 AA that a program can find. `within`: a part of the page. */
export async function expectAccessible(page: Page, within = 'body'): Promise<void> {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate(
    (selector) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(selector, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      }),
    within,
  )) as AxeResults
  const told = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`)
  expect(told, 'accessibility violations').toEqual([])
}
