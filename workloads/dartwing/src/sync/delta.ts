// What a device uploads: changes of fields, each with its stamp.
import { z } from 'zod'
import { readStamp } from './stamp.ts'

const stamp = z
  .string()
  .refine((text) => readStamp(text) !== undefined, 'expected a stamp such as 001763553600000-0000-phone-1')

export const MOST_CHANGES = 500

export const changes = z
  .array(
    z.strictObject({
      doctype: z.enum(['Task', 'Contact']),
      name: z.string().min(1).max(140),
      field: z.string().regex(/^(\$deleted|[a-z][a-z0-9_]{0,59})$/, 'expected a name such as "subject", or "$deleted"'),
      value: z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()]),
      stamp,
      base: stamp.nullable(),
    }),
  )
  .min(1)
  .max(MOST_CHANGES)

export type Changes = z.output<typeof changes>

export const upload = z.strictObject({ delta: z.uuid(), changes })
