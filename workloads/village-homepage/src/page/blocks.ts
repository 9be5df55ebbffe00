// All blocks of the page, with what is shown where one fails.
import { createHash } from 'node:crypto'
import { html } from 'hono/html'
import { alerts } from './blocks/alerts.ts'
import { budget } from './blocks/budget.ts'
import { forecast } from './blocks/forecast.ts'
import { marketplace } from './blocks/marketplace.ts'
import { posts } from './blocks/posts.ts'
import { quotes } from './blocks/quotes.ts'
import { sites } from './blocks/sites.ts'
import { sky } from './blocks/sky.ts'
import { today } from './blocks/today.ts'
import type { Block, View } from './view.ts'

const BLOCKS: readonly Block[] = [alerts, sky, today, quotes, forecast, marketplace, sites, posts, budget]

export interface Rendered {
  readonly html: string
  readonly etag: string
}

export const isBlock = (name: string): boolean => BLOCKS.some((block) => block.name === name)

/** Visitors who look at the same moment share one reading of the database. */
const FRESH_MS = 2_000

export class Blocks {
  readonly #kept = new Map<string, { at: number; rendered: Promise<Rendered> }>()

  rendered(name: string, view: View): Promise<Rendered> {
    const key = JSON.stringify([name, view.basePath, view.category, view.showsJobs])
    const kept = this.#kept.get(key)
    if (kept !== undefined && performance.now() - kept.at < FRESH_MS) return kept.rendered
    for (const [old, { at }] of this.#kept) if (performance.now() - at >= FRESH_MS) this.#kept.delete(old)
    const rendered = render(name, view)
    this.#kept.set(key, { at: performance.now(), rendered })
    return rendered
  }
}

/** One block that fails leaves the others standing. */
async function render(name: string, view: View): Promise<Rendered> {
  const block = BLOCKS.find((each) => each.name === name) as Block
  const text = await block
    .render(view)
    .catch((error: unknown) => {
      view.onError(error, name)
      return html`<p class="empty">This part of the page cannot be shown now. It is tried again in a moment.</p>`
    })
    .then(String)
  return { html: text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` }
}
