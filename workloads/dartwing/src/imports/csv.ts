// Reads CSV as a stream: rows with their place in the file. Memory does not grow with the file.
import { type Readable, Transform } from 'node:stream'
import { parse } from 'csv-parse'
import { FileRefused } from './columns.ts'

export interface CsvRow {
  readonly cells: readonly string[]
  /** The offset behind its last byte, counted from the start of the stream. */
  readonly end: number
  /** Of its last line, counted from the start of the stream. */
  readonly line: number
}

const DELIMITERS = [',', ';', '\t'] as const
/** A file whose quote is never closed would be one cell. */
const LONGEST_RECORD = 12 * 1024 * 1024

/** The delimiter that the first line has most of, outside of quotes. */
export function delimiterOf(firstLine: string): string {
  const bare = firstLine.replaceAll(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Throws FileRefused for bytes that are not UTF-8 and for quotes that are never closed. */
export async function* csvRows(source: Readable, { delimiter }: { delimiter: string }): AsyncGenerator<CsvRow> {
  const parser = parse({
    delimiter,
    bom: true,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_RECORD,
  })
  const fail = (error: Error) => parser.destroy(error)
  const checked = source.on('error', fail).pipe(utf8Check()).on('error', fail)
  checked.pipe(parser)
  try {
    // The parser counts a Windows line end within quotes as two lines.
    let countedTwice = 0
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[]
      info: { bytes: number; lines: number }
    }>) {
      countedTwice += record.reduce((sum, cell) => sum + cell.split('\r\n').length - 1, 0)
      yield { cells: record, end: info.bytes, line: info.lines - countedTwice }
    }
  } catch (error) {
    throw (error as { code?: string }).code?.startsWith('CSV_') ? new FileRefused(csvProblem(error as Error)) : error
  } finally {
    source.destroy()
  }
}

const csvProblem = (error: Error): string =>
  `The file is not readable as CSV: ${error.message}. Quote cells with " and close every quote.`

/** The parser replaces bad bytes silently, so they are looked for beside it. */
function utf8Check(): Transform {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let lines = 1
  const read = (chunk: Buffer | undefined): Error | null => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
      return null
    } catch {
      return new FileRefused(
        `The file is not UTF-8: see about line ${lines}. Save it as "CSV UTF-8" and import it again.`,
      )
    }
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const refusal = read(chunk)
      for (const byte of chunk) if (byte === 10) lines += 1
      done(refusal, chunk)
    },
    flush: (done) => done(read(undefined)),
  })
}
