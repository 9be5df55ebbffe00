// A square of the map: its index, what counts in it, and the nearest place of each category.
import type { SquareDetails } from '../map-store.ts'
import { type Html, html } from './html.ts'

export interface Offer {
  readonly category: string
  /** What it adds to the index; 0: it is too far. */
  readonly counts: number
  /** Null: there is none within reach. */
  readonly nearest: { readonly lipasId: number; readonly name: string; readonly metres: number } | null
}

/** So few people could be known by name. */
export const FEWEST_PEOPLE = 10

export function squareHtml(square: SquareDetails, offers: readonly Offer[], maySeeWork: boolean): Html {
  const people =
    square.population < FEWEST_PEOPLE
      ? `fewer than ${FEWEST_PEOPLE} people`
      : `${square.population.toLocaleString('en-GB')} people`
  return html`<h2 tabindex="-1">Square ${square.cellId}</h2><p class="facts">250 by 250 m, ${people}</p>${offersHtml(square, offers, maySeeWork)}`
}

export function offersHtml(square: SquareDetails | undefined, offers: readonly Offer[], maySeeWork: boolean): Html {
  if (square === undefined) return html`<p class="dim">Nobody lives within 2 km, so no square is computed here.</p>`
  if (square.index === null)
    return html`<p class="dim">The square has not been computed yet. Its first <code>analysis</code> waits or runs.</p>`
  const job = html` <a class="faint nw" href="admin/jobs/${square.jobId}">job ${square.jobId}</a>`
  const by = square.jobId === null || !maySeeWork ? '' : job
  return html`<p>Diversity index <b>${square.index.toFixed(1)}</b> in <a href="lipas?square=${encodeURIComponent(square.cellId)}" data-square="${square.cellId}">square ${square.cellId}</a>${by}</p>
<table class="offers"><caption class="vh">Nearest place of each category</caption><thead><tr><th scope="col">category</th><th scope="col">nearest</th><th scope="col" class="n">metres</th><th scope="col" class="n">counts</th></tr></thead>
<tbody>${offers.map(row)}</tbody></table>`
}

function row({ category, counts, nearest }: Offer): Html {
  const place =
    nearest === null
      ? html`<span class="faint">none within 2 km</span>`
      : html`<a href="lipas?site=${nearest.lipasId}" data-site="${nearest.lipasId}">${nearest.name}</a>`
  const far = nearest === null ? '–' : Math.round(nearest.metres).toLocaleString('en-GB')
  return html`<tr${counts > 0 ? html` class="in"` : ''}><th scope="row">${category.replaceAll('-', ' ')}</th><td>${place}</td><td class="n">${far}</td><td class="n">${counts === 0 ? '–' : counts}</td></tr>`
}
