// Two helper types of the queue BULK, beside the fourteen of the registry: they bring pictures to the CDN, and take them away.
import { defineJob, defineService } from 'millrace'
import { z } from 'zod'
import type { VillageContracts } from '../contracts.ts'

const MEDIA = '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11'

/** One object a job: a job that failed is not undone, so it must not have done half of several. */
export function cdnContracts({ IMAGE_PROCESSING: { queue, retry } }: Pick<VillageContracts, 'IMAGE_PROCESSING'>) {
  const object = z.strictObject({ media_id: z.uuid(), key: z.string().regex(/^[\w./-]+$/) })
  const common = { queue, retry, timeout: '60s', services: [defineService('cdn')], attributes: ['media_id'] } as const
  return {
    CDN_UPLOAD: defineJob({
      ...common,
      type: 'CDN_UPLOAD',
      payload: z.strictObject({ media_id: z.uuid() }),
      result: z.strictObject({ media_id: z.uuid(), key: z.string(), url: z.string() }),
      dedupe: { key: ({ media_id }) => media_id },
      examples: [{ media_id: MEDIA }],
    }),
    CDN_REMOVE: defineJob({
      ...common,
      type: 'CDN_REMOVE',
      payload: object,
      dedupe: { key: ({ media_id }) => media_id },
      examples: [{ media_id: MEDIA, key: `village/${MEDIA}.webp` }],
    }),
  }
}

export type CdnContracts = ReturnType<typeof cdnContracts>
