// Loads a page and takes its picture in two sizes.
import type { CDPSession, Page, Response } from 'playwright-core'
import type { CaptureBrowser } from './browser.ts'

export interface Shot {
  readonly viewport: 'desktop' | 'phone'
  readonly width: number
  readonly height: number
  readonly bytes: Buffer
}

export interface Capture {
  readonly title: string
  readonly finalUrl: string
  readonly shots: readonly Shot[]
}

/** The guard of the proxy refuses the address, or one that it leads to. Trying again changes nothing. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

/** A picture is taken although a counter, or an advertisement, never arrives. */
const REST_MS = 8_000
/** Fonts and pictures that scripts add as they start. */
const CALM_MS = 1_500
const VIEWPORTS = [
  { viewport: 'desktop', width: 1280, height: 800, mobile: false },
  { viewport: 'phone', width: 390, height: 844, mobile: true },
] as const
const LONGEST_TITLE = 200
const QUALITY = 80

interface CaptureOptions {
  readonly url: string
  readonly loadMs: number
  readonly signal: AbortSignal
}

export async function captureOf(
  { context, proxy }: CaptureBrowser,
  { url, loadMs, signal }: CaptureOptions,
): Promise<Capture> {
  const page = await context.newPage()
  // One page is one picture: what it opens besides is closed.
  context.on('page', (other) => other !== page && void other.close().catch(() => {}))
  const session = await context.newCDPSession(page)
  await session.send('Page.setDownloadBehavior', { behavior: 'deny' })
  await show(session, VIEWPORTS[0])
  const response = await opened(page, { url, loadMs, isRefused: () => proxy.counts.refused > 0 })
  if (response !== null && response.status() >= 400) throw new Error(`it answered ${response.status()}.`)
  await page.waitForLoadState('load', { timeout: Math.min(loadMs, REST_MS) }).catch(() => {})
  await page.waitForLoadState('networkidle', { timeout: CALM_MS }).catch(() => {})
  const shots: Shot[] = []
  for (const { viewport, width, height, mobile } of VIEWPORTS) {
    signal.throwIfAborted()
    await show(session, { width, height, mobile })
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
    shots.push({ viewport, width, height, bytes: Buffer.from(data, 'base64') })
  }
  return { title: titleOf(await page.title()), finalUrl: page.url(), shots }
}

async function opened(
  page: Page,
  { url, loadMs, isRefused }: { url: string; loadMs: number; isRefused: () => boolean },
): Promise<Response | null> {
  try {
    const response = await page.goto(url, { waitUntil: 'domcontentloaded', timeout: loadMs })
    if (response?.status() === 403 && isRefused()) throw refused(url)
    if (!/^https?:/.test(page.url())) throw new Error(`it leads to ${page.url().slice(0, 80)}, which is no web page.`)
    return response
  } catch (error) {
    if (error instanceof AddressRefused) throw error
    const text = error instanceof Error ? error.message : String(error)
    if (/ERR_TUNNEL_CONNECTION_FAILED/.test(text) && isRefused()) throw refused(url)
    if (/^page\.goto: Timeout/.test(text)) throw new Error(`it did not load within ${loadMs / 1_000} s.`)
    if (/Download is starting/.test(text)) throw new Error('it is a download, and no web page.', { cause: error })
    const [, code] = /net::(ERR_\w+)/.exec(text) ?? []
    throw code === undefined ? error : new Error(`it could not be loaded (${code}).`, { cause: error })
  }
}

const refused = (url: string): AddressRefused =>
  new AddressRefused(`No screenshot of ${url}: its address, or one that it leads to, is not public.`)

/** As a visitor has it: a phone lays pages out by their meta viewport. Resolves when it is painted. */
async function show(
  session: CDPSession,
  { width, height, mobile }: { width: number; height: number; mobile: boolean },
): Promise<void> {
  await session.send('Emulation.setDeviceMetricsOverride', { width, height, mobile, deviceScaleFactor: 1 })
  const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))'
  await session.send('Runtime.evaluate', { expression: painted, awaitPromise: true, timeout: 2_000 })
}

const titleOf = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST_TITLE)
