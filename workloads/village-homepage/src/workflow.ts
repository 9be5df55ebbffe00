// The workflow of a submitted site: screenshot, smaller pictures, and those to the CDN. If one upload fails for good, all objects are
// taken off the CDN again, and the village serves the pictures itself.
import { defineWorkflow } from 'millrace'
import { z } from 'zod'
import type { CdnContracts } from './cdn/contracts.ts'
import type { VillageContracts } from './contracts.ts'

export interface GoodSiteParts {
  readonly contracts: VillageContracts
  readonly cdn: CdnContracts
  /** Asked when the pictures are there. */
  hasCdn(): boolean
}

export const goodSiteWorkflow = ({ contracts, cdn, hasCdn }: GoodSiteParts) =>
  defineWorkflow('good-site', {
    input: z.strictObject({ site_id: z.uuid(), url: z.url({ protocol: /^https?$/ }) }),
  })
    .step('capture', contracts.SCREENSHOT_CAPTURE)
    .each('images', contracts.IMAGE_PROCESSING, {
      after: 'capture',
      over: ({ results }) => results.capture.media,
      payload: ({ item }) => ({ media_id: item.media_id, kind: 'screenshot' as const }),
    })
    .each('uploads', cdn.CDN_UPLOAD, {
      after: 'images',
      when: hasCdn,
      over: ({ results }) => results.images.flatMap(({ variants }) => variants),
      payload: ({ item }) => ({ media_id: item.media_id }),
      undo: { job: cdn.CDN_REMOVE, payload: ({ result }) => ({ media_id: result.media_id, key: result.key }) },
    })

export type GoodSiteWorkflow = ReturnType<typeof goodSiteWorkflow>
