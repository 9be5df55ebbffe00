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
    payload: ({ input }) => ({
      'lipas-ids': input.ids,
      'operation-type': 'mass-import',
      'initiated-by': 'mass-import',
    }),
  })
  .step('email', email, {
    after: { elevation: 'continue', analysis: 'continue', webhook: 'continue' },
    payload: ({ input: { ids, 'reply-to': to }, results }) => ({
      to,
      subject: `The import of ${ids.length} places is done`,
      body: summaryOf(ids, results),
    }),
  })

interface Results {
  /** By place; a failed one has none. */
  readonly elevation: readonly unknown[]
  readonly analysis: readonly unknown[]
  readonly webhook: { readonly unknown: readonly number[] } | null | undefined
}

/** What the one who asked has to know: which places need another look. */
function summaryOf(ids: readonly number[], { elevation, analysis, webhook }: Results): string {
  const unknown = webhook?.unknown ?? []
  const without = (results: readonly unknown[]) =>
    ids.filter((id, at) => (results[at] ?? null) === null && !unknown.includes(id))
  const [noHeights, noAnalysis] = [without(elevation), without(analysis)]
  const failed = new Set([...unknown, ...noHeights, ...noAnalysis])
  const lines = [
    ['The register does not have', unknown],
    ['No heights were computed for', noHeights],
    ['The surroundings were not analysed of', noAnalysis],
  ] as const
  return [
    failed.size === 0
      ? `All ${ids.length} places have been worked on.`
      : `${ids.length - failed.size} of ${ids.length} places have been worked on.`,
    ...lines.filter(([, each]) => each.length > 0).map(([what, each]) => `${what}: ${each.join(', ')}.`),
    ...(webhook === null || webhook === undefined ? ['The partner could not be told.'] : []),
  ].join('\n')
}
