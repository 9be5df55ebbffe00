// `dartwing_core.imports.split`: cuts a CSV file into batches of rows, and enqueues them all in one transaction.
import type { Readable } from 'node:stream'
import { discard, type Implementation, implement, type JobContext, TenantLimitReached } from 'millrace'
import { processBatch, splitImport } from '../contracts/bulk.ts'
import { orgContext } from '../organization/org-context.ts'
import type { DartwingSystem } from '../system.ts'
import { checkHeader, FileRefused } from './columns.ts'
import { csvRows, delimiterOf } from './csv.ts'
import { importGet, importRefuse, importSplit, type Split } from './import-store.ts'

export const ROWS_PER_BATCH = 1_000
const MOST_ROWS = 1_000_000
const FIRST_LINE_BYTES = 64 * 1024

interface Batch {
  readonly from: number
  to: number
  readonly firstLine: number
}

export const splitHandler = (system: DartwingSystem): Implementation =>
  implement(splitImport, async ({ organization, import: id }, ctx) => {
    const { file, status } = await orgContext(ctx, (tx) => importGet(tx, ctx, id))
    if (status !== 'waiting') return discard(`Import ${id} is ${status}: upload the file again to import it once more.`)
    try {
      const { batches, ...split } = await cut(system, { organization, file }, ctx)
      return await orgContext(
        ctx,
        async (tx) => {
          await importSplit(tx, id, { ...split, batches: batches.length })
          const payloads = batches.map((batch, i) => ({ organization, import: id, batch: i + 1, ...batch }))
          if (payloads.length > 0) await system.millrace.enqueueMany(processBatch, payloads, { tx, ...askedBy(ctx) })
          return { batches: batches.length, rows: split.rows }
        },
        { complete: true },
      )
    } catch (error) {
      const isRefusal = error instanceof FileRefused || error instanceof TenantLimitReached
      if (!isRefusal) throw error
      await orgContext(ctx, (tx) => importRefuse(tx, id, error.message))
      return discard(error.message)
    }
  })

const askedBy = ({ createdBy }: JobContext) => (createdBy === null ? {} : { createdBy })

type Cut = Omit<Split, 'batches'> & { readonly batches: readonly Batch[] }

async function cut(
  { files }: DartwingSystem,
  { organization, file }: { organization: string; file: string },
  ctx: JobContext,
): Promise<Cut> {
  const delimiter = delimiterOf(await firstLine(files.read(organization, file, { to: FIRST_LINE_BYTES })))
  const batches: Batch[] = []
  let [header, rows, end, line]: [readonly string[] | undefined, number, number, number] = [undefined, 0, 0, 1]
  for await (const row of csvRows(files.read(organization, file), { delimiter })) {
    ctx.signal.throwIfAborted()
    if (header === undefined) {
      header = row.cells.map((cell) => cell.trim())
      checkHeader(header)
    } else {
      if (rows % ROWS_PER_BATCH === 0) batches.push({ from: end, to: end, firstLine: line })
      rows += 1
      if (rows > MOST_ROWS)
        throw new FileRefused(`The file has more than ${MOST_ROWS} rows: see line ${row.line}. Split it.`)
      const batch = batches.at(-1) as Batch
      batch.to = row.end
    }
    end = row.end
    line = row.line + 1
  }
  if (header === undefined) throw new FileRefused('The file is empty. Expected a header in line 1.')
  return { header, delimiter, rows, batches }
}

async function firstLine(source: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of source) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/, 1)[0] ?? ''
}
