// The directory of good sites, best first: as RANK_RECALCULATION has left them.
import { html } from 'hono/html'
import { jobNote } from '../job-note.ts'
import { listedSites, type SiteRow } from '../page-store.ts'
import type { Block, Html, View } from '../view.ts'
import { wayTo } from '../way-to.ts'

const MOST = 12
const STATES: Readonly<Record<string, string>> = {
  ok: 'works',
  moved: 'has moved',
  unsure: 'did not answer lately',
  broken: 'did not answer lately',
}

export const sites: Block = {
  name: 'sites',
  async render(view) {
    const listed = await listedSites(view.parts.database, MOST)
    if (listed.length === 0)
      return html`<h2 id="sites">Good Sites</h2>
<p class="empty">No sites yet. This will be a directory of good sites, with a picture of each and a weekly look at its links.</p>`
    const ranked = { type: 'RANK_RECALCULATION', at: undefined, schedules: ['rank-recalculation'] }
    return html`<h2 id="sites">Good Sites</h2>
<ol class="stories">${listed.map((site) => row(site, view))}</ol>
${view.showsJobs ? await jobNote(view, ranked) : ''}`
  },
}

const row = ({ id, title, url, category, state, score }: SiteRow, { basePath }: View): Html => html`<li><article>
<h3><a href="${wayTo({ kind: 'site', id, url }, basePath) ?? '#sites'}" rel="noopener noreferrer nofollow">${title}</a></h3>
<p class="meta"><span>${category}</span> <span>${STATES[state] ?? 'not looked at yet'}</span> score ${score.toFixed(2)}</p>
</article></li>`
