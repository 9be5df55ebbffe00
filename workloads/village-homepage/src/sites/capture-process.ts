// SCREENSHOT_CAPTURE, in a process of its own: what a site looks like on a desk and on a phone.
import { randomUUID } from 'node:crypto'
import { cancel, type Handler, type JobContext, Unrecoverable } from 'millrace'
import type { VillageContracts } from '../contracts.ts'
import { ownContracts } from '../isolated/contracts.ts'
import { surroundings } from '../isolated/surroundings.ts'
import { keepOriginal } from '../media/media-store.ts'
import { type CaptureBrowser, startBrowser } from './browser.ts'
import { AddressRefused, type Capture, captureOf } from './capture.ts'
import { keepCaptured } from './site-store.ts'

/** Before the 60 s of the job: the error that the handler throws names the address, and a kill would not. */
const ALL_MS = 50_000

const handler: Handler<VillageContracts['SCREENSHOT_CAPTURE']> = async ({ site_id: siteId, url }, ctx) => {
  const { title, finalUrl, shots } = await taken(url, ctx)
  const media = shots.map((shot) => ({ ...shot, id: randomUUID() }))
  // A workflow goes on by itself.
  if (ctx.workflowId === null) for (const { id } of media) await processLater(id, ctx)
  return ctx.transaction(async (tx) => {
    if (!(await keepCaptured(tx, { siteId, title }))) return cancel(`There is no site ${siteId}.`)
    for (const { id, viewport: role, width, height, bytes } of media) {
      const contentType = 'image/webp'
      await keepOriginal(tx, { ownerKind: 'site', ownerId: siteId, id, role, contentType, width, height, bytes })
    }
    return { title, final_url: finalUrl, media: media.map(({ id, viewport }) => ({ viewport, media_id: id })) }
  })
}

/** The worker writes the job at once, so it is due when the picture is committed. */
const processLater = (id: string, ctx: JobContext) =>
  ctx.enqueue(ownContracts().IMAGE_PROCESSING, { media_id: id, kind: 'screenshot' }, { delay: '2s' })

async function taken(url: string, ctx: JobContext): Promise<Capture> {
  const { chromium, allow, userAgent, loadMs, maxMemoryMb } = surroundings()
  const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(ALL_MS)])
  const onUnsandboxed = () =>
    ctx.log.warn({ url }, "Chromium runs without its own sandbox, because this process is root's: use another user")
  let browser: CaptureBrowser | undefined
  try {
    browser = await startBrowser({ chromium, allow, userAgent, maxMemoryMb, signal, onUnsandboxed })
    const capture = await captureOf(browser, { url, loadMs, signal })
    ctx.log.info({ url, final_url: capture.finalUrl, ...browser.proxy.counts }, 'captured a site')
    return capture
  } catch (cause) {
    if (ctx.signal.aborted) throw ctx.signal.reason
    if (cause instanceof AddressRefused) throw new Unrecoverable(cause.message)
    throw new Error(`No screenshot of ${url}: ${whyOf(cause, browser, signal)}`, { cause })
  } finally {
    await browser?.[Symbol.asyncDispose]()
  }
}

function whyOf(cause: unknown, browser: CaptureBrowser | undefined, signal: AbortSignal): string {
  if (signal.aborted) return `it was not done within ${ALL_MS / 1_000} s.`
  if (browser?.killedBecause !== undefined) return `Chromium was killed: ${browser.killedBecause}.`
  // Playwright adds a log of its calls.
  const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
  return line
}

export default handler
