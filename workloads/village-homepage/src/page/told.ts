// What a visitor is told after a form, above the blocks: the address names it, so a reload tells it again and sends nothing.
import { html } from 'hono/html'
import type { Html } from './view.ts'

const TOLD: Readonly<Record<string, string>> = {
  'site-added': 'Thank you. A picture of the site is being taken, and it is listed as soon as that is there.',
  'site-known': 'The village has this site already.',
}

export function toldNotice(url: URL): Html | string {
  const text = TOLD[url.searchParams.get('told') ?? '']
  return text === undefined ? '' : html`<p class="told" role="status">${text}</p>`
}
