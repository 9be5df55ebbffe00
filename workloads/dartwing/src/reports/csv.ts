// A report as CSV. A cell that a spreadsheet would take for a formula is text.
import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import { cellsOf, type ReportKind, type ReportRow } from './rows.ts'

export function reportCsv(kind: ReportKind, rows: AsyncIterable<ReportRow>, onRow: () => void): Readable {
  async function* lines() {
    // Spreadsheets take a file without this mark for Latin-1.
    yield Buffer.from(`\ufeff${stringify([[...kind.columns]])}`)
    for await (const row of rows) {
      yield Buffer.from(stringify([cellsOf(kind, row).map(inert)]))
      onRow()
    }
  }
  return Readable.from(lines(), { objectMode: false })
}

const inert = (cell: string): string => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)
