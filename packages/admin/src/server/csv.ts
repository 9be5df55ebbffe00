// An export: page after page, as fast as the client reads. What was read already is not kept.
import { CSV_ROWS, csvColumns, csvLine, csvRow } from '../contract/csv.ts'

export interface CsvPage {
  readonly rows: readonly object[]
  /** Where the next page begins; null: there is none. */
  readonly next: string | null
}

export interface CsvExport {
  readonly kind: keyof typeof csvColumns
  readonly limit: number | undefined
  /** The field of the query that takes `next`. */
  readonly goOn: 'after' | 'before'
  page(next: string | undefined, limit: number): Promise<CsvPage>
}

const PAGE = 1_000
/** A search that looks at jobs one by one may find little for long. */
const LONGEST_MS = 60_000

const FILES = { jobs: 'jobs', deadLetters: 'dead-letters', audit: 'audit' } as const

/** The first page is read before the answer begins, so that a refusal is one. */
export async function csvResponse(wanted: CsvExport, now: () => number = Date.now): Promise<Response> {
  const { kind, goOn, limit = CSV_ROWS.usual } = wanted
  const columns = csvColumns[kind]
  const endMs = now() + LONGEST_MS
  const read = (next: string | undefined, left: number) => wanted.page(next, Math.min(PAGE, left))
  let left = limit
  let page: CsvPage | undefined = await read(undefined, left)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start: (out) => out.enqueue(encoder.encode(csvLine(columns))),
    async pull(out) {
      const { rows, next } = page as CsvPage
      left -= rows.length
      const isCut = next !== null && (left <= 0 || now() > endMs)
      const text = rows.map((row) => csvRow(row, columns)).join('') + (isCut ? cutLine(limit - left, goOn, next) : '')
      // Nothing at all would not be asked for again.
      out.enqueue(encoder.encode(text))
      if (next === null || isCut) return out.close()
      page = await read(next, left)
    },
  })
  return new Response(body, {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${FILES[kind]}.csv"`,
    },
  })
}

const cutLine = (rows: number, goOn: string, next: string): string =>
  csvLine([
    `Cut after ${rows} rows: there may be more. Go on with ${goOn}=${next}, or ask for more with limit (at most ${CSV_ROWS.most}).`,
  ])
