// The workflow after many places came at once: heights, then diversity, then one message to the partner and one to whoever asked.
import { defineWorkflow } from 'millrace'
import { z } from 'zod'
import { analysis, elevation, email, webhook } from './contracts.ts'

export const massImportInput = z.strictObject({
  ids: z.array(z.int().positive()).min(1).max(1_000),
  'reply-to': z.email(),
})

const places = ({ input }: { input: z.output<typeof massImportInput> }) => input.ids

/** One bad trail does not stop the rest: every edge goes on after a failure. */
export const massImport = defineWorkflow('mass-import', { input: massImportInput })
  .each('elevation', elevation, { over: places, payload: ({ item }) => ({ 'lipas-id': item }) })
  .each('analysis', analysis, {
    after: { elevation: 'continue' },
    over: places,
    payload: ({ item }) => ({ 'lipas-id': item }),
  })
  .step('webhook', webhook, {
    after: { analysis: 'continue' },
    payload: ({ input, results }) => {
      const failed = results.analysis.filter((result) => result === null || result === undefined).length
      return {
        'lipas-ids': input.ids,
        'operation-type': 'mass-import',
        'initiated-by': `mass-import, ${failed} failed`,
      }
    },
  })
  .step('email', email, {
    after: { webhook: 'continue' },
    payload: ({ input, results }) => ({
      to: input['reply-to'],
      subject: `The import of ${input.ids.length} places is done`,
      body: summaryOf(input.ids.length, results.webhook?.unknown ?? []),
    }),
  })

const summaryOf = (count: number, unknown: readonly number[]): string =>
  unknown.length === 0
    ? `All ${count} places have been worked on.`
    : `${count - unknown.length} of ${count} places have been worked on. The register does not have: ${unknown.join(', ')}.`
