// A banner for each severe weather alert. It is the one live region of the page.
import { html } from 'hono/html'
import { activeAlerts } from '../page-store.ts'
import { dayAndTime } from '../time-words.ts'
import type { Block } from '../view.ts'

export const alerts: Block = {
  name: 'alerts',
  async render({ parts, now }) {
    const active = await activeAlerts(parts.database, now)
    return html`${active.map(({ place, timeZone, event, headline, expiresAt }) => {
      const until = expiresAt === null ? '' : ` until ${dayAndTime(expiresAt, { now, timeZone })}`
      const more = headline.startsWith(event) ? headline.slice(event.length).replace(/^[\s:.–-]+/, '') : headline
      return html`<p class="alert"><span class="sign" aria-hidden="true">⚠</span>
<span><strong>${event}</strong> for ${place}${until}${more === '' ? '' : `: ${more}`}.</span></p>`
    })}`
  },
}
