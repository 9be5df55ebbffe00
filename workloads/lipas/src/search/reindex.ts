// Writes every document of the search index again, under its version: into an index that was lost or made anew, or beside
// running jobs, whose newer documents stay.
import type { Queryable } from 'millrace'
import { computedCellsAfter } from '../diversity/cells.ts'
import { sitesAfter } from '../registry/sites.ts'
import type { BulkWritten, Document, SearchClient } from './client.ts'
import { cellDocument, siteDocument } from './documents.ts'
import type { IndexName } from './indices.ts'

export type Reindexed = Readonly<Record<IndexName, BulkWritten>>

interface Options {
  readonly database: Queryable
  readonly search: SearchClient
  /** So many documents of an index are done. */
  readonly onProgress?: (index: IndexName, done: number) => void
}

const PAGE = 200

export async function reindex({ database, search, onProgress = () => {} }: Options): Promise<Reindexed> {
  const all = async (index: IndexName, next: () => Promise<Document[]>): Promise<BulkWritten> => {
    let [written, older] = [0, 0]
    for (let page = await next(); page.length > 0; page = await next()) {
      const sent = await search.bulk(index, page)
      written += sent.written
      older += sent.older
      onProgress(index, written + older)
    }
    await search.refresh(index)
    return { written, older }
  }
  let [lastSite, lastCell] = [0, '']
  return {
    sites: await all('sites', async () => {
      const sites = await sitesAfter(database, lastSite, PAGE)
      lastSite = sites.at(-1)?.lipasId ?? lastSite
      return sites.map(siteDocument)
    }),
    squares: await all('squares', async () => {
      const cells = await computedCellsAfter(database, lastCell, PAGE)
      lastCell = cells.at(-1)?.cellId ?? lastCell
      return cells.map(({ computedFrom, computedAt, ...cell }) => cellDocument(cell, { computedFrom, at: computedAt }))
    }),
  }
}
