// The weather of the moment, one line for the header.
import { html } from 'hono/html'
import { forecastsOf } from '../page-store.ts'
import type { Block } from '../view.ts'

export const sky: Block = {
  name: 'sky',
  async render({ parts }) {
    const places = await forecastsOf(parts.database)
    return html`${places.map(({ name, current }) =>
      current === null
        ? ''
        : html`<p><strong>${name}</strong> ${Math.round(current.temperature)} °${current.unit}, ${current.summary.toLowerCase()}</p>`,
    )}`
  },
}
