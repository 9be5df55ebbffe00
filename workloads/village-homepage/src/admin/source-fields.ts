// What a source may hold, as the admin API checks it. The table checks the same ranges.
import { z } from 'zod'
import { LEAST_INTERVAL_MINUTES, MOST_INTERVAL_MINUTES } from '../feeds/categories.ts'
import { MOST_ENTRIES } from '../feeds/parse-feed.ts'

const between = (least: number, most: number, what: string) => {
  const error = `expected ${what} from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

const url = z
  .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
  .max(2_000, { error: 'expected at most 2000 characters' })
const text = z.string().trim().min(1).max(200)
/** As headers allow. */
const userAgent = z
  .string()
  .max(200)
  .regex(/^[\x20-\x7e]+$/, 'expected printable ASCII characters')

export const sourceFields = {
  name: text,
  url,
  category: text,
  refresh_interval_minutes: between(LEAST_INTERVAL_MINUTES, MOST_INTERVAL_MINUTES, 'minutes'),
  dedupe_mode: z.enum(['guid', 'content_hash']),
  entry_limit: between(1, MOST_ENTRIES, 'entries'),
  user_agent: userAgent.nullable(),
}

export const changeFields = {
  ...sourceFields,
  is_active: z.boolean(),
  error_count: between(0, 1_000_000, 'errors'),
}

const time = z.iso.datetime({ offset: true })

export const shownSource = z.object({
  id: z.uuid(),
  name: z.string(),
  url: z.string(),
  category: z.string(),
  is_active: z.boolean(),
  error_count: z.int(),
  last_error_type: z.string().nullable(),
  last_error_message: z.string().nullable(),
  refresh_interval_minutes: z.int(),
  last_fetched_at: time.nullable(),
  last_attempt_at: time.nullable(),
  disabled_at: time.nullable(),
  moved_to: z.string().nullable(),
  dedupe_mode: z.enum(['guid', 'content_hash']),
  entry_limit: z.int(),
  user_agent: z.string().nullable(),
  created_at: time,
  updated_at: time,
})
