// `dartwing_core.reports.generate`, in a process of its own: what it computes blocks nobody, and its timeout ends it.
import { setPriority } from 'node:os'
import type { Readable } from 'node:stream'
import type { Handler } from 'millrace'
import type { generateReport } from '../contracts/bulk.ts'
import { cursorRows } from '../files/cursor.ts'
import { type Report, reportDone, reportGet } from '../files/file-store.ts'
import { filesFolder } from '../files/folder.ts'
import { Storage } from '../files/storage.ts'
import { orgContext } from '../organization/org-context.ts'
import { reportCsv } from './csv.ts'
import { reportPdf } from './pdf.ts'
import { REPORTS, type ReportRow } from './rows.ts'

const PROGRESS_EVERY = 500
const MEDIA = { pdf: 'application/pdf', csv: 'text/csv; charset=utf-8' } as const

const generate: Handler<typeof generateReport> = async ({ organization, report: id }, ctx) => {
  // Faxes come first, on the processor as well.
  setPriority(10)
  const files = new Storage(filesFolder(process.env.DARTWING_FILES))
  return orgContext(
    ctx,
    async (tx) => {
      const report = await reportGet(tx, ctx, id)
      let count = 0
      const onRow = () => {
        count += 1
        if (count % PROGRESS_EVERY === 0) ctx.progress(count, undefined, 'rows')
      }
      const made = contentOf(report, cursorRows<ReportRow>(tx, 'report_rows', REPORTS[report.kind].statement), onRow)
      const name = `report-${id}.${report.format}`
      const stored = await files.write(organization, name, made.content, ctx.signal)
      const file = await reportDone(tx, organization, id, { ...stored, name, mediaType: MEDIA[report.format] })
      return { file, pages: made.pages(), ...stored }
    },
    { complete: true },
  )
}

function contentOf(
  { kind, format }: Report,
  rows: AsyncIterable<ReportRow>,
  onRow: () => void,
): { content: Readable; pages(): number } {
  if (format === 'pdf') return reportPdf(REPORTS[kind], rows, onRow)
  return { content: reportCsv(REPORTS[kind], rows, onRow), pages: () => 0 }
}

export default generate
