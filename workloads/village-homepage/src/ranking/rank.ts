// RANK_RECALCULATION: what stands at the top of the page, as of one moment.
import { type Implementation, implement } from 'millrace'
import { named } from '../handler-names.ts'
import type { VillageParts } from '../village-parts.ts'
import { rankItems, rankSites } from './rank-store.ts'

export const rankRecalculation = ({ contracts, clock }: VillageParts): Implementation =>
  implement(
    contracts.RANK_RECALCULATION,
    ({ as_of }, ctx) =>
      ctx.transaction(async (tx) => {
        const asOf = as_of === undefined ? clock.now() : new Date(as_of)
        const sites = await rankSites(tx, asOf)
        const items = await rankItems(tx, asOf)
        return { sites: sites.ranked, items: items.ranked, changed: sites.changed + items.changed }
      }),
    named('RANK_RECALCULATION'),
  )
