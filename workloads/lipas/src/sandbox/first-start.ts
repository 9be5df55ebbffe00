// The first start of `millrace dev`: the register gets its sample data, and every place its first analysis and heights.

import { analysis, elevation } from '../contracts.ts'
import type { LipasSystem } from '../system.ts'
import { loadSampleData } from './load-sample-data.ts'

/** What users save runs at 100, so it never waits for these. */
const LATER = 200

export async function firstStart({ database, millrace, logger }: LipasSystem): Promise<void> {
  const ids = await loadSampleData(database)
  if (ids.length === 0) return
  const options = { priority: LATER, createdBy: 'sample data' }
  // In turn: heights are limited to two jobs at a time, and analyses have the other slots meanwhile.
  const jobs = ids.flatMap((id) => [analysis, elevation].map((job) => ({ job, payload: { 'lipas-id': id }, options })))
  await millrace.enqueueMany(jobs)
  logger.info({ places: ids.length }, 'the sample data is in the register')
}
