// A report as PDF, with a font that has the letters of all European scripts.
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import PDFDocument from 'pdfkit'
import { cellsOf, type ReportKind, type ReportRow } from './rows.ts'

const FONT = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')
const MARGIN = 40
const ROW_POINTS = 16
const BOTTOM = 780

export interface PdfReport {
  readonly content: Readable
  /** Known once the content has been read. */
  pages(): number
}

export function reportPdf(kind: ReportKind, rows: AsyncIterable<ReportRow>, onRow: () => void): PdfReport {
  const document = new PDFDocument({ size: 'A4', margin: MARGIN, info: { Title: kind.title }, font: FONT })
  let pages = 1
  const width = (document.page.width - 2 * MARGIN) / kind.columns.length
  const line = (cells: readonly string[], y: number) =>
    cells.forEach((cell, i) => {
      document.text(cell.replaceAll(/\s+/g, ' '), MARGIN + i * width, y, {
        width: width - 6,
        height: ROW_POINTS,
        lineBreak: false,
        ellipsis: true,
      })
    })
  const write = async () => {
    document.fontSize(18).text(kind.title, MARGIN, MARGIN)
    document.fontSize(9)
    let y = MARGIN + 34
    line(kind.columns, y)
    for await (const row of rows) {
      y += ROW_POINTS
      if (y > BOTTOM) {
        document.addPage()
        document.fontSize(9)
        pages += 1
        y = MARGIN
      }
      line(cellsOf(kind, row), y)
      onRow()
    }
    document.end()
  }
  const content = Readable.from(document as unknown as AsyncIterable<Buffer>, { objectMode: false })
  write().catch((error: Error) => content.destroy(error))
  return { content, pages: () => pages }
}
