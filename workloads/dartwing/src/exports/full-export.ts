// `dartwing_core.exports.full_export`, in a process of its own: all that an organization has, as a ZIP with a manifest.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Handler, JobContext, Queryable } from 'millrace'
import { ZipFile } from 'yazl'
import type { fullExport } from '../contracts/bulk.ts'
import { cursorRows } from '../files/cursor.ts'
import { exportDone, exportGet } from '../files/file-store.ts'
import { filesFolder } from '../files/folder.ts'
import { Storage } from '../files/storage.ts'
import { orgContext } from '../organization/org-context.ts'
import { DUMP, type DumpedRow, TABLES } from './dump.ts'

const PROGRESS_EVERY = 1_000

interface Entry {
  readonly rows: number
  readonly sha256: string
}

interface Dump {
  readonly tables: Readonly<Record<string, Entry>>
  readonly documents: readonly { readonly id: string; readonly sha256: string }[]
}

const run: Handler<typeof fullExport> = async ({ organization, export: id }, ctx) => {
  setPriority(10)
  const files = new Storage(filesFolder(process.env.DARTWING_FILES))
  const name = `export-${id}.zip`
  const folder = join(dirname(files.pathOf(organization, name)), `export-${id}-${ctx.runId}`)
  await mkdir(folder, { recursive: true })
  try {
    // First to disk, and the transaction ends: an archive takes a while, and a long snapshot holds up the vacuum of all.
    const dump = await orgContext(ctx, async (tx) => {
      await exportGet(tx, ctx, id)
      return dumped(tx, folder, ctx)
    })
    const stored = await files.write(organization, name, archive(folder, dump, organization), ctx.signal)
    return await orgContext(
      ctx,
      async (tx) => {
        const file = await exportDone(tx, organization, id, { ...stored, name, mediaType: 'application/zip' })
        return { file, tables: TABLES.length, documents: dump.documents.length, ...stored }
      },
      { complete: true },
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function dumped(tx: Queryable, folder: string, ctx: JobContext): Promise<Dump> {
  const open = new Map(
    TABLES.map((table) => [
      table as string,
      { stream: createWriteStream(join(folder, `${table}.ndjson`)), hash: createHash('sha256'), rows: 0 },
    ]),
  )
  const documents: { id: string; sha256: string }[] = []
  let count = 0
  for await (const { table, row } of cursorRows<DumpedRow>(tx, 'dump_rows', DUMP)) {
    ctx.signal.throwIfAborted()
    const to = open.get(table)
    if (to === undefined) continue
    const { content, ...rest } = row
    if (table === 'document' && typeof content === 'string') {
      await writeFile(join(folder, `document-${row.id}`), Buffer.from(content.slice(2), 'hex'))
      documents.push({ id: String(row.id), sha256: String(row.sha256) })
    }
    const line = `${JSON.stringify(table === 'document' ? rest : row)}\n`
    to.hash.update(line)
    to.rows += 1
    if (!to.stream.write(line)) await new Promise<void>((resolve) => to.stream.once('drain', () => resolve()))
    count += 1
    if (count % PROGRESS_EVERY === 0) ctx.progress(count, undefined, 'rows')
  }
  const tables: Record<string, Entry> = {}
  for (const [table, { stream, hash, rows }] of open) {
    stream.end()
    await finished(stream)
    tables[table] = { rows, sha256: hash.digest('hex') }
  }
  return { tables, documents }
}

function archive(folder: string, { tables, documents }: Dump, organization: string): Readable {
  const zip = new ZipFile()
  for (const table of Object.keys(tables)) zip.addFile(join(folder, `${table}.ndjson`), `${table}.ndjson`)
  for (const { id } of documents) zip.addFile(join(folder, `document-${id}`), `documents/${id}`)
  const manifest = { organization, madeAt: new Date().toISOString(), tables, documents }
  zip.addBuffer(Buffer.from(JSON.stringify(manifest, null, 2)), 'manifest.json')
  zip.end()
  return Readable.from(zip.outputStream as AsyncIterable<Buffer>, { objectMode: false })
}

export default run
