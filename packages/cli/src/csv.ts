// --csv: all rows of a list, for spreadsheets. Page after page, as fast as they are read.
import { once } from 'node:events'
import { CSV_ROWS, csvColumns, csvLine, csvRow } from '@millrace/admin/contract'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { moreHint } from './print.ts'
import { isGiven } from './remote/target.ts'

const PAGE = 1_000
const USUAL_LIMIT = 50

/** With --limit, which counts rows of the export, too. */
export function addCsvOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--limit <count>', 'how many, at most 1000; with --csv at most 100000, and 10000 unless given')
        .argParser(parseRows)
        .default(USUAL_LIMIT),
    )
    .addOption(
      new Option('--csv', 'print CSV, for spreadsheets; a text that one would run begins with an apostrophe').conflicts(
        ['json', 'watch'],
      ),
    )
}

export interface CsvOptions {
  readonly csv?: true
  readonly limit: number
}

function parseRows(text: string): number {
  const rows = Number(text)
  if (Number.isInteger(rows) && rows >= 1 && rows <= CSV_ROWS.most) return rows
  throw new InvalidArgumentError(`Expected a number from 1 to ${CSV_ROWS.most}.`)
}

/** Of a list: more than a page is for files. */
export function demandPage(command: Command, { csv, limit }: CsvOptions): void {
  if (!csv && limit > PAGE)
    command.error(`error: --limit is ${limit}: ${PAGE} rows are the most that a list shows. --csv prints more.`)
}

export interface Exported {
  readonly kind: keyof typeof csvColumns
  /** The option that takes `next`. */
  readonly goOn: '--after' | '--before'
  /** The page after `next`. */
  page(next: string | undefined, limit: number): Promise<{ rows: readonly object[]; next: string | null }>
}

export async function printCsv(command: Command, options: CsvOptions, { kind, goOn, page }: Exported): Promise<void> {
  const columns = csvColumns[kind]
  let left = isGiven(command, 'limit') ? options.limit : CSV_ROWS.usual
  let next: string | undefined
  let isRead = await written(csvLine(columns))
  while (isRead) {
    const found = await page(next, Math.min(PAGE, left))
    isRead = await written(found.rows.map((row) => csvRow(row, columns)).join(''))
    left -= found.rows.length
    if (found.next === null) return
    next = found.next
    if (left > 0) continue
    process.stderr.write(moreHint(command, next, goOn).trimStart())
    return
  }
}

/** False: nobody reads any further. */
async function written(text: string): Promise<boolean> {
  const { stdout } = process
  if (text !== '' && !stdout.write(text))
    await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => {})
  return !stdout.destroyed && !stdout.writableEnded
}
