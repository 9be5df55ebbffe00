// What the search found, or why it found nothing.
import type { Found } from '../find.ts'
import { type Html, html } from './html.ts'
import { statusTag } from './panel.ts'
import { clock } from './time-words.ts'

export function resultsHtml(found: Found, { query, timeZone }: { query: string; timeZone: string }): Html {
  if (query.trim() === '') return html``
  if (found.state === 'open') {
    const next = found.nextTryAt === null ? 'until it is reset' : `until ${clock(found.nextTryAt, timeZone)}`
    return html`<p class="warn">The search is held back ${next}: its breaker is open, after the search service failed. Map and places work meanwhile.</p>`
  }
  if (found.state === 'failed')
    return html`<p class="warn">The search service did not answer. Try again in a moment; map and places work meanwhile.</p>`
  const { sites, total } = found
  if (sites.length === 0) return html`<p class="dim">No place matches “${query.trim()}”.</p>`
  const more =
    total > sites.length ? html`<p class="faint">${sites.length} of ${total} places. Type more of the name.</p>` : ''
  return html`<ul>${sites.map(
    ({ lipasId, name, typeName, status }) =>
      html`<li><a href="lipas?site=${lipasId}" data-site="${lipasId}"><b>${name}</b> <span class="dim">${typeName}</span></a> ${status === 'active' ? '' : statusTag(status)}</li>`,
  )}</ul>${more}`
}
