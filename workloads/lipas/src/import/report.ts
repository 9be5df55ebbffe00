// What an import says of itself: a line for each queue, and each row that was left with its reason.

export interface RefusedRow {
  readonly key: string
  readonly reason: string
}

export interface QueueReport {
  readonly table: string
  readonly isMissing: boolean
  /** Rows that wait. */
  readonly found: number
  readonly imported: number
  /** Imported before, or their place has such a job already. */
  readonly alreadyThere: number
  /** They stay where they are. */
  readonly refused: readonly RefusedRow[]
  /** Rows of a queue that has no successor. */
  readonly retired: number
  /** Rows that the older workers had begun: left, unless the import is told to take them. */
  readonly inProgress: number
}

export interface ImportReport {
  /** Of all its jobs. */
  readonly correlationId: string
  readonly isDryRun: boolean
  readonly queues: readonly QueueReport[]
}

const TITLES = ['QUEUE', 'FOUND', 'IMPORTED', 'ALREADY THERE', 'REFUSED', 'RETIRED']
/** More of them go into --json only. */
const MOST_SHOWN = 50

export const refusedIn = ({ queues }: ImportReport): number =>
  queues.reduce((sum, { refused }) => sum + refused.length, 0)

export function reportText(report: ImportReport): string {
  const { queues, isDryRun, correlationId } = report
  const imported = queues.reduce((sum, queue) => sum + queue.imported, 0)
  const notes = queues.flatMap(({ table, isMissing, inProgress }) => [
    ...(isMissing ? [`${table}: there is no such table here.`] : []),
    ...(inProgress > 0 ? [`${table}: ${inProgress} rows are in progress. --include-in-progress takes them, too.`] : []),
  ])
  const end = isDryRun
    ? 'Dry run: nothing was written. IMPORTED is what would be.'
    : imported > 0
      ? `The new jobs: npx millrace jobs --correlation ${correlationId}`
      : 'There was nothing to import.'
  return [columns([TITLES, ...queues.map(cellsOf)]), ...notes, ...refusedLines(report), end].join('\n')
}

const cellsOf = ({ table, isMissing, found, imported, alreadyThere, refused, retired }: QueueReport): string[] => {
  const counts = isMissing || retired > 0 ? ['–', '–', '–', '–'] : [found, imported, alreadyThere, refused.length]
  return [table, ...counts.map(String), retired > 0 ? String(retired) : '–']
}

function refusedLines(report: ImportReport): string[] {
  const lines = report.queues.flatMap(({ table, refused }) =>
    refused.map(({ key, reason }) => `  ${table} ${key === '' ? 'without a key' : key}: ${printable(reason)}`),
  )
  if (lines.length === 0) return []
  const more = lines.length > MOST_SHOWN ? [`  and ${lines.length - MOST_SHOWN} more: --json lists them all.`] : []
  return ['Refused, and left where they are:', ...lines.slice(0, MOST_SHOWN), ...more]
}

/** What stands in an older table may be anything: it must not steer a terminal. */
const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '?')

/** The first column to the left, the others to the right. */
function columns(lines: readonly (readonly string[])[]): string {
  const widths = TITLES.map((_, i) => Math.max(...lines.map((cells) => (cells[i] ?? '').length)))
  const padded = (cell: string, i: number) => (i === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[i] ?? 0))
  return lines.map((cells) => cells.map(padded).join('  ').trimEnd()).join('\n')
}
