import { defineJob, defineQueues } from 'millrace'
import { z } from 'zod'

const queues = defineQueues({ media: {}, orgs: { tenant: 'required' } })

export const capture = defineJob({
  type: 'capture',
  queue: queues.media,
  payload: z.object({ url: z.string() }),
  result: z.object({ file: z.string() }),
})
export const compress = defineJob({
  type: 'compress',
  queue: queues.media,
  payload: z.object({ file: z.string() }),
  result: z.object({ file: z.string(), sizes: z.array(z.number()) }),
})
export const thumbnail = defineJob({
  type: 'thumbnail',
  queue: queues.media,
  payload: z.object({ size: z.number() }),
  result: z.object({ thumb: z.string() }),
})
export const upload = defineJob({
  type: 'upload',
  queue: queues.media,
  payload: z.object({ file: z.string(), thumbs: z.array(z.string()) }),
  result: z.object({ key: z.string() }),
})
export const removeUpload = defineJob({
  type: 'remove-upload',
  queue: queues.media,
  payload: z.object({ key: z.string() }),
})
export const report = defineJob({
  type: 'report',
  queue: queues.media,
  payload: z.object({ total: z.number(), completed: z.number(), failed: z.number() }),
})
/** Needs nothing, and says nothing about what it returns. */
export const sweep = defineJob({
  type: 'sweep',
  queue: queues.media,
  payload: z.object({ deep: z.boolean().optional() }),
})
export const syncOrg = defineJob({ type: 'sync-org', queue: queues.orgs, payload: z.object({ org: z.string() }) })
export const ownOrg = defineJob({
  type: 'own-org',
  queue: queues.orgs,
  payload: z.object({ org: z.string() }),
  tenant: ({ org }) => org,
})
/** What a caller passes is not what the handler gets. */
export const remind = defineJob({
  type: 'remind',
  queue: queues.media,
  payload: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
})
export const login = defineJob({
  type: 'login',
  queue: queues.media,
  payload: z.object({ password: z.string() }),
  sensitive: ['password'],
})
