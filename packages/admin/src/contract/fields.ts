// Fields that many operations share.
import { z } from 'zod'
import { CSV_ROWS } from './csv.ts'

export const time = z.iso.datetime({ offset: true })
export const id = z.string().regex(/^\d{1,19}$/, 'expected an id: digits')
/** A name in a path or filter. */
export const name = z.string().min(1).max(1000)
/** As the engine reads durations: '30s', '15m', '2h', '7d'. */
export const duration = z
  .string()
  .regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, "expected a duration, such as '30s', '15m' or '2h'")
  .describe("A number with ms, s, m, h or d, such as '30s'")
export const reason = z.string().min(1).max(1000).describe('Why: others will ask')
/** A number in a query is text. */
export const pageSize = (most: number) => z.coerce.number<number | string>().int().min(1).max(most).optional()
/** Of an export. */
export const csvLimit = pageSize(CSV_ROWS.most).describe(`How many rows. Default ${CSV_ROWS.usual}`)
export const flag = z.enum(['true', 'false'])
export const pause = z.object({
  queue: z.string().nullable(),
  type: z.string().nullable(),
  tenant: z.string().nullable(),
  reason: z.string(),
  by: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
})
/** Only operators see it: for others the key is missing. */
export const forOperators = z.unknown().optional().describe('Missing unless the caller is operator or admin')
