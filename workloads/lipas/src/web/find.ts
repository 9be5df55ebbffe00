// The search box: asks the search index through its breaker, and says so where it cannot.
import { BreakerOpen, type Millrace } from 'millrace'
import { services } from '../contracts.ts'
import { type SiteName, sitesOf } from '../registry/sites.ts'
import { siteQuery } from '../search/documents.ts'
import type { LipasSystem } from '../system.ts'

export type Found =
  | { readonly state: 'found'; readonly sites: readonly SiteName[]; readonly total: number }
  /** The service was not asked. */
  | { readonly state: 'open'; readonly nextTryAt: Date | null }
  | { readonly state: 'failed' }

const MOST = 20
/** A person waits for it. */
const ANSWER_MS = 5_000
const LONGEST = 100

export async function findSites(system: LipasSystem, millrace: Millrace, typed: string): Promise<Found> {
  const query = typed.trim().slice(0, LONGEST)
  if (query === '') return { state: 'found', sites: [], total: 0 }
  try {
    const { hits, total } = await millrace.breaker(services.search, () =>
      system.search.search('sites', siteQuery(query), { size: MOST, signal: AbortSignal.timeout(ANSWER_MS) }),
    )
    // The index may be a moment behind the register: names come from here.
    const sites = await sitesOf(system.database, hits.map(({ id }) => Number(id)).filter(Number.isSafeInteger))
    return { state: 'found', sites, total }
  } catch (error) {
    if (error instanceof BreakerOpen) return { state: 'open', nextTryAt: error.nextProbeAt }
    system.logger.warn({ err: error }, 'the search service did not answer the search box')
    return { state: 'failed' }
  }
}
