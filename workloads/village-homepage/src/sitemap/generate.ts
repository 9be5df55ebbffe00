// SITEMAP_GENERATION: writes all public addresses anew. Until its last transaction search engines get the sitemap before.
import { type Implementation, implement } from 'millrace'
import { named } from '../handler-names.ts'
import type { VillageParts } from '../village-parts.ts'
import { addressPages } from './address-pages.ts'
import { sitemapFiles } from './sitemap-files.ts'
import { addFile, beginGeneration, install } from './sitemap-store.ts'

export const siteUrlOf = ({ config }: VillageParts): string => config.site.url.replace(/\/+$/, '')

export const sitemapGeneration = (parts: VillageParts): Implementation =>
  implement(
    parts.contracts.SITEMAP_GENERATION,
    async ({ as_of }, ctx) => {
      const { database, clock } = parts
      const now = as_of === undefined ? clock.now() : new Date(as_of)
      const generation = await beginGeneration(database, now)
      const sum = { urls: 0, files: 0, bytes: 0 }
      for await (const file of sitemapFiles(addressPages(database, now), siteUrlOf(parts))) {
        ctx.signal.throwIfAborted()
        await addFile(database, generation, file)
        sum.urls += file.urls
        sum.files += 1
        sum.bytes += file.bytes.length
      }
      return ctx.transaction(async (tx) => {
        await install(tx, generation)
        return sum
      })
    },
    named('SITEMAP_GENERATION'),
  )
