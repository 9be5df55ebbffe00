// The panel of a place: what it is, its heights, the offers around it, and the form that changes it.
import { type Site, type SiteStatus, STATUSES } from '../../registry/sites.ts'
import type { SquareDetails } from '../map-store.ts'
import { type Html, html } from './html.ts'
import { profileHtml } from './profile.ts'
import { type Offer, offersHtml } from './square.ts'
import { day } from './time-words.ts'

export interface PanelView {
  readonly timeZone: string
  readonly maySeeWork: boolean
  readonly mayOperate: boolean
}

export interface SiteDetails {
  readonly site: Site
  /** Undefined: nobody lives near. */
  readonly square: SquareDetails | undefined
  readonly offers: readonly Offer[]
}

const STATUS_WORDS: Readonly<Record<SiteStatus, readonly [word: string, tone: string]>> = {
  planned: ['planned', 'info'],
  active: ['open', 'ok'],
  'out-of-service-temporarily': ['closed for now', 'late'],
  'out-of-service-permanently': ['closed for good', 'fail'],
  'incorrect-data': ['wrong entry', 'fail'],
}

export const statusTag = (status: SiteStatus): Html => {
  const [word, tone] = STATUS_WORDS[status]
  return html`<span class="tag ${tone}">${word}</span>`
}

export function panelHtml({ site, square, offers }: SiteDetails, view: PanelView): Html {
  const { lipasId, name, typeName, status, eventDate } = site
  return html`<h2 tabindex="-1">${name}</h2>
<p class="facts">${typeName} ${statusTag(status)} <span class="faint">place ${lipasId}, saved ${day(eventDate, view.timeZone)}</span></p>
${view.mayOperate ? form(site) : html`<p class="dim"><a href="admin/login">Log in</a> as an operator to change this place.</p>`}
<h3>Elevation</h3>${profileHtml(site)}
<h3>Nearest offers</h3>${offersHtml(square, offers, view.maySeeWork)}`
}

function form({ lipasId, name, status }: Site): Html {
  const options = STATUSES.map(
    (each) => html`<option value="${each}"${each === status ? html` selected` : ''}>${STATUS_WORDS[each][0]}</option>`,
  )
  return html`<form class="change" data-save="${lipasId}" aria-label="Move, rename or close ${name}">
<label class="field wide">Name<input name="name" value="${name}" maxlength="200" required autocomplete="off"></label>
<label class="field">Status<select name="status">${options}</select></label>
<label class="field">Move east, m<input name="east" type="number" step="1" min="-20000" max="20000" value="0" inputmode="numeric"></label>
<label class="field">Move north, m<input name="north" type="number" step="1" min="-20000" max="20000" value="0" inputmode="numeric"></label>
<p class="acts"><button class="btn primary" data-key="save">Save</button><span class="dim">A save without a change confirms the entry for a year.</span></p>
<p class="problem" role="alert"></p></form>`
}

export const noPlace: Html = html`<h2>No place chosen</h2><p class="dim">Choose a dot, a line or an area on the map, a square to see its index, or search by name.</p>`

export const unknownPlace = (id: string): Html =>
  html`<h2 tabindex="-1">No such place</h2><p class="dim">The register has no place ${id}. Search for it by name.</p>`
