// What takes long and waits for everything else: imports. No handler code.
import { z } from 'zod'
import { defineMethod, id } from '../jobs/method.ts'

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
