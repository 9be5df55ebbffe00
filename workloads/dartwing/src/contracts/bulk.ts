// What takes long and waits for everything else: imports, reports, exports. No handler code.
import { z } from 'zod'
import { defineMethod, id } from '../jobs/method.ts'
import { longBulkWork } from '../jobs/queues.ts'

const organization = 'ORG-2025-00001'
const position = z.int().nonnegative()

/** Cuts a CSV file into batches. No queue lists it: it is quick, and runs in `default`. */
export const splitImport = defineMethod('dartwing_core.imports.split', {
  payload: { import: id },
  result: z.strictObject({ batches: z.int(), rows: z.int() }),
  dedupe: { key: (payload) => payload.import },
  attributes: ['import'],
  examples: [{ organization, import: '1' }],
})

/** Imports the rows between two byte offsets of a file, exactly once. */
export const processBatch = defineMethod('dartwing_core.imports.process_batch', {
  payload: { import: id, batch: z.int().positive(), from: position, to: position, firstLine: z.int().positive() },
  result: z.strictObject({ inserted: z.int(), updated: z.int(), refused: z.int() }),
  dedupe: { key: (payload) => `${payload.import}:${payload.batch}` },
  attributes: ['import', 'batch'],
  examples: [{ organization, import: '1', batch: 1, from: 42, to: 61_000, firstLine: 2 }],
})

const made = { file: id, bytes: z.int(), sha256: z.string() }

/** Makes a report as a file. It runs in a process of its own, and an organization runs one long bulk job at a time. */
export const generateReport = defineMethod('dartwing_core.reports.generate', {
  payload: { report: id },
  result: z.strictObject({ ...made, pages: z.int() }),
  limits: [longBulkWork],
  attributes: ['report'],
  examples: [{ organization, report: '1' }],
})

/** Makes a ZIP of all that the organization has, of one moment. */
export const fullExport = defineMethod('dartwing_core.exports.full_export', {
  payload: { export: id },
  result: z.strictObject({ ...made, tables: z.int(), documents: z.int() }),
  limits: [longBulkWork],
  attributes: ['export'],
  examples: [{ organization, export: '1' }],
})
