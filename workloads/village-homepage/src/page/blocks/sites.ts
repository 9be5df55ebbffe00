// The directory of good sites, best first: as RANK_RECALCULATION has left them, with the pictures of SCREENSHOT_CAPTURE.
import { html } from 'hono/html'
import { type Picture, picturesOf } from '../../media/picture-store.ts'
import { SITE_CATEGORIES } from '../../sites/submit-form.ts'
import { jobNote } from '../job-note.ts'
import { type SiteRow, shownSites } from '../page-store.ts'
import { fullAddress, picture } from '../picture.ts'
import { stateOfSite } from '../site-words.ts'
import type { Block, Html, View } from '../view.ts'
import { wayTo } from '../way-to.ts'

const MOST = 12
export const sites: Block = {
  name: 'sites',
  async render(view) {
    const { database } = view.parts
    const shown = await shownSites(database, { now: view.now, most: MOST })
    const pictures = await picturesOf(
      database,
      'site',
      shown.map(({ id }) => id),
    )
    const list =
      shown.length === 0
        ? html`<p class="empty">No sites yet. Add the first one: its picture is taken, and its links are looked at each week.</p>`
        : html`<ol class="directory">${shown.map((site) => row(site, pictures.get(site.id) ?? [], view))}</ol>`
    return html`<h2 id="sites">Good Sites</h2>
${list}
${form(view)}
${view.showsJobs ? notes(view) : ''}`
  },
}

async function notes(view: View): Promise<Html> {
  const ranked = { type: 'RANK_RECALCULATION', at: 'unknown', schedules: ['rank-recalculation'] } as const
  const link = `${view.basePath}/admin/jobs?q=${encodeURIComponent('type:SCREENSHOT_CAPTURE')}`
  return html`${await jobNote(view, ranked)}<p class="note">pictures by <a href="${link}">SCREENSHOT_CAPTURE</a></p>`
}

function row(site: SiteRow, pictures: readonly Picture[], view: View): Html {
  const { id, title, url, category } = site
  const phone = fullAddress(view, pictures, 'phone')
  const shot = { of: 'desktop', alt: `Screenshot of ${title}`, waiting: waitingFor(site) } as const
  return html`<li><article class="pictured">
${picture(view, pictures, shot)}
<div><h3><a href="${wayTo({ kind: 'site', id, url }, view.basePath) ?? '#sites'}" rel="noopener noreferrer nofollow">${title}</a></h3>
<p class="meta"><span>${category}</span> ${standing(site)}</p>
${phone === undefined ? '' : html`<p class="meta"><a href="${phone}">On a phone<span class="hidden">: ${title}</span></a></p>`}</div>
</article></li>`
}

/** A site that waits for its picture has no page to go to by way of the village, no score and no state. */
const standing = ({ status, state, score }: SiteRow): Html =>
  status === 'pending' ? html`is being looked at` : html`<span>${stateOfSite(state)}</span> score ${score.toFixed(2)}`

const waitingFor = ({ isNew }: SiteRow): string => (isNew ? 'The picture is being taken' : 'No picture yet')

const form = ({ basePath }: View): Html => html`<details><summary>Submit a site</summary>
<form class="write" method="post" action="${basePath}/village/sites" aria-label="Submit a site">
<p><label for="site-url">Its address</label><input id="site-url" name="url" inputmode="url" maxlength="2000" placeholder="https://example.com" required></p>
<p><label for="site-title">Its name, if its own page does not say it well</label><input id="site-title" name="title" maxlength="120"></p>
<p><label for="site-category">Category</label><select id="site-category" name="category">${SITE_CATEGORIES.map((each) => html`<option>${each}</option>`)}</select></p>
<button>Submit</button></form></details>`
